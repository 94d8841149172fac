package app

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/handover"
	"contextinfinity/backend/relay"
	"contextinfinity/backend/secrets"
)

// The methods and events between the two ends of a window's link (docs/adr/0015).
const (
	methodHello = "hello"  // from the window, first: whose data it shows
	methodDrag  = "drag"   // from the window: the file of a drag
	bound       = "bound:" // followed by a service's method: the page's calls

	eventQuit      = "quit"      // to the window: the program ends
	eventShow      = "show"      // to the small window: come to the front
	eventElsewhere = "elsewhere" // to an unneeded window: another one exists

	methodPickFiles  = "shell.pick_files" // to the window: calls that need its process
	methodPickTarget = "shell.pick_target"
	methodPickFolder = "shell.pick_folder"
	methodPicture    = "shell.picture"
	methodCopied     = "shell.copied"
)

const (
	// bufferedInput is the buffer size for a window's calls, in bytes.
	bufferedInput = 32 << 10
	// quittingTime is how long a window may take to close when the program ends.
	quittingTime = 3 * time.Second
	// helloTime is how long a window waits for the program that has the data open.
	helloTime = 15 * time.Second
)

// windows are the further windows on this data: each is a process that shows the page and sends its calls here.
type windows struct {
	core  *api.Core
	bind  func(*api.Core) []any
	last  func()        // called when the last one has closed
	ready chan struct{} // closed when the first window has been created with all its dependencies

	mu    sync.Mutex
	open  int
	quick *relay.Link // the small window, if it exists
}

func newWindows(core *api.Core) *windows {
	return &windows{core: core, last: desktop.LastClosed, ready: make(chan struct{})}
}

// offer allows opening further windows: from the first one's page and tray, and by other starts of the program.
func (w *windows) offer(o cli.OpenOptions, s setup, first *desktop.Window) {
	w.bind = func(c *api.Core) []any { return services(c, s) }
	w.core.Shell.NewWindow = func(session string) error {
		if session == "" {
			return startWindow(o, "", "--new-window")
		}
		return startWindow(o, "", "--new-window", "--session", session)
	}
	w.core.Shell.ToFirst = func(session string) {
		raise()
		w.core.Hub.RequestWindow(windowRequest(desktop.WindowRequest{Kind: desktop.RequestOpenSession, Session: session, X: -1, Y: -1}))
	}
	beside, quick := startQuietly(o, s, "--new-window"), startQuietly(o, s, "--quick")
	first.Held, first.NewWindow, first.AskQuickly = w.any, func() { beside("") }, func() { quick("") }
	close(w.ready)
}

// startQuietly starts a further window for callers that cannot show an error: the tray, and a global shortcut.
func startQuietly(o cli.OpenOptions, s setup, flag string) func(token string) {
	return func(token string) {
		if err := startWindow(o, token, flag); err != nil {
			s.log.Warn("a window could not be opened", "flag", flag, "err", err)
		}
	}
}

func (w *windows) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open > 0
}

func (w *windows) count(by int) (left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += by
	return w.open
}

// serve handles a window's calls until it closes or the program ends.
func (w *windows) serve(c handover.Call, s handover.Streams) int {
	select {
	case <-w.ready:
	case <-s.Signals:
		return 1
	}
	core := *w.core
	core.Further, core.Session, core.Quick = true, c.Session, c.Quick
	var services api.Services
	link := relay.New(bufio.NewReaderSize(s.In, bufferedInput), s.Out, relay.Handler{
		Call:  func(method string, args json.RawMessage) (any, error) { return w.call(&core, services, method, args) },
		Words: core.FormatError,
		Event: func(string, json.RawMessage) {},
	})
	core.Shell = furtherShell(link, core.Shell)
	if c.Quick && !w.takeQuick(link) {
		link.Notify(eventElsewhere, nil)
		return w.runLink(link, s)
	}
	services = api.NewServices(w.bind(&core), core.Log)
	leave := w.core.Hub.Join(link.Notify)
	w.count(1)
	defer func() {
		leave()
		w.dropQuick(link)
		if w.count(-1) == 0 {
			w.last()
		}
	}()
	return w.runLink(link, s)
}

// takeQuick registers a link as the small window. If there is one already, that is shown.
func (w *windows) takeQuick(link *relay.Link) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.quick != nil {
		w.quick.Notify(eventShow, nil)
		return false
	}
	w.quick = link
	return true
}

func (w *windows) dropQuick(link *relay.Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.quick == link {
		w.quick = nil
	}
}

// runLink runs until the window closes or the program ends.
func (w *windows) runLink(link *relay.Link, s handover.Streams) int {
	go func() {
		select {
		case sig := <-s.Signals:
			if sig != syscall.SIGHUP {
				link.Notify(eventQuit, nil)
				select {
				case <-link.Ended():
				case <-time.After(quittingTime):
				}
			}
			link.End()
		case <-link.Ended():
		}
	}()
	_ = link.Run() // the end of the link is handled by the window
	return 0
}

func (w *windows) call(core *api.Core, services api.Services, method string, args json.RawMessage) (any, error) {
	switch name, isBound := cutPrefix(method); {
	case isBound:
		return services.Call(name, args)
	case method == methodHello:
		return core.DataDir, nil
	case method == methodDrag:
		var request api.ExportRequest
		if err := json.Unmarshal(args, &request); err != nil {
			return nil, chat.WrapError(chat.CodeInvalid, "window.drag", err, "The request cannot be read.")
		}
		return core.DragFile(request)
	}
	return nil, chat.Errorf(chat.CodeInvalid, "window.call", "There is no method %q.", method)
}

func cutPrefix(method string) (string, bool) {
	name, is := strings.CutPrefix(method, bound)
	return name, is && name != ""
}

// furtherShell runs the dialogs of a window in its own process, so that they are above it.
func furtherShell(link *relay.Link, own api.Shell) api.Shell {
	shell := own
	shell.PickFiles = func() ([]string, error) { return replyOf[[]string](link, methodPickFiles, "") }
	shell.PickTarget = func(suggested string) (string, error) { return replyOf[string](link, methodPickTarget, suggested) }
	shell.PickFolder = func() (string, error) { return replyOf[string](link, methodPickFolder, "") }
	shell.Picture = func() ([]byte, error) { return replyOf[[]byte](link, methodPicture, "") }
	shell.Copied = func() ([]string, error) { return replyOf[[]string](link, methodCopied, "") }
	return shell
}

// replyOf calls the other end; a dialog takes as long as the user takes.
func replyOf[T any](link *relay.Link, method, argument string) (T, error) {
	var answer T
	err := link.Call(context.Background(), method, argument, &answer)
	return answer, linkError(err)
}

// linkError converts the errors of a link to messages.
func linkError(err error) error {
	if err == nil {
		return nil
	}
	if refused, ok := err.(*relay.Refused); ok { //nolint:errorlint // Call does not wrap it
		var words string
		if json.Unmarshal(refused.Words, &words) == nil {
			return api.ErrorOf(words)
		}
	}
	return chat.WrapError(chat.CodeUnavailable, "window.call", err, "The connection between this window and the program that has the data was lost.").
		WithHint("everything acknowledged is stored; the window reopens automatically")
}

// startWindow starts a process with a further window on the same data, with these flags. A token of the desktop lets
// the window take the focus.
func startWindow(o cli.OpenOptions, token string, args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return chat.WrapError(chat.CodeUnavailable, "window.start", err, "The path of this program cannot be determined.").WithHint("start it with --new-window")
	}
	cmd := exec.Command(program, append(args, dataFlags(o)...)...)
	cmd.Env = secrets.Environ()
	if token != "" {
		cmd.Env = append(cmd.Env, "DESKTOP_STARTUP_ID="+token)
	}
	if err := cmd.Start(); err != nil {
		return chat.WrapError(chat.CodeUnavailable, "window.start", err, "The window could not be started: "+err.Error()+".")
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

// dataFlags are the flags with which another start of the program finds the same data.
func dataFlags(o cli.OpenOptions) []string {
	var flags []string
	for _, given := range [][2]string{{"--config", o.ConfigPath}, {"--data-dir", o.DataDir}} {
		if path, err := filepath.Abs(given[1]); err == nil && given[1] != "" {
			flags = append(flags, given[0], path)
		}
	}
	return flags
}

// furtherWindow is a window whose data another process has open.
type furtherWindow struct {
	link *relay.Link
	hub  *api.Hub // for requests to this window only
	core *api.Core

	mu       sync.Mutex
	emit     func(name string, data any)
	closing  bool
	unneeded bool // another window of its kind exists, and was shown
}

// joinWindow opens a window on data that another process has open.
//
// Errors: the refusal of that process; the lock's error if it accepts no requests.
func joinWindow(o cli.OpenOptions, page Page, dir string, locked error) (desktop.Window, error) {
	input, toHolder := io.Pipe()
	fromHolder, output := io.Pipe()
	f := &furtherWindow{hub: api.NewHub(), closing: true} // until the other end has answered, its end is expected
	f.link = relay.New(fromHolder, toHolder, relay.Handler{Call: f.shell, Words: func(err error) any { return f.core.FormatError(err) }, Event: f.event})
	f.core = &api.Core{Hub: f.hub, Log: slog.New(slog.DiscardHandler)}
	over := make(chan error, 1)
	go func() {
		_, served, err := ask(context.Background(), dir, handover.NewWindow(o.Session, o.Quick), handover.Asker{In: input, Out: output, Err: io.Discard})
		if err == nil && !served {
			err = locked
		}
		f.link.End()
		_, _ = input.Close(), output.Close()
		over <- err
	}()
	go func() {
		_ = f.link.Run()
		_ = toHolder.Close() // which ends the call there
		f.ended()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), helloTime)
	defer cancel()
	var data string
	if err := f.link.Call(ctx, methodHello, nil, &data); err != nil {
		f.close()
		select {
		case refused := <-over:
			if refused != nil {
				return desktop.Window{}, refused
			}
		case <-time.After(helloTime):
		}
		return desktop.Window{}, linkError(err)
	}
	f.core.DataDir = data
	f.mu.Lock()
	f.closing = false
	f.mu.Unlock()
	if f.isUnneeded() {
		f.close()
		return desktop.Window{Elsewhere: true}, nil
	}
	w := f.window(page)
	w.Quick = o.Quick
	return w, nil
}

func (f *furtherWindow) window(page Page) desktop.Window {
	drag := func(request api.ExportRequest) (file api.DraggedFile, err error) {
		err = linkError(f.link.Call(context.Background(), methodDrag, request, &file))
		return file, err
	}
	return desktop.Window{
		Assets: page.Assets, Handler: api.DragHandler(drag), Icon: page.Icon, FormatError: f.core.FormatError, Further: true,
		Bind:  []any{api.NewRelay(f.call)},
		Ready: f.attach, Close: f.close,
		Request: func(asked desktop.WindowRequest) { f.hub.RequestWindow(windowRequest(asked)) },
	}
}

// call forwards the page's calls to the other end, except those for this window only.
func (f *furtherWindow) call(name string, args json.RawMessage) (result json.RawMessage, err error) {
	if name == "Work.WindowRequests" {
		return json.Marshal(f.hub.WindowRequests())
	}
	err = linkError(f.link.Call(context.Background(), bound+name, args, &result))
	return result, err
}

// shell implements what needs this process: dialogs, and the clipboard.
func (f *furtherWindow) shell(method string, args json.RawMessage) (any, error) {
	var argument string
	if err := json.Unmarshal(args, &argument); err != nil {
		return nil, err
	}
	switch method {
	case methodPickFiles:
		return pickFiles()
	case methodPickTarget:
		return pickTarget(argument)
	case methodPickFolder:
		return pickFolder()
	case methodPicture:
		return desktop.ClipboardPicture()
	case methodCopied:
		return desktop.ClipboardFiles()
	}
	return nil, chat.Errorf(chat.CodeInvalid, "window.shell", "There is no method %q.", method)
}

func (f *furtherWindow) attach(emit func(name string, data any)) {
	f.hub.Attach(emit)
	f.mu.Lock()
	f.emit = emit
	f.mu.Unlock()
	select {
	case <-f.link.Ended(): // before there was a window to close
		go f.ended()
	default:
	}
}

// event handles the program's events: those for the page, and its end.
func (f *furtherWindow) event(name string, data json.RawMessage) {
	switch name {
	case eventQuit:
		f.leave()
		go desktop.Quit()
		return
	case eventShow:
		go desktop.Raise()
		return
	case eventElsewhere:
		f.mu.Lock()
		f.unneeded = true
		f.mu.Unlock()
		return
	}
	f.mu.Lock()
	emit := f.emit
	f.mu.Unlock()
	if emit != nil {
		emit(name, data)
	}
}

func (f *furtherWindow) isUnneeded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unneeded
}

// leave marks the end of the link as intended.
func (f *furtherWindow) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
}

// ended opens the window again if the program that had the data open ended on its own: then this process, or that of
// another window, opens the data.
func (f *furtherWindow) ended() {
	f.mu.Lock()
	meant := f.closing
	f.mu.Unlock()
	if !meant {
		wanted.Store(true)
		desktop.Quit()
	}
}

func (f *furtherWindow) close() {
	f.leave()
	f.hub.Attach(nil)
	f.link.End()
}
