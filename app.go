package main

import (
	"context"
	goruntime "runtime"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/menu"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"

	"contextinfinity/backend/desktop"
)

// run is the Wails application: it shows the page with the services of backend/api, and returns when the program's work has
// ended. backend/app composes what the services use; desktop.Lifecycle starts and stops the window.
func run(w desktop.Window) error {
	l := desktop.Open(w)
	defer l.End()
	size := w.Size()
	return wails.Run(&options.App{
		Title:            desktop.Title,
		Width:            size.Width,
		Height:           size.Height,
		MinWidth:         size.MinWidth,
		MinHeight:        size.MinHeight,
		AlwaysOnTop:      w.Quick,
		BackgroundColour: w.Background(),
		StartHidden:      w.Hidden,
		WindowStartState: w.State(),
		Menu:             systemMenu(),
		AssetServer:      &assetserver.Options{Assets: assets, Handler: w.Handler, Middleware: desktop.Middleware()},
		Bind:             w.Bind,
		ErrorFormatter:   w.FormatError,

		OnStartup:     l.Start,
		OnDomReady:    l.Drawn,
		OnBeforeClose: l.BeforeClose,
		OnShutdown:    func(context.Context) { l.End() },

		LogLevel:           logger.ERROR,
		LogLevelProduction: logger.ERROR,
		// In text fields, the system's menu opens, which has spelling suggestions. Elsewhere the page draws its own.
		EnableDefaultContextMenu: true,
		// Files come with their paths, and the page gets the drop too: it prevents the drop from replacing the page,
		// and reports whether the files were dropped on it.
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: true, DisableWebViewDrop: false},
		Linux: &linux.Options{
			Icon:             w.Icon,
			ProgramName:      "contextinfinity",
			WebviewGpuPolicy: linux.WebviewGpuPolicyOnDemand,
		},
		Mac: &mac.Options{About: &mac.AboutInfo{Title: desktop.Title, Icon: w.Icon}, OnFileOpen: l.Opened},
	})
}

// systemMenu gives macOS its Edit menu, without which copy and paste have no shortcuts there. Other systems need none.
func systemMenu() *menu.Menu {
	if goruntime.GOOS != "darwin" {
		return nil
	}
	return menu.NewMenuFromItems(menu.AppMenu(), menu.EditMenu(), menu.WindowMenu())
}
