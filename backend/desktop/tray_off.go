//go:build !desktop

package desktop

// newTray: a program without a window of its own has no icon either.
func newTray(*life, []byte) tray { return noTray{} }

const trayFirst = false
