//go:build !faults

package faults

// Enabled reports whether this build has fault points.
const Enabled = false

// Point does nothing in this build.
func Point(string) error { return nil }

// Transaction does nothing in this build.
func Transaction(_, _ string) error { return nil }

// Skipped is false in this build: no safeguard can be turned off.
func Skipped(string) bool { return false }
