//go:build desktop

package desktop

import "fyne.io/systray"

// trayFirst is true because the icon is created on the main thread, before the window uses it.
const trayFirst = true

// menuBar is the right end of macOS' menu bar, which always exists. A click opens the menu, as with its
// neighbours.
type menuBar struct{}

func newSystemTray(i *icon) systemTray {
	start, _ := systray.RunWithExternalLoop(i.build, nil)
	start()
	return menuBar{}
}

func (menuBar) hosted() bool { return true }

// end does nothing, because it would wait for the main thread, which may be waiting for this.
func (menuBar) end() {}
