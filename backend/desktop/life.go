package desktop

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

const (
	// endingTime limits how long the program may take to stop its work: more than Close promises, and stored data
	// needs no more.
	endingTime = 15 * time.Second
	// partingTime is how long the window may take once the work has stopped. An open system dialog blocks it until it
	// is closed.
	partingTime = 2 * time.Second
	// answersEvery is how often a program without windows checks whether its answers have arrived.
	answersEvery = time.Second
	// trayTime is how long a window that starts hidden waits for a tray, because panels start at sign-in too.
	trayTime = 30 * time.Second
)

// life is the state of the window: shown, hidden in the tray, closing.
type life struct {
	w     Window
	ctx   context.Context //nolint:containedctx // Wails hands its runtime out this way
	exit  func(code int)
	work  sync.Once
	leave sync.Once
	drops drops
	// emit sends an event to the page; it does nothing before the window exists.
	emit func(name string, data any)

	mu       sync.Mutex
	frame    frame
	tray     tray
	hidden   bool
	page     string // that listens for events; empty: none yet, or it is closing
	asking   bool   // the page was asked whether to close
	held     bool   // hidden only because further windows need the process
	begins   bool   // hidden since the start, and a tray may still appear
	blurred  bool   // the page reported that another window has the focus
	quitting bool
}

// frame is the window as the system sees it.
type frame interface {
	show()
	hide()
	quit()
}

// wailsFrame is the Wails window; the context is its handle.
type wailsFrame struct{ ctx context.Context }

// Show also raises the window, which showing alone does not.
func (f wailsFrame) show() { runtime.WindowShow(f.ctx); runtime.WindowUnminimise(f.ctx) }
func (f wailsFrame) hide() { runtime.WindowHide(f.ctx) }
func (f wailsFrame) quit() { runtime.Quit(f.ctx) }

// noFrame is used before the window exists.
type noFrame struct{}

func (noFrame) show() {}
func (noFrame) hide() {}
func (noFrame) quit() {}

func newLife(w Window) *life {
	l := &life{w: w, frame: noFrame{}, tray: noTray{}, exit: os.Exit, emit: func(string, any) {}}
	if l.w.Settings == nil {
		l.w.Settings = func() Settings { return Settings{} }
	}
	if l.w.Request == nil {
		l.w.Request = func(WindowRequest) {}
	}
	l.drops.deliver = func(s WindowRequest) { go l.w.Request(s) } // in a goroutine, because files are examined
	return l
}

// Names of the events that the page sends about itself (frontend/src/lib/backend/window.ts).
const (
	eventFocus = "ci:focus" // a boolean: the window has the focus
	eventDrop  = "ci:drop"  // accepted, x, y
	eventPage  = "ci:page"  // its id, a boolean: whether it listens to events
	eventHeard = "ci:heard" // to the page: its id. Its announcement has arrived, and events are sent to it
	eventClose = "ci:close" // a boolean: close although answers are arriving
)

// start is called when the window exists.
func (l *life) start(ctx context.Context) {
	l.ctx = ctx
	l.mu.Lock()
	l.frame = wailsFrame{ctx}
	l.mu.Unlock()
	shown.Store(l)
	l.handleSignals()
	setWebLanguages()
	stayOnPage()
	if !l.w.Quick {
		fitScreen(ctx)
	}
	runtime.EventsOn(ctx, eventFocus, l.focus)
	runtime.EventsOn(ctx, eventClose, l.closeDecided)
	runtime.EventsOn(ctx, eventDrop, l.drops.receivePage)
	runtime.OnFileDrop(ctx, func(_, _ int, paths []string) { l.drops.receivePaths(paths) })
	l.emit = func(name string, data any) { runtime.EventsEmit(ctx, name, data) }
	l.w.Ready(func(name string, data any) {
		if l.heard() {
			l.emit(name, data)
		}
	})
	// Registered last, because its reply means that all others are registered.
	runtime.EventsOn(ctx, eventPage, l.pageListens)
	if l.w.Further {
		return
	}
	l.joinSession()
	if l.w.Hidden {
		l.beginHidden()
	}
	if !trayFirst {
		l.putTray()
	}
	if l.w.Work != nil {
		go l.showWork(ctx)
	}
}

// beginHidden starts with the window in the tray. Without a tray it is shown after a while.
func (l *life) beginHidden() {
	l.mu.Lock()
	l.hidden, l.begins = true, true
	l.mu.Unlock()
	time.AfterFunc(trayTime, func() {
		l.mu.Lock()
		l.begins = false
		l.mu.Unlock()
		if !l.hosted() {
			l.hostGone()
		}
	})
}

// pageListens records the page that receives events, and confirms it: Wails calls start while the page is already
// loading, so its first announcement may come too early, and the page repeats it until it is confirmed. A reloaded
// page may sign off before or after the new one announces itself, so pages have ids.
func (l *life) pageListens(data ...any) {
	id, _ := first[string](data)
	listens, _ := first[bool](data[min(1, len(data)):])
	l.setPage(id, listens)
	if listens {
		l.emit(eventHeard, id)
	}
}

func (l *life) setPage(id string, listens bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case listens:
		l.page = id
	case l.page == id:
		l.page = ""
	}
}

// heard reports whether a page listens. Wails would run a script in a page without a runtime, which fails there; a
// page loads the stored state when it starts, so it misses nothing.
func (l *life) heard() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.page != ""
}

func (l *life) putTray() {
	t := newTray(l, l.w.Icon)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tray = t
}

// handleSignals ends the program in order. Wails' own handler would call beforeClose, which hides the window, so it
// is removed first.
func (l *life) handleSignals() {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signal.Reset(all...)
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, all...)
	go func() {
		<-heard
		l.quit()
	}()
}

// beforeClose reports whether the window is only hidden, with the tray icon to show it again.
func (l *life) beforeClose(context.Context) bool {
	if l.leaving() {
		return false
	}
	if l.closeHides() {
		l.hide()
		return true
	}
	if l.w.Held != nil && l.w.Held() {
		l.hide()
		l.mu.Lock()
		l.held = true
		l.mu.Unlock()
		return true
	}
	if l.asks() {
		l.w.Request(WindowRequest{Kind: RequestClose, X: -1, Y: -1})
		return true
	}
	l.depart()
	return false
}

// asks reports whether the page should ask before the window closes, because an answer would be interrupted. Closing
// again while the question is open does not ask again, in case the page does not respond.
func (l *life) asks() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = !l.asking && l.w.Work != nil && l.w.Work.Answering() > 0
	return l.asking
}

// closeDecided handles the page's reply to RequestClose.
func (l *life) closeDecided(data ...any) {
	l.mu.Lock()
	l.asking = false
	l.mu.Unlock()
	if yes, _ := first[bool](data); yes {
		l.quit()
	}
}

// closeHides: there is a tray, and the setting is on.
func (l *life) closeHides() bool {
	return l.w.Settings().CloseToTray && l.hosted()
}

func (l *life) hosted() bool {
	l.mu.Lock()
	t := l.tray
	l.mu.Unlock()
	return t.hosted()
}

func (l *life) window() frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frame
}

func (l *life) leaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.quitting
}

func (l *life) hide() {
	l.mu.Lock()
	l.hidden = true
	f := l.frame
	l.mu.Unlock()
	f.hide()
}

// show brings the window to the front, unless the program is on its way out.
func (l *life) show() {
	l.mu.Lock()
	gone := l.quitting
	f := l.frame
	if !gone {
		l.hidden, l.begins, l.held = false, false, false
	}
	l.mu.Unlock()
	if !gone {
		f.show()
	}
}

// lastClosed is called when no further window is left. If only they kept the process, it ends when the running answers have ended.
func (l *life) lastClosed() {
	for {
		l.mu.Lock()
		over := l.held && !l.quitting
		l.mu.Unlock()
		if !over || l.w.Held() {
			return
		}
		if l.w.Work == nil || l.w.Work.Answering() == 0 {
			l.quit()
			return
		}
		time.Sleep(answersEvery)
	}
}

// hostGone shows a window that only the tray could have shown.
func (l *life) hostGone() {
	l.mu.Lock()
	hidden := l.hidden && !l.begins && !l.held
	l.mu.Unlock()
	if hidden {
		l.show()
	}
}

func (l *life) focus(data ...any) {
	has, ok := first[bool](data)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blurred = !has
}

// watched reports whether somebody may be looking: whether the window is visible, and whether it has the focus.
func (l *life) watched() (there, focused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.hidden, !l.hidden && !l.blurred
}

// quit ends the program.
func (l *life) quit() {
	if l.depart() {
		l.window().quit()
	}
}

// depart begins the end, once: the window is hidden immediately, the work is stopped, and if closing the window takes
// too long, the process exits anyway.
func (l *life) depart() bool {
	l.mu.Lock()
	begun := l.quitting
	l.quitting = true
	l.mu.Unlock()
	if begun {
		return false
	}
	l.window().hide()
	go func() {
		done := make(chan struct{})
		go func() { l.end(); close(done) }()
		code := 0
		select {
		case <-done:
			time.Sleep(partingTime)
		case <-time.After(endingTime):
			code = 1
		}
		l.exit(code)
	}()
	return true
}

// closeWindow ends the program's work once; further callers wait for it.
func (l *life) closeWindow() { l.work.Do(l.w.Close) }

// end stops the work and leaves the desktop's session and tray.
func (l *life) end() {
	l.closeWindow()
	l.leave.Do(func() {
		l.mu.Lock()
		t := l.tray
		l.mu.Unlock()
		t.end()
		leaveBus()
	})
}

// first is the first of an event's values, if it has that type.
func first[T any](data []any) (T, bool) {
	var none T
	if len(data) == 0 {
		return none, false
	}
	v, ok := data[0].(T)
	return v, ok
}
