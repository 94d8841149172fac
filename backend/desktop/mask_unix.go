//go:build !windows

package desktop

import (
	"sync"
	"syscall"
)

// privateFiles makes what this process and those it starts create from now on the
// user's alone, until the function that it returns is called.
func privateFiles() (restore func()) {
	before := syscall.Umask(0o077)
	return sync.OnceFunc(func() { syscall.Umask(before) })
}
