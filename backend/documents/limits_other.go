//go:build !linux && !darwin

package documents

// limitProcess does nothing: these systems have no such limits.
func limitProcess() {}
