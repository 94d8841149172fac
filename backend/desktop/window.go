// Package desktop is the window around the page and the program's integration with the desktop: its frame, its life
// cycle, tray, notifications, dialogs, file manager and the system's browser (SPEC 13, UX.md Around it). Package api
// implements what happens inside.
//
// It knows nothing about conversations. Closing the window leaves the program in the tray if there is one and the
// setting is on. Otherwise, and when a menu, a signal or the end of the session requests it, the program ends in order
// and in bounded time: Close is called exactly once before End returns.
package desktop

import (
	"net/http"
	"os"
	goruntime "runtime"
	"sync/atomic"

	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Window is what the program shows.
type Window struct {
	// Handler handles requests of the page that are not for an asset.
	Handler http.Handler
	Icon    []byte
	// Bind are the services that the page may call.
	Bind []any
	// FormatError converts the error of a rejected call.
	FormatError func(error) any
	// Ready is called when events can be sent to the page.
	Ready func(emit func(name string, data any))
	// Close ends the program's work in bounded time; it is called once.
	Close func()
	// Hidden: the window starts in the tray. If no tray appears within trayWait, it is shown.
	Hidden bool
	// Additional: it is one of several windows on the same data; the first one has the tray, and is notified when the
	// session ends.
	Additional bool
	// Quick: it is small, and stays above other windows.
	Quick bool
	// NeededByOthers reports whether additional windows need this process. If they do, closing the window only hides
	// it. nil: never.
	NeededByOthers func() bool
	// NewWindow and AskQuickly open an additional window and the small one, for the tray. nil: not possible.
	NewWindow, AskQuickly func()
	// ShownElsewhere: another program shows this data and came to the front. No window is opened.
	ShownElsewhere bool
	// Theme is appearance.theme at the start: until the page is drawn, the window has its color.
	Theme string
	// Last is how the window was when it was last closed; Remember keeps that. nil: it is not kept.
	Last     Extent
	Remember func(Extent)
	// Settings are the current values of desktop.close_to_tray and similar settings.
	Settings func() Settings
	// Request sends a request to the page.
	Request func(WindowRequest)
	// Work is the background work; nil: none.
	Work Work
}

// Settings are the user's settings for the desktop (SPEC 16).
type Settings struct {
	CloseToTray, Notifications bool
	Language                   string // ui.language: "system", or a language of the window
}

// Work is the background work that the tray shows and controls. Its methods may be called from any goroutine.
type Work interface {
	Paused() bool
	Pause(paused bool)
	// Reconcile runs all maintenance that is due. It returns at once.
	Reconcile()
	// Busy counts running work, including answers, and queued work.
	Busy() (running, queued int)
	// Attention is a short text about what needs the user's attention; empty: nothing.
	Attention() string
	// Answering counts the running answers, which ending the program would interrupt.
	Answering() int
	// Changed sets a function that is called, from any goroutine, when one of these may have changed.
	Changed(fn func())
}

// WindowRequestKind is one of the constants below.
type WindowRequestKind string

const (
	RequestNewChat     WindowRequestKind = "new_chat"
	RequestOpenSession WindowRequestKind = "open_session"
	RequestFiles       WindowRequestKind = "files"
	// RequestClose asks whether to close the window although answers are arriving. The page replies with eventClose.
	RequestClose WindowRequestKind = "close"
)

// WindowRequest is a request to the page: from the tray, a notification, or files dropped on the window.
type WindowRequest struct {
	Kind    WindowRequestKind
	Session string   // of open_session
	Paths   []string // of files: absolute
	X, Y    int      // of a drop, in the page's pixels
}

// Minimum and initial size (UX.md).
const (
	minWidth, minHeight     = 900, 600
	firstWidth, firstHeight = 1280, 800
)

// Minimum and initial size of the window for a quick question.
const (
	minQuickWidth, minQuickHeight = 480, 320
	quickWidth, quickHeight       = 680, 480
)

// Size of a window, in pixels.
type Size struct{ Width, Height, MinWidth, MinHeight int }

// Extent is the size of a window, in pixels, before it was maximized; zero: it is not known.
type Extent struct {
	Width     int  `json:"width"`
	Height    int  `json:"height"`
	Maximized bool `json:"maximized"`
}

// Size returns the window's initial and minimum size.
func (w Window) Size() Size {
	if w.Quick {
		return Size{quickWidth, quickHeight, minQuickWidth, minQuickHeight}
	}
	size := Size{firstWidth, firstHeight, minWidth, minHeight}
	if w.Last.Width > 0 && w.Last.Height > 0 {
		size.Width, size.Height = max(minWidth, w.Last.Width), max(minHeight, w.Last.Height)
	}
	return size
}

// State returns how the window starts.
func (w Window) State() options.WindowStartState {
	if w.Last.Maximized {
		return options.Maximised
	}
	return options.Normal
}

// Title is the program's name for people.
const Title = "ContextInfinity"

// Open prepares the process for a window that Wails then creates with the life cycle's callbacks. End must be called when
// it is gone.
func Open(w Window) *Lifecycle {
	prepareWebKit()
	l := newLifecycle(w)
	// The processes of WebKit inherit the mask that makes their files in the data directory private; a browser or a
	// file manager opened later does not.
	l.restoreMask = privateFiles()
	if trayFirst {
		l.createTray()
	}
	return l
}

// prepareWebKit avoids a blank window with some graphics drivers.
func prepareWebKit() {
	const dmabuf = "WEBKIT_DISABLE_DMABUF_RENDERER"
	if goruntime.GOOS == "linux" && os.Getenv(dmabuf) == "" {
		_ = os.Setenv(dmabuf, "1")
	}
}

// HasDisplay reports whether a window could be shown.
func HasDisplay() bool {
	if goruntime.GOOS != "linux" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// shown is the window of this process, once it exists.
var shown atomic.Pointer[Lifecycle]

// OpenURL shows a link in the system's browser. The caller has checked it.
func OpenURL(url string) {
	if l := shown.Load(); l != nil {
		runtime.BrowserOpenURL(l.ctx, url)
	}
}

// Raise brings the window to the front. Before it exists this is not needed, because it is about to appear.
func Raise() {
	if l := shown.Load(); l != nil {
		l.show()
	}
}

// LastClosed ends the program once no answer is arriving, if its own window was closed and only additional windows kept
// it running.
func LastClosed() {
	if l := shown.Load(); l != nil {
		go l.lastClosed()
	}
}

// Quit ends the program in order, as the tray's menu does.
func Quit() {
	if l := shown.Load(); l != nil {
		l.quit()
	}
}

// Watched reports whether the window is visible, and whether it has the focus.
func Watched() (visible, focused bool) {
	l := shown.Load()
	if l == nil {
		return false, false
	}
	return l.watched()
}
