package desktop

import (
	"context"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// windowRecorder records the calls to the window.
type windowRecorder struct {
	mu   sync.Mutex
	list []string
}

func (a *windowRecorder) add(call string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, call)
}

func (a *windowRecorder) show() { a.add("show") }
func (a *windowRecorder) hide() { a.add("hide") }
func (a *windowRecorder) quit() { a.add("quit") }

func (a *windowRecorder) extent(Extent) Extent { return Extent{1000, 700, false} }

func (a *windowRecorder) expect(t *testing.T, want ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.list)+len(want) > 0 && !reflect.DeepEqual(a.list, want) {
		t.Errorf("the window was asked to %v, want %v", a.list, want)
	}
	a.list = nil
}

// fakeTray is a tray with or without a host.
type fakeTray struct {
	host  bool
	shown []status
	ended int
}

func (f *fakeTray) hosted() bool  { return f.host }
func (f *fakeTray) show(s status) { f.shown = append(f.shown, s) }
func (f *fakeTray) end()          { f.ended++ }

// newTestLifecycle returns a lifecycle with a recording window.
func newTestLifecycle(w Window) (*Lifecycle, *windowRecorder, *fakeTray) {
	if w.Close == nil {
		w.Close = func() {}
	}
	l, a, f := newLifecycle(w), &windowRecorder{}, &fakeTray{host: true}
	l.frame, l.tray = a, f
	l.exit = func(code int) { a.add("exit " + string(rune('0'+code))) }
	return l, a, f
}

func fixedSettings(s Settings) func() Settings { return func() Settings { return s } }

// Closing hides the window if there is a tray host and the user wants it; otherwise it quits (UX, Around it).
func TestClosingHidesOnlyIntoATray(t *testing.T) {
	for name, c := range map[string]struct{ host, wanted, hides bool }{
		"tray available and wanted": {true, true, true}, "not wanted": {true, false, false},
		"no host": {false, true, false}, "neither": {false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				closed := 0
				l, a, f := newTestLifecycle(Window{Settings: fixedSettings(Settings{CloseToTray: c.wanted}), Close: func() { closed++ }})
				f.host = c.host
				stays := l.BeforeClose(context.Background())
				if stays != c.hides {
					t.Errorf("the window stays: %v", stays)
				}
				synctest.Wait()
				if c.hides {
					a.expect(t, "hide")
					visible, focused := l.watched()
					if visible || focused || closed != 0 {
						t.Errorf("hidden: visible %v, focused %v, closed %d times", visible, focused, closed)
					}
					return
				}
				if a.expect(t, "hide"); closed != 1 {
					t.Errorf("closed %d times", closed)
				}
				time.Sleep(2 * windowCloseTime)
				a.expect(t, "exit 0") // a window that does not close does not keep the program running
			})
		})
	}
}

// If the tray host goes away, a window that only the tray could show again is shown.
func TestTheWindowIsShownWhenTheTrayDisappears(t *testing.T) {
	l, a, f := newTestLifecycle(Window{Settings: fixedSettings(Settings{CloseToTray: true})})
	l.hostGone()
	a.expect(t)
	l.BeforeClose(context.Background())
	f.host = false
	l.hostGone()
	a.expect(t, "hide", "show")
	l.hostGone()
	a.expect(t)
}

// A program that starts at sign-in starts hidden, waits for a tray, and shows its window if none appears.
func TestAWindowThatStartsHiddenWaitsForATray(t *testing.T) {
	for name, c := range map[string]struct {
		host bool
		want []string
	}{"a tray": {true, nil}, "no tray": {false, []string{"show"}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, a, f := newTestLifecycle(Window{})
				f.host = false
				l.startHidden()
				l.hostGone() // reported at once: there is none yet
				if visible, _ := l.watched(); visible {
					t.Error("the window is visible")
				}
				l.mu.Lock()
				l.tray = &fakeTray{host: c.host} // a panel that starts later, or none
				l.mu.Unlock()
				time.Sleep(trayWait + time.Second)
				synctest.Wait()
				a.expect(t, c.want...)
			})
		})
	}
}

// answeringWork has answers that end while the program waits for them.
type answeringWork struct {
	fakeWork
	answers atomic.Int32
}

func (w *answeringWork) Answering() int { return int(w.answers.Load()) }

// Closing the first window hides it while additional ones are open. Closing the last one quits, after the running
// answers have ended.
func TestAdditionalWindowsKeepTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var additional atomic.Bool
		additional.Store(true)
		work := &answeringWork{}
		work.answers.Store(1)
		l, a, f := newTestLifecycle(Window{NeededByOthers: additional.Load, Work: work})
		f.host = false
		if !l.BeforeClose(context.Background()) {
			t.Error("it closed while additional windows are open")
		}
		l.hostGone() // there never was a tray
		go l.lastClosed()
		synctest.Wait()
		a.expect(t, "hide")
		additional.Store(false)
		go l.lastClosed()
		time.Sleep(5*time.Second + answerCheckInterval/2) // between two checks
		a.expect(t)
		work.answers.Store(0)
		time.Sleep(answerCheckInterval)
		synctest.Wait()
		a.expect(t, "hide", "quit")
		time.Sleep(time.Minute)
		a.expect(t, "exit 0")
	})
	synctest.Test(t, func(t *testing.T) { // one that was shown again stays open
		l, a, _ := newTestLifecycle(Window{NeededByOthers: func() bool { return true }})
		l.BeforeClose(context.Background())
		l.show()
		l.w.NeededByOthers = func() bool { return false }
		l.lastClosed()
		a.expect(t, "hide", "show")
	})
}

// Quitting closes the program once, however often it is requested, and a program that is quitting is neither hidden
// nor shown again.
func TestQuittingHappensOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := 0
		l, a, f := newTestLifecycle(Window{Settings: fixedSettings(Settings{CloseToTray: true}), Close: func() { closed++ }})
		for range 3 {
			go l.quit()
		}
		synctest.Wait()
		a.expect(t, "hide", "quit")
		if l.BeforeClose(context.Background()) {
			t.Error("a program that quits was hidden")
		}
		l.show()
		l.hostGone()
		l.End()
		if closed != 1 || f.ended != 1 {
			t.Errorf("closed %d times, the tray ended %d times", closed, f.ended)
		}
		time.Sleep(time.Minute)
		a.expect(t, "exit 0")
	})
}

// If the work cannot be saved in time, the program still ends, with a non-zero exit code.
func TestTheEndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		l, a, _ := newTestLifecycle(Window{Close: func() { <-stuck }})
		l.quit()
		time.Sleep(stopTimeout + time.Second)
		a.expect(t, "hide", "quit", "exit 1")
		close(stuck)
	})
}

// A signal ends the program, even if closing would hide it.
func TestASignalQuits(t *testing.T) {
	gone := make(chan struct{})
	l, _, _ := newTestLifecycle(Window{Settings: fixedSettings(Settings{CloseToTray: true}), Close: func() { close(gone) }})
	l.handleSignals()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Skipf("no signals to oneself here: %v", err)
	}
	<-gone
}

func TestThePageReportsItsFocus(t *testing.T) {
	l, _, _ := newTestLifecycle(Window{})
	for _, c := range []struct {
		data    []any
		focused bool
	}{{[]any{false}, false}, {[]any{"what"}, false}, {nil, false}, {[]any{true}, true}} {
		l.focus(c.data...)
		if visible, focused := l.watched(); !visible || focused != c.focused {
			t.Errorf("after %v: visible %v, focused %v", c.data, visible, focused)
		}
	}
}

// Dropped paths count once the page confirms that files were dropped on it, in either order, once, and only for the
// same drop.
func TestDropsNeedBothHalves(t *testing.T) {
	paths := []string{"/tmp/a b.json", "/tmp/x/../c"}
	want := WindowRequest{Kind: RequestFiles, Paths: []string{"/tmp/a b.json", "/tmp/c"}, X: 7, Y: 9}
	pathsArrive := func(d *drops) { d.receivePaths(paths) }
	pageAccepts := func(d *drops) { d.receivePage(true, 7.0, 9.0) }
	pageDeclines := func(d *drops) { d.receivePage(false, 1.0, 1.0) }
	timePasses := func(*drops) { time.Sleep(2 * dropTime) }
	for name, c := range map[string]struct {
		steps []func(*drops)
		drops int
	}{
		"paths first":                 {[]func(*drops){pathsArrive, pageAccepts}, 1},
		"page first":                  {[]func(*drops){pageAccepts, pathsArrive}, 1},
		"twice":                       {[]func(*drops){pathsArrive, pageAccepts, pageAccepts, pathsArrive}, 2},
		"only once":                   {[]func(*drops){pathsArrive, pageAccepts, pageAccepts}, 1},
		"only paths":                  {[]func(*drops){pathsArrive, pathsArrive}, 0},
		"text after a drag that left": {[]func(*drops){pathsArrive, pageDeclines, pageAccepts}, 0},
		"an old drag's paths":         {[]func(*drops){pathsArrive, timePasses, pageAccepts}, 0},
		"an old drop":                 {[]func(*drops){pageAccepts, timePasses, pathsArrive}, 0},
		"a web address":               {[]func(*drops){func(d *drops) { d.receivePaths([]string{""}) }, pageAccepts}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []WindowRequest
				d := &drops{deliver: func(s WindowRequest) { got = append(got, s) }}
				for _, step := range c.steps {
					step(d)
				}
				if len(got) != c.drops || len(got) > 0 && !reflect.DeepEqual(got[0], want) {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

func TestDialogsNeedAWindow(t *testing.T) {
	if _, err := PickFiles("Import"); err == nil {
		t.Error("a dialog without a window")
	}
	if visible, focused := Watched(); visible || focused {
		t.Error("there is no window to watch")
	}
	Raise()
	Quit()
	Notify(Notice{Title: "nobody sees this"})
}

// If closing would cut off an answer because there is no tray, the page asks first. Closing again, or confirming,
// closes the window; a signal and the tray's menu do not ask.
func TestClosingAsksWhileAnswersArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := &fakeWork{answering: 1}
		var asked []WindowRequestKind
		l, a, f := newTestLifecycle(Window{Work: work, Request: func(s WindowRequest) { asked = append(asked, s.Kind) }})
		f.host = false
		closes := func() bool { return !l.BeforeClose(context.Background()) }
		if closes() || !reflect.DeepEqual(asked, []WindowRequestKind{RequestClose}) {
			t.Errorf("closed, asked %v", asked)
		}
		l.closeDecided(false)
		if a.expect(t); closes() || len(asked) != 2 {
			t.Errorf("after choosing to stay: asked %v", asked)
		}
		if !closes() || len(asked) != 2 {
			t.Errorf("the page does not answer: asked %v", asked)
		}
		synctest.Wait()
		a.expect(t, "hide")
		time.Sleep(time.Minute)
		a.expect(t, "exit 0")
	})
	synctest.Test(t, func(t *testing.T) {
		l, a, _ := newTestLifecycle(Window{Work: &fakeWork{answering: 1}})
		l.BeforeClose(context.Background())
		l.closeDecided(true)
		synctest.Wait()
		a.expect(t, "hide", "quit")
		time.Sleep(time.Minute)
		a.expect(t, "exit 0")
	})
}

// The first window fits on the screen, including its frame (UX: usable at 1280 by 800).
func TestTheFirstWindowFitsItsScreen(t *testing.T) {
	for screen, want := range map[[2]int][2]int{
		{1920, 1080}: {1280, 800}, {1280, 800}: {1264, 704}, {1366, 768}: {1280, 672}, {800, 480}: {900, 600},
	} {
		if width, height := (Window{}).Size().on(screen[0], screen[1]); [2]int{width, height} != want {
			t.Errorf("on %v: %d by %d, want %v", screen, width, height, want)
		}
	}
}

// A window begins as it was closed, at least as large as it must be.
func TestAWindowBeginsAsItWasClosed(t *testing.T) {
	var kept Extent
	l, _, _ := newTestLifecycle(Window{Remember: func(e Extent) { kept = e }})
	l.BeforeClose(context.Background())
	if got := (Window{Last: kept}).Size(); got.Width != 1000 || got.Height != 700 {
		t.Errorf("%+v, kept %+v", got, kept)
	}
	if got := (Window{Last: Extent{10, 10, true}}); got.Size().Width != minWidth || got.State() == (Window{}).State() {
		t.Errorf("%+v", got)
	}
}

// Events are sent only to a page that listens, because a script fails in a page without the runtime. Each
// announcement of the page is confirmed, because it repeats one that pathsArrive too early.
func TestEventsWaitForAPage(t *testing.T) {
	l, _, _ := newTestLifecycle(Window{})
	var confirmed []any
	l.emit = func(name string, data any) { confirmed = append(confirmed, name, data) }
	for i, c := range []struct {
		data      []any
		listening bool
	}{
		{nil, false}, {[]any{"a", true}, true}, {[]any{"b", true}, true}, {[]any{"a", false}, true}, {[]any{"b", false}, false}, {[]any{"c"}, false},
	} {
		l.pageListens(c.data...)
		if l.pageListening() != c.listening {
			t.Errorf("%d: after %v listening: %v", i, c.data, l.pageListening())
		}
	}
	if want := []any{eventPageConfirmed, "a", eventPageConfirmed, "b"}; !reflect.DeepEqual(confirmed, want) {
		t.Errorf("the page got %v, want %v", confirmed, want)
	}
}
