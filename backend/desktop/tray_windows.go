//go:build desktop

package desktop

import (
	goruntime "runtime"

	"fyne.io/systray"
)

const trayFirst = false

// taskbar is Windows' notification area, which is always there.
type taskbar struct{}

// newPlace runs the icon on a thread of its own: its hidden window gets messages only
// on the thread that made it.
func newPlace(i *icon) place {
	go func() {
		goruntime.LockOSThread()
		systray.SetOnTapped(i.l.show)
		systray.Run(i.build, nil)
	}()
	return taskbar{}
}

func (taskbar) hosted() bool { return true }

// end takes the icon away, which would else stay until the mouse passes over it.
func (taskbar) end() { systray.Quit() }
