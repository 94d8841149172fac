//go:build !linux && !darwin

package documents

// limitProcess has nothing to set here.
func limitProcess() {}
