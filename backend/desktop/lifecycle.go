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
	// stopTimeout limits how long the program may take to stop its work. It is longer than the limit of Close.
	stopTimeout = 15 * time.Second
	// windowCloseTime is how long the window may take once the work has stopped. An open system dialog blocks it until it
	// is closed.
	windowCloseTime = 2 * time.Second
	// answerCheckInterval is how often a program without windows checks whether its answers have arrived.
	answerCheckInterval = time.Second
	// trayWait is how long a window that starts hidden waits for a tray, because panels start at sign-in too.
	trayWait = 30 * time.Second
)

// Lifecycle is the state of the window: shown, hidden in the tray, closing.
type Lifecycle struct {
	w         Window
	ctx       context.Context //nolint:containedctx // Wails hands its runtime out this way
	exit      func(code int)
	closeOnce sync.Once // calls Window.Close
	endOnce   sync.Once // removes the tray icon and leaves the bus
	drops     drops
	// restoreMask lets files of this process be created as usual again.
	restoreMask func()
	// emit sends an event to the page; it does nothing before the window exists.
	emit func(name string, data any)

	mu       sync.Mutex
	frame    frame
	tray     tray
	hidden   bool
	page     string // id of the page that listens for events; empty: none yet, or it is closing
	quitting bool
	blurred  bool // the page reported that another window has the focus
	// closeAsked: the page was asked whether to close.
	closeAsked bool
	// keptForWindows: hidden only because additional windows need the process.
	keptForWindows bool
	// awaitsTray: hidden since the start, and a tray may still appear.
	awaitsTray bool
}

// frame is the window as the system sees it.
type frame interface {
	show()
	hide()
	quit()
	// extent returns how the window is now; last is how it was.
	extent(last Extent) Extent
}

// wailsFrame is the Wails window; the context is its handle.
type wailsFrame struct{ ctx context.Context }

// show also raises the window, because showing alone does not.
func (f wailsFrame) show() { runtime.WindowShow(f.ctx); runtime.WindowUnminimise(f.ctx) }
func (f wailsFrame) hide() { runtime.WindowHide(f.ctx) }
func (f wailsFrame) quit() { runtime.Quit(f.ctx) }

func (f wailsFrame) extent(last Extent) Extent {
	last.Maximized = runtime.WindowIsMaximised(f.ctx)
	if runtime.WindowIsNormal(f.ctx) {
		last.Width, last.Height = runtime.WindowGetSize(f.ctx)
	}
	return last
}

// noFrame is used before the window exists.
type noFrame struct{}

func (noFrame) show() {}
func (noFrame) hide() {}
func (noFrame) quit() {}

func (noFrame) extent(last Extent) Extent { return last }

func newLifecycle(w Window) *Lifecycle {
	l := &Lifecycle{w: w, frame: noFrame{}, tray: noTray{}, exit: os.Exit, emit: func(string, any) {}, restoreMask: func() {}}
	if l.w.Settings == nil {
		l.w.Settings = func() Settings { return Settings{} }
	}
	if l.w.Request == nil {
		l.w.Request = func(WindowRequest) {}
	}
	l.drops.deliver = func(r WindowRequest) { go l.w.Request(r) } // in a goroutine, because files are examined
	return l
}

// Names of the events that the page sends about itself (frontend/src/lib/backend/window.ts).
const (
	eventFocus         = "ci:focus" // a boolean: the window has the focus
	eventDrop          = "ci:drop"  // accepted, x, y
	eventPage          = "ci:page"  // its id, a boolean: whether it listens to events
	eventPageConfirmed = "ci:heard" // to the page: its id; its announcement has arrived, and events are sent to it
	eventClose         = "ci:close" // a boolean: close although answers are arriving
)

// Start is called when the window exists.
func (l *Lifecycle) Start(ctx context.Context) {
	l.ctx = ctx
	l.mu.Lock()
	l.frame = wailsFrame{ctx}
	l.mu.Unlock()
	shown.Store(l)
	l.handleSignals()
	setWebLanguages()
	stayOnPage()
	if !l.w.Quick && !l.w.Last.Maximized {
		fitScreen(ctx, l.w.Size())
	}
	if l.w.Additional && !l.w.Quick {
		cascade(ctx)
	}
	runtime.EventsOn(ctx, eventFocus, l.focus)
	runtime.EventsOn(ctx, eventClose, l.closeDecided)
	runtime.EventsOn(ctx, eventDrop, l.drops.receivePage)
	runtime.OnFileDrop(ctx, func(_, _ int, paths []string) { l.drops.receivePaths(paths) })
	l.emit = func(name string, data any) { runtime.EventsEmit(ctx, name, data) }
	l.w.Ready(func(name string, data any) {
		if l.pageListening() {
			l.emit(name, data)
		}
	})
	// Registered last, because its reply means that all others are registered.
	runtime.EventsOn(ctx, eventPage, l.pageListens)
	if l.w.Additional {
		return
	}
	l.joinSession()
	if l.w.Hidden {
		l.startHidden()
	}
	if !trayFirst {
		l.createTray()
	}
	if l.w.Work != nil {
		go l.showWork(ctx)
	}
}

// Drawn is called when the page has been loaded: WebKit's processes exist.
func (l *Lifecycle) Drawn(context.Context) { l.restoreMask() }

// startHidden starts with the window in the tray. Without a tray it is shown after a while.
func (l *Lifecycle) startHidden() {
	l.mu.Lock()
	l.hidden, l.awaitsTray = true, true
	l.mu.Unlock()
	time.AfterFunc(trayWait, func() {
		l.mu.Lock()
		l.awaitsTray = false
		l.mu.Unlock()
		if !l.hosted() {
			l.hostGone()
		}
	})
}

// pageListens records the page that receives events, and confirms it: Wails calls Start while the page is already
// loading, so its first announcement may come too early, and the page repeats it until it is confirmed. A reloaded
// page may sign off before or after the new one announces itself, so pages have ids.
func (l *Lifecycle) pageListens(data ...any) {
	id, _ := first[string](data)
	listens, _ := first[bool](data[min(1, len(data)):])
	l.setPage(id, listens)
	if listens {
		l.emit(eventPageConfirmed, id)
	}
}

func (l *Lifecycle) setPage(id string, listens bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case listens:
		l.page = id
	case l.page == id:
		l.page = ""
	}
}

// pageListening reports whether a page listens. Wails would run a script in a page without a runtime, which fails there; a
// page loads the stored state when it starts, so it misses nothing.
func (l *Lifecycle) pageListening() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.page != ""
}

func (l *Lifecycle) createTray() {
	t := newTray(l, l.w.Icon)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tray = t
}

// handleSignals ends the program in order. Wails' own handler would call BeforeClose, which hides the window, so it
// is removed first.
func (l *Lifecycle) handleSignals() {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	signal.Reset(all...)
	received := make(chan os.Signal, 1)
	signal.Notify(received, all...)
	go func() {
		<-received
		l.quit()
	}()
}

// BeforeClose reports whether the window is only hidden, with the tray icon to show it again.
func (l *Lifecycle) BeforeClose(context.Context) bool {
	if l.w.Remember != nil {
		l.w.Remember(l.window().extent(l.w.Last))
	}
	if l.isQuitting() {
		return false
	}
	if l.closeHides() {
		l.hide()
		return true
	}
	if l.w.NeededByOthers != nil && l.w.NeededByOthers() {
		l.hide()
		l.mu.Lock()
		l.keptForWindows = true
		l.mu.Unlock()
		return true
	}
	if l.shouldAsk() {
		l.w.Request(WindowRequest{Kind: RequestClose, X: -1, Y: -1})
		return true
	}
	l.beginQuit()
	return false
}

// shouldAsk reports whether the page should ask before the window closes, because an answer would be interrupted. Closing
// again while the question is open does not ask again, in case the page does not respond.
func (l *Lifecycle) shouldAsk() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeAsked = !l.closeAsked && l.w.Work != nil && l.w.Work.Answering() > 0
	return l.closeAsked
}

// closeDecided handles the page's reply to RequestClose.
func (l *Lifecycle) closeDecided(data ...any) {
	l.mu.Lock()
	l.closeAsked = false
	l.mu.Unlock()
	if yes, _ := first[bool](data); yes {
		l.quit()
	}
}

// closeHides reports whether closing hides the window: there is a tray, and the setting is on.
func (l *Lifecycle) closeHides() bool {
	return l.w.Settings().CloseToTray && l.hosted()
}

func (l *Lifecycle) hosted() bool {
	l.mu.Lock()
	t := l.tray
	l.mu.Unlock()
	return t.hosted()
}

func (l *Lifecycle) window() frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.frame
}

func (l *Lifecycle) isQuitting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.quitting
}

func (l *Lifecycle) hide() {
	l.mu.Lock()
	l.hidden = true
	f := l.frame
	l.mu.Unlock()
	f.hide()
}

// show brings the window to the front, unless the program is quitting.
func (l *Lifecycle) show() {
	l.mu.Lock()
	quitting := l.quitting
	f := l.frame
	if !quitting {
		l.hidden, l.awaitsTray, l.keptForWindows = false, false, false
	}
	l.mu.Unlock()
	if !quitting {
		f.show()
	}
}

// lastClosed is called when no additional window is open. If the process was kept only for those windows, it ends when
// the running answers have ended.
func (l *Lifecycle) lastClosed() {
	for {
		l.mu.Lock()
		hiddenForWindows := l.keptForWindows && !l.quitting
		l.mu.Unlock()
		if !hiddenForWindows || l.w.NeededByOthers() {
			return
		}
		if l.w.Work == nil || l.w.Work.Answering() == 0 {
			l.quit()
			return
		}
		time.Sleep(answerCheckInterval)
	}
}

// hostGone shows a window that only the tray could have shown.
func (l *Lifecycle) hostGone() {
	l.mu.Lock()
	hidden := l.hidden && !l.awaitsTray && !l.keptForWindows
	l.mu.Unlock()
	if hidden {
		l.show()
	}
}

func (l *Lifecycle) focus(data ...any) {
	focused, ok := first[bool](data)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blurred = !focused
}

// watched reports whether the window is visible, and whether it has the focus.
func (l *Lifecycle) watched() (visible, focused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.hidden, !l.hidden && !l.blurred
}

// quit ends the program.
func (l *Lifecycle) quit() {
	if l.beginQuit() {
		l.window().quit()
	}
}

// beginQuit starts quitting, and reports whether it had not started before: the window is hidden immediately, the work
// is stopped, and if closing the window takes too long, the process exits anyway.
func (l *Lifecycle) beginQuit() bool {
	l.mu.Lock()
	alreadyQuitting := l.quitting
	l.quitting = true
	l.mu.Unlock()
	if alreadyQuitting {
		return false
	}
	l.window().hide()
	go func() {
		done := make(chan struct{})
		go func() { l.End(); close(done) }()
		code := 0
		select {
		case <-done:
			time.Sleep(windowCloseTime)
		case <-time.After(stopTimeout):
			code = 1
		}
		l.exit(code)
	}()
	return true
}

// closeWindow ends the program's work once; further callers wait for it.
func (l *Lifecycle) closeWindow() { l.closeOnce.Do(l.w.Close) }

// End stops the work and leaves the desktop's session and tray.
func (l *Lifecycle) End() {
	defer l.restoreMask()
	l.closeWindow()
	l.endOnce.Do(func() {
		l.mu.Lock()
		t := l.tray
		l.mu.Unlock()
		t.end()
		leaveBus()
	})
}

// first returns the first of an event's values, if it has that type.
func first[T any](data []any) (T, bool) {
	var none T
	if len(data) == 0 {
		return none, false
	}
	v, ok := data[0].(T)
	return v, ok
}
