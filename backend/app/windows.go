package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/ipc"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/services"
)

// Methods and events of a window's link to the program that has the data open (docs/adr/0015).
const (
	methodHello = "hello"  // from the window, first: whose data it shows
	methodDrag  = "drag"   // from the window: creates the file for a drag
	boundPrefix = "bound:" // from the window: a call from the page; a service's method follows

	eventQuit      = "quit"      // to the window: the program ends
	eventShow      = "show"      // to the small window: come to the front
	eventElsewhere = "elsewhere" // to a second small window: the first one is shown instead

	methodPickFiles  = "shell.pick_files" // to the window: calls that need its process
	methodPickTarget = "shell.pick_target"
	methodPickFolder = "shell.pick_folder"
	methodPicture    = "shell.picture"
	methodCopied     = "shell.copied"
)

const (
	// quitTimeout is how long a window may take to close when the program ends.
	quitTimeout = 3 * time.Second
	// helloTimeout is how long a window waits for the program that has the data open.
	helloTimeout = 15 * time.Second
)

// windows are the additional windows on this data: each is a process that shows the page and sends its calls here.
type windows struct {
	core         *api.Core
	onLastClosed func()        // called when the last additional window has closed
	ready        chan struct{} // closed when the first window has been created with all its dependencies

	mu    sync.Mutex
	open  int
	quick *ipc.Link // to the small window, if it is open
}

func newWindows(core *api.Core) *windows {
	return &windows{core: core, onLastClosed: desktop.LastClosed, ready: make(chan struct{})}
}

// offer makes it possible to open additional windows: from the first window's page and tray, and by other starts of the
// program.
func (w *windows) offer(o cli.OpenOptions, first *desktop.Window) {
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
	w.core.Shell.Quit = func() { go quit() } // the window that asked for it gets its reply
	newWindow, quick := startQuietly(o, w.core.Log, "--new-window"), startQuietly(o, w.core.Log, "--quick")
	first.NeededByOthers, first.NewWindow, first.AskQuickly = w.anyOpen, func() { newWindow("") }, func() { quick("") }
	close(w.ready)
}

// startQuietly starts an additional window for callers that cannot show an error: the tray, and a global shortcut.
func startQuietly(o cli.OpenOptions, log *slog.Logger, flag string) func(token string) {
	return func(token string) {
		if err := startWindow(o, token, flag); err != nil {
			log.Warn("a window could not be opened", "flag", flag, "err", err)
		}
	}
}

// anyOpen reports whether an additional window is open.
func (w *windows) anyOpen() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open > 0
}

// addOpen changes the number of open windows and returns it.
func (w *windows) addOpen(delta int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open += delta
	return w.open
}

// serve handles a window's calls until it closes or the program ends.
func (w *windows) serve(c ipc.Request, conn net.Conn, signals <-chan os.Signal) {
	select {
	case <-w.ready:
	case <-signals:
		return
	}
	core := *w.core
	core.Additional, core.Session, core.Quick = true, c.Session, c.Quick
	var services api.Services
	link := ipc.NewLink(conn, ipc.Handler{
		Call:        func(method string, args json.RawMessage) (any, error) { return w.call(&core, services, method, args) },
		EncodeError: core.FormatError,
		Event:       func(string, json.RawMessage) {},
	})
	core.Shell = additionalShell(link, core.Shell)
	if c.Quick && !w.registerQuick(link) {
		link.Notify(eventElsewhere, nil)
		runLink(link, signals)
		return
	}
	services = api.NewServices(api.Bound(&core), core.Log)
	unsubscribe := w.core.Hub.Join(link.Notify)
	w.addOpen(1)
	defer func() {
		unsubscribe()
		w.unregisterQuick(link)
		if w.addOpen(-1) == 0 {
			w.onLastClosed()
		}
	}()
	runLink(link, signals)
}

// registerQuick registers a link as that of the small window. If a small window is already open, it is shown instead.
func (w *windows) registerQuick(link *ipc.Link) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.quick != nil {
		w.quick.Notify(eventShow, nil)
		return false
	}
	w.quick = link
	return true
}

func (w *windows) unregisterQuick(link *ipc.Link) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.quick == link {
		w.quick = nil
	}
}

// runLink runs until the window closes or the program ends.
func runLink(link *ipc.Link, signals <-chan os.Signal) {
	go func() {
		select {
		case <-signals:
			link.Notify(eventQuit, nil)
			select {
			case <-link.Ended():
			case <-time.After(quitTimeout):
			}
			link.End()
		case <-link.Ended():
		}
	}()
	_ = link.Run() // the window handles the end of the link
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
	name, ok := strings.CutPrefix(method, boundPrefix)
	return name, ok && name != ""
}

// additionalShell returns a shell that runs dialogs in the process of the window, so that they appear above it.
func additionalShell(link *ipc.Link, own api.Shell) api.Shell {
	shell := own
	shell.PickFiles = func() ([]string, error) { return callShell[[]string](link, methodPickFiles, "") }
	shell.PickTarget = func(suggested string) (string, error) { return callShell[string](link, methodPickTarget, suggested) }
	shell.PickFolder = func() (string, error) { return callShell[string](link, methodPickFolder, "") }
	shell.Picture = func() ([]byte, error) { return callShell[[]byte](link, methodPicture, "") }
	shell.Copied = func() ([]string, error) { return callShell[[]string](link, methodCopied, "") }
	return shell
}

// callShell calls the window's process. It has no time limit, because a dialog waits for the user.
func callShell[T any](link *ipc.Link, method, argument string) (T, error) {
	var answer T
	err := link.Call(context.Background(), method, argument, &answer)
	return answer, linkError(err)
}

// linkError converts the errors of a link to messages.
func linkError(err error) error {
	if err == nil {
		return nil
	}
	if remote, ok := err.(*ipc.RemoteError); ok { //nolint:errorlint // Call does not wrap it
		var text string
		if json.Unmarshal(remote.Data, &text) == nil {
			return api.ErrorOf(text)
		}
	}
	return chat.WrapError(chat.CodeUnavailable, "window.call", err, "The connection between this window and the program that has the data open was lost.").
		WithHint("everything acknowledged is stored; the window reopens automatically")
}

// startWindow starts a process with an additional window on the same data, with additional flags. The desktop's token
// lets the window take the focus.
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
		return chat.WrapError(chat.CodeUnavailable, "window.start", err, "The window could not be started: %s.", err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

// dataFlags returns the flags with which another start of the program finds the same data.
func dataFlags(o cli.OpenOptions) []string {
	var flags []string
	for _, flag := range [][2]string{{"--config", o.ConfigPath}, {"--data-dir", o.DataDir}} {
		if path, err := filepath.Abs(flag[1]); err == nil && flag[1] != "" {
			flags = append(flags, flag[0], path)
		}
	}
	return flags
}

// additionalWindow is an additional window, in its own process.
type additionalWindow struct {
	link *ipc.Link
	hub  *api.Hub // only for requests to this window
	core *api.Core

	mu       sync.Mutex
	emit     func(name string, data any)
	closing  bool
	unneeded bool // the small window was already open, and is shown instead
}

// joinWindow opens a window on data that another process has open.
//
// Errors: the refusal of that process; the lock's error if it accepts no requests.
func joinWindow(o cli.OpenOptions, icon []byte, dir string, locked error) (desktop.Window, error) {
	f := &additionalWindow{hub: api.NewHub(), closing: true} // until the other end has answered, the link may end
	f.core = &api.Core{Hub: f.hub, Set: &services.Set{Setup: services.Setup{Log: slog.New(slog.DiscardHandler)}}}
	served, err := askServer(context.Background(), dir, func(address string) (err error) {
		f.link, err = ipc.Join(context.Background(), address, version, ipc.NewWindow(o.Session, o.Quick), ipc.Handler{
			Call: f.shell, EncodeError: func(err error) any { return f.core.FormatError(err) }, Event: f.event,
		})
		return err
	})
	if err == nil && !served {
		err = locked
	}
	if err != nil {
		return desktop.Window{}, err
	}
	go func() {
		_ = f.link.Run()
		f.ended()
	}()
	ctx, cancel := context.WithTimeout(context.Background(), helloTimeout)
	defer cancel()
	var data string
	if err := f.link.Call(ctx, methodHello, nil, &data); err != nil {
		f.close()
		return desktop.Window{}, linkError(err)
	}
	f.core.DataDir = data
	f.mu.Lock()
	f.closing = false
	f.mu.Unlock()
	if f.isUnneeded() {
		f.close()
		return desktop.Window{ShownElsewhere: true}, nil
	}
	w := f.window(icon)
	w.Quick = o.Quick
	return w, nil
}

func (f *additionalWindow) window(icon []byte) desktop.Window {
	drag := func(request api.ExportRequest) (file api.DraggedFile, err error) {
		err = linkError(f.link.Call(context.Background(), methodDrag, request, &file))
		return file, err
	}
	return desktop.Window{
		Handler:     api.DragHandler(drag),
		Icon:        icon,
		FormatError: f.core.FormatError,
		Additional:  true,
		Bind:        []any{api.NewRelay(f.call)},
		Ready:       f.attach,
		Close:       f.close,
		Request:     func(request desktop.WindowRequest) { f.hub.RequestWindow(windowRequest(request)) },
	}
}

// call forwards the page's calls to the other end, except those that concern only this window.
func (f *additionalWindow) call(name string, args json.RawMessage) (result json.RawMessage, err error) {
	if name == "Work.WindowRequests" {
		return json.Marshal(f.hub.WindowRequests())
	}
	err = linkError(f.link.Call(context.Background(), boundPrefix+name, args, &result))
	return result, err
}

// shell handles the calls that need this process: dialogs, and the clipboard.
func (f *additionalWindow) shell(method string, args json.RawMessage) (any, error) {
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

func (f *additionalWindow) attach(emit func(name string, data any)) {
	f.hub.Attach(emit)
	f.mu.Lock()
	f.emit = emit
	f.mu.Unlock()
	select {
	case <-f.link.Ended(): // the link ended before there was a window to close
		go f.ended()
	default:
	}
}

// event handles the events of the other end: those for this window, and those for its page.
func (f *additionalWindow) event(name string, data json.RawMessage) {
	switch name {
	case eventQuit:
		f.expectEnd()
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

func (f *additionalWindow) isUnneeded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unneeded
}

// expectEnd marks the end of the link as intended.
func (f *additionalWindow) expectEnd() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closing = true
}

// ended restarts this process if the program that had the data open ended unexpectedly. After that this process, or
// that of another window, opens the data.
func (f *additionalWindow) ended() {
	f.mu.Lock()
	expected := f.closing
	f.mu.Unlock()
	if !expected {
		restartWith(handover{})
	}
}

func (f *additionalWindow) close() {
	f.expectEnd()
	f.hub.Attach(nil)
	f.link.End()
}
