//go:build linux || darwin

package seal

import (
	"runtime"
	"sync"
	"syscall"
)

// noDumps turns off core dumps of this process and of those that it starts, the web view among them: a dump would have
// the key, and text. On Linux a limit of 1 also keeps the kernel from giving a dump to a program that collects them,
// which a limit of 0 does not. An error is ignored: the limit of the system is then lower.
var noDumps = sync.OnceFunc(func() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) != nil {
		return
	}
	if limit.Cur = 0; runtime.GOOS == "linux" {
		limit.Cur = 1
	}
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
})
