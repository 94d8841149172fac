//go:build !desktop

package desktop

// newTray returns no tray: a program without its own window has no icon.
func newTray(*Lifecycle, []byte) tray { return noTray{} }

const trayFirst = false
