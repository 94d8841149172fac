//go:build desktop

package desktop

import (
	goruntime "runtime"

	"fyne.io/systray"
)

const trayFirst = false

// taskbar is Windows' notification area, which always exists.
type taskbar struct{}

// newSystemTray runs the icon on its own thread: its hidden window gets messages only on the thread that created it.
func newSystemTray(i *icon) systemTray {
	go func() {
		goruntime.LockOSThread()
		systray.SetOnTapped(i.l.show)
		systray.Run(i.build, nil)
	}()
	return taskbar{}
}

func (taskbar) hosted() bool { return true }

// end removes the icon, which would otherwise stay until the mouse passes over it.
func (taskbar) end() { systray.Quit() }
