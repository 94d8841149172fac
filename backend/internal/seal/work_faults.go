//go:build faults

package seal

// The build for tests makes what a passphrase opens cheap to open, by any build: the file says how much work it takes.
func init() { Work = 10 }
