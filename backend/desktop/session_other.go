//go:build windows || darwin

package desktop

// joinSession: these systems end a session by closing windows and by signals.
func (l *life) joinSession() {}
