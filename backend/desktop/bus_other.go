//go:build windows || darwin

package desktop

// leaveBus: these systems have no session bus.
func leaveBus() {}
