package app

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/desktop"
)

// additionalPage is an additional window as its page uses it.
type additionalPage struct {
	t      *testing.T
	window desktop.Window
	relay  *api.Relay

	mu     sync.Mutex
	events map[string]int
}

func openAdditionalPage(t *testing.T, o cli.OpenOptions) *additionalPage {
	t.Helper()
	o.NewWindow = true
	w := window(o, handover{}, nil)
	b := &additionalPage{t: t, window: w, relay: serviceIn[*api.Relay](w), events: map[string]int{}}
	t.Cleanup(func() { restartRequested.Store(nil) })
	t.Cleanup(w.Close)
	if b.relay == nil || !w.Additional || w.Work != nil {
		t.Fatalf("it is not an additional window: %+v", w)
	}
	w.Ready(func(name string, data any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events[name]++
	})
	return b
}

// call calls a method as the page does.
func (b *additionalPage) call(result any, name string, args ...any) error {
	b.t.Helper()
	service, method, _ := strings.Cut(name, ".")
	raw, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		b.t.Fatal(err)
	}
	reply, err := b.relay.Call(service, method, string(raw))
	if err == nil && result != nil {
		err = json.Unmarshal([]byte(reply), result)
	}
	return err
}

func (b *additionalPage) eventCount(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.events[name]
}

// An additional window shows another session, forwards its calls to the process that has the data, and receives all
// events. Reopening the first window shows its own session again.
func TestAnAdditionalWindowShowsAnotherSession(t *testing.T) {
	dir := socketDir(t)
	p := openPage(t, dir)
	one := must[api.SessionRow](t)(p.sessions.Create("One"))
	two := must[api.SessionRow](t)(p.sessions.Create("Two"))
	first := must[api.SessionSnapshot](t)(p.sessions.Open(two.ID, ""))
	o := cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")}
	b := openAdditionalPage(t, o)
	var start api.Startup
	if err := b.call(&start, "Settings.Startup"); err != nil || start.LastSession != one.ID || start.Fatal != nil {
		t.Errorf("it opens on %+v (%v)", start, err)
	}
	var open api.SessionSnapshot
	if err := b.call(&open, "Sessions.Open", one.ID, ""); err != nil || open.Session.Title != "One" {
		t.Fatalf("%+v (%v)", open.Session, err)
	}
	if err := b.call(nil, "Sessions.Rename", one.ID, "Uno"); err != nil {
		t.Fatal(err)
	}
	p.eventually("it was not reported to the first window", func() bool {
		_, changes := p.seen()
		return len(changes) > 0 && changes[len(changes)-1].ID == one.ID
	})
	r := p.say(api.SendRequest{SessionID: two.ID, BranchID: first.Header.BranchID, Text: "Said in the first window."})
	p.eventually("the first window's answer was not reported to the additional one", func() bool { return b.eventCount(api.EventFrame) > 0 && b.eventCount(api.EventChange) > 2 })
	var turn api.TurnView
	if err := b.call(&turn, "Sessions.Turn", r.BranchID, r.TurnID); err != nil || turn.ID != r.TurnID {
		t.Errorf("%v", err)
	}
	var pasted []api.DroppedFile // read by the additional window's process, where the test has no clipboard
	if err := b.call(&pasted, "Transfer.PastedFiles"); err != nil || len(pasted) != 0 {
		t.Errorf("pasted %+v (%v)", pasted, err)
	}
	if again := p.settings.Startup(); again.LastSession != two.ID {
		t.Errorf("the first window would open on %s", again.LastSession)
	}
	chosen := openAdditionalPage(t, cli.OpenOptions{DataDir: dir, ConfigPath: o.ConfigPath, Session: two.ID})
	if err := chosen.call(&start, "Settings.Startup"); err != nil || start.LastSession != two.ID {
		t.Errorf("it opens on %s, not on the requested %s", start.LastSession, two.ID)
	}
	if !p.window.NeededByOthers() {
		t.Error("the additional windows do not keep the first one open")
	}
	chosen.window.Close()
	b.window.Close()
	p.eventually("closed windows still keep the first one open", func() bool { return !p.window.NeededByOthers() })
}

// Errors arrive as they are formatted for the page, including those for methods that no window may call. A large
// picture is transferred.
func TestAnAdditionalWindowsErrorsAndLimits(t *testing.T) {
	dir := socketDir(t)
	p := openPage(t, dir)
	b := openAdditionalPage(t, cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")})
	err := b.call(nil, "Sessions.Open", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "")
	if chat.CodeOf(err) != chat.CodeNotFound || !strings.Contains(b.window.FormatError(err).(string), `"code":"not_found"`) {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"Nothing.Open", "Sessions.Nothing", "Sessions.Open", "Sessions.changed"} {
		if err := b.call(nil, name); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := b.call(nil, "Sessions.Open", 1, 2); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("numbers for texts: %v", err)
	}
	var requests []api.WindowRequest
	b.window.Request(desktop.WindowRequest{Kind: desktop.RequestNewChat, X: -1, Y: -1})
	if err := b.call(&requests, "Work.WindowRequests"); err != nil || len(requests) != 1 {
		t.Errorf("the requests to this window: %+v (%v)", requests, err)
	}
	if list := must[[]api.WindowRequest](t)(p.work.WindowRequests()); len(list) != 0 {
		t.Errorf("the first window got the requests %+v", list)
	}
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MB, far more than a frame of the socket
	var tokens int
	if err := b.call(&tokens, "Chat.CountTokens", string(text)); err != nil || tokens == 0 {
		t.Errorf("%d tokens of a large text (%v)", tokens, err)
	}
	var path string
	if err := b.call(&path, "Transfer.PickTarget", "x.html"); chat.CodeOf(err) != chat.CodeUnavailable || !strings.Contains(err.Error(), "no window to show a dialog in") {
		t.Errorf("the dialog was not requested from the window's own process: %q (%v)", path, err)
	}
}

// Closing the program closes its additional windows. If the program crashes, an additional window reopens
// automatically.
func TestAnAdditionalWindowEndsWithTheProgramOrReopens(t *testing.T) {
	dir := socketDir(t)
	p := openPage(t, dir)
	b := openAdditionalPage(t, cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")})
	p.window.Close()
	if restartRequested.Load() != nil {
		t.Error("a window restarts although the program was closed")
	}
	err := b.call(nil, "Settings.Startup")
	if chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("%v", err)
	}
	f := &additionalWindow{}
	f.ended()
	if restartRequested.Load() == nil {
		t.Error("a window whose program crashed does not reopen")
	}
	restartRequested.Store(nil)
}

// If no program has the data open, an additional window becomes the first.
func TestAnAdditionalWindowMayBeTheFirst(t *testing.T) {
	dir := socketDir(t)
	p := openPageWith(t, cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml"), NewWindow: true})
	if p.window.Additional || p.sessions == nil {
		t.Errorf("%+v", p.window)
	}
}

// There is at most one quick window: a second start shows it instead of opening another. Its conversation can be
// continued in the first window.
func TestThereIsAtMostOneQuickWindow(t *testing.T) {
	raised := watchRaise(t)
	dir := socketDir(t)
	p := openPage(t, dir)
	row := must[api.SessionRow](t)(p.sessions.Create("Asked quickly"))
	o := cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml"), Quick: true}
	b := openAdditionalPage(t, o)
	var start api.Startup
	if err := b.call(&start, "Settings.Startup"); err != nil || !start.Quick || !b.window.Quick {
		t.Errorf("it is not a small window: %+v (%v)", start, err)
	}
	if again := window(o, handover{}, nil); !again.ShownElsewhere {
		t.Error("a second small window")
	}
	must[[]api.WindowRequest](t)(p.work.WindowRequests())
	if err := b.call(nil, "Work.ShowInFirst", row.ID); err != nil || len(raised) != 1 {
		t.Errorf("the first window was brought to the front %d times (%v)", len(raised), err)
	}
	b.window.Close()
	p.eventually("the small window is still open", func() bool { return !p.window.NeededByOthers() })
	next := openAdditionalPage(t, o)
	if !next.window.Quick {
		t.Error("after the small window was closed, no new one opened")
	}
}

// Ctrl+Q in an additional window ends the whole program.
func TestAnAdditionalWindowCanQuitTheProgram(t *testing.T) {
	quits, before := make(chan struct{}, 1), quit
	quit = func() { quits <- struct{}{} }
	t.Cleanup(func() { quit = before })
	dir := socketDir(t)
	openPage(t, dir)
	b := openAdditionalPage(t, cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")})
	if err := b.call(nil, "Work.Quit"); err != nil {
		t.Fatal(err)
	}
	<-quits
}
