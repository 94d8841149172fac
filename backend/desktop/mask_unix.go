//go:build !windows

package desktop

import (
	"sync"
	"syscall"
)

// privateFiles restricts files created by this process and its children to the user, until the returned function is
// called.
func privateFiles() (restore func()) {
	before := syscall.Umask(0o077)
	return sync.OnceFunc(func() { syscall.Umask(before) })
}
