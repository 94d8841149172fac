//go:build desktop

package desktop

import "fyne.io/systray"

// trayFirst: the icon is created on the main thread, before the window uses it.
const trayFirst = true

// menuBar is the right end of macOS' menu bar, which always exists. A click opens the menu, like that of its
// neighbours.
type menuBar struct{}

func newPlace(i *icon) place {
	begin, _ := systray.RunWithExternalLoop(i.build, nil)
	begin()
	return menuBar{}
}

func (menuBar) hosted() bool { return true }

// end does nothing, because it would wait for the main thread, which may be waiting for this.
func (menuBar) end() {}
