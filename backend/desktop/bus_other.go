//go:build windows || darwin

package desktop

// leaveBus does nothing: these systems have no session bus.
func leaveBus() {}
