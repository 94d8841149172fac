// Package desktop is the window around the page: its frame, its life, and the
// system's browser (SPEC 13, UX.md). What happens inside belongs to package api.
//
// It knows no conversation. Closing the window ends the program in order: Close
// is called once, whatever the reason, before Run returns.
package desktop

import (
	"context"
	"embed"
	"os"
	goruntime "runtime"
	"sync"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Window is what Run shows.
type Window struct {
	Assets embed.FS
	Icon   []byte
	// Bind are the services that the page may call.
	Bind []any
	// FormatError is what a rejected call rejects with.
	FormatError func(error) any
	// Ready is called when events can be sent to the page.
	Ready func(emit func(name string, data any))
	// Close ends the program's work; it is called once.
	Close func()
	// Elsewhere: another program shows this data and came to the front. There is no
	// window to open.
	Elsewhere bool
}

// Smallest and first size (UX.md).
const (
	minWidth, minHeight     = 900, 600
	firstWidth, firstHeight = 1280, 800
)

// Run opens the window and returns when it is closed.
func Run(w Window) error {
	prepareWebKit()
	var once sync.Once
	end := func() { once.Do(w.Close) }
	defer end()
	return wails.Run(&options.App{
		Title: "ContextInfinity", Width: firstWidth, Height: firstHeight, MinWidth: minWidth, MinHeight: minHeight,
		AssetServer:    &assetserver.Options{Assets: w.Assets},
		Menu:           systemMenu(),
		Bind:           w.Bind,
		ErrorFormatter: w.FormatError,
		LogLevel:       logger.ERROR, LogLevelProduction: logger.ERROR,
		OnStartup: func(ctx context.Context) {
			w.Ready(func(name string, data any) { runtime.EventsEmit(ctx, name, data) })
			shown.set(ctx)
		},
		OnShutdown: func(context.Context) { end() },
		// Files dropped on the window must not replace the page; the page guards
		// against text and links itself.
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: false, DisableWebViewDrop: false},
		Linux:       &linux.Options{Icon: w.Icon, ProgramName: "contextinfinity", WebviewGpuPolicy: linux.WebviewGpuPolicyOnDemand},
		Mac:         &mac.Options{About: &mac.AboutInfo{Title: "ContextInfinity", Icon: w.Icon}},
	})
}

// prepareWebKit avoids a blank window on some graphics drivers.
func prepareWebKit() {
	const dmabuf = "WEBKIT_DISABLE_DMABUF_RENDERER"
	if goruntime.GOOS == "linux" && os.Getenv(dmabuf) == "" {
		_ = os.Setenv(dmabuf, "1")
	}
}

// systemMenu gives macOS its Edit menu, without which copy and paste have no
// shortcuts there. Elsewhere the page is all there is.
func systemMenu() *menu.Menu {
	if goruntime.GOOS != "darwin" {
		return nil
	}
	return menu.NewMenuFromItems(menu.AppMenu(), menu.EditMenu(), menu.WindowMenu())
}

// HasDisplay reports whether a window could be shown at all.
func HasDisplay() bool {
	if goruntime.GOOS != "linux" {
		return true
	}
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// shown is the window, once it is there.
var shown current

type current struct {
	mu  sync.Mutex
	ctx context.Context //nolint:containedctx // Wails hands its runtime out this way
}

func (c *current) set(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx = ctx
}

// context is nil before the window is there.
func (c *current) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}

// OpenURL shows a link in the system's browser. The caller has checked it.
func OpenURL(url string) {
	if ctx := shown.context(); ctx != nil {
		runtime.BrowserOpenURL(ctx, url)
	}
}

// Raise brings the window to the front. Before it is there it need not: it is
// about to appear.
func Raise() {
	if ctx := shown.context(); ctx != nil {
		runtime.WindowUnminimise(ctx)
		runtime.WindowShow(ctx)
	}
}
