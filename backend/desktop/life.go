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
	// endingTime bounds how long the program may take to put its work away: more than
	// Close promises, for what is stored needs no more.
	endingTime = 15 * time.Second
	// partingTime is how long the window may take once the work is put away. A dialog
	// of the system's that is open holds it up until somebody answers.
	partingTime = 2 * time.Second
	// answersEvery is how often a program that nobody looks at any more looks whether its answers have arrived.
	answersEvery = time.Second
	// trayTime is how long a window that begins hidden waits for a tray: panels start at sign-in too.
	trayTime = 30 * time.Second
)

// life is the window's: shown, hidden in the tray, on its way out.
type life struct {
	w     Window
	ctx   context.Context //nolint:containedctx // Wails hands its runtime out this way
	exit  func(code int)
	work  sync.Once
	leave sync.Once
	drops drops
	// emit sends an event to the page; it does nothing before the window is there.
	emit func(name string, data any)

	mu       sync.Mutex
	frame    frame
	tray     tray
	hidden   bool
	page     string // that listens; empty: none does yet, or it is on its way out
	asking   bool   // the page was asked whether to close
	held     bool   // hidden for the sake of further windows alone
	begins   bool   // hidden since the start, and a tray may still come
	blurred  bool   // the page said that another window has the keyboard
	quitting bool
}

// frame is the window as the system sees it.
type frame interface {
	show()
	hide()
	quit()
}

// wailsFrame is the window that Wails made; the context is its handle.
type wailsFrame struct{ ctx context.Context }

// show also raises: to show a window alone does not.
func (f wailsFrame) show() { runtime.WindowShow(f.ctx); runtime.WindowUnminimise(f.ctx) }
func (f wailsFrame) hide() { runtime.WindowHide(f.ctx) }
func (f wailsFrame) quit() { runtime.Quit(f.ctx) }

// noFrame is before the window is there.
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
	l.drops.deliver = func(s WindowRequest) { go l.w.Request(s) } // files are looked at, which may take its time
	return l
}

// Names of the events by which the page tells of itself (frontend/src/lib/backend/window.ts).
const (
	eventFocus = "ci:focus" // a truth value: the window has the keyboard
	eventDrop  = "ci:drop"  // accepted, x, y
	eventPage  = "ci:page"  // its id, a truth value: it listens to events from now on, or no longer
	eventHeard = "ci:heard" // to the page: its id. What it announced has arrived, and events are sent to it
	eventClose = "ci:close" // a truth value: close although answers are arriving
)

// start is called when the window is there.
func (l *life) start(ctx context.Context) {
	l.ctx = ctx
	l.mu.Lock()
	l.frame = wailsFrame{ctx}
	l.mu.Unlock()
	shown.Store(l)
	l.handleSignals()
	setWebLanguages()
	if !l.w.Quick {
		fitScreen(ctx)
	}
	runtime.EventsOn(ctx, eventFocus, l.focus)
	runtime.EventsOn(ctx, eventClose, l.closeDecided)
	runtime.EventsOn(ctx, eventDrop, l.drops.said)
	runtime.OnFileDrop(ctx, func(_, _ int, paths []string) { l.drops.came(paths) })
	l.emit = func(name string, data any) { runtime.EventsEmit(ctx, name, data) }
	l.w.Ready(func(name string, data any) {
		if l.heard() {
			l.emit(name, data)
		}
	})
	// Last, as its reply promises that all the others are there.
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

// beginHidden leaves the window in the tray from the start on. One that no tray could call back is shown after a while.
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

// pageListens keeps the page that events go to, and confirms it: Wails calls start while the page loads already, so that
// its first announcement may come before anybody here listens, and the page repeats it until it is confirmed. A page that
// is reloaded leaves after the next has come, or before: hence their ids.
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

// heard reports whether a page listens. Wails would run a script in one that has no runtime yet, which fails there; a
// page starts from what is stored, and misses nothing.
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

// handleSignals ends the program in order. Wails' own handler asks beforeClose, which
// would hide the window: it is taken out first.
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

// beforeClose says whether the window stays: hidden, with the tray icon to call it back.
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

// asks reports whether the page is to ask before the window closes: an answer would be cut short. Who closes it again
// while the question is open does not wait for a page that may no longer be able to ask.
func (l *life) asks() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = !l.asking && l.w.Work != nil && l.w.Work.Answering() > 0
	return l.asking
}

// closeDecided takes the page's reply to RequestClose.
func (l *life) closeDecided(data ...any) {
	l.mu.Lock()
	l.asking = false
	l.mu.Unlock()
	if yes, _ := first[bool](data); yes {
		l.quit()
	}
}

// closeHides: there is a tray, and the user wants it.
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

// lastLeft: no further window is left. What they alone kept ends when the answers that arrive have ended.
func (l *life) lastLeft() {
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

// hostGone: a window that only the tray could call back comes back by itself.
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

// watched reports whether somebody may be looking: the window is there, and whether it
// has the keyboard.
func (l *life) watched() (there, focused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.hidden, !l.hidden && !l.blurred
}

// quit ends the program from wherever it is asked for.
func (l *life) quit() {
	if l.depart() {
		l.window().quit()
	}
}

// depart begins the end, once: the window goes at once, the work is put away, and
// should the window's own end be held up, the process ends anyway.
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

// closeWindow ends the program's work, once; whoever comes later waits for it.
func (l *life) closeWindow() { l.work.Do(l.w.Close) }

// end puts the work away, and takes leave of the desktop.
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

// first is the first of an event's values, if it is of that type.
func first[T any](data []any) (T, bool) {
	var none T
	if len(data) == 0 {
		return none, false
	}
	v, ok := data[0].(T)
	return v, ok
}
