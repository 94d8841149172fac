//go:build windows || darwin

package desktop

// joinSession does nothing: these systems end a session by closing windows and by signals.
func (l *Lifecycle) joinSession() {}
