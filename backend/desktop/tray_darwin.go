//go:build desktop

package desktop

import "fyne.io/systray"

// trayFirst: the icon is made on the main thread, before the window has it.
const trayFirst = true

// menuBar is the right end of macOS' menu bar, which is always there. A click opens
// the menu, as it does for its neighbours.
type menuBar struct{}

func newPlace(i *icon) place {
	begin, _ := systray.RunWithExternalLoop(i.build, nil)
	begin()
	return menuBar{}
}

func (menuBar) hosted() bool { return true }

// end leaves it to the end of the process: it would wait for the main thread, which
// may be waiting for this.
func (menuBar) end() {}
