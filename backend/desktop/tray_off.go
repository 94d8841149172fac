//go:build !desktop

package desktop

// newTray: a program without its own window has no icon.
func newTray(*life, []byte) tray { return noTray{} }

const trayFirst = false
