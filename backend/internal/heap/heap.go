// Package heap sets how often garbage is collected: more often while a very long answer is processed, less often in a
// short-lived process.
package heap

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// percent is GOGC during a long answer.
const percent = 20

// allowance is how much memory a long answer may add before garbage is collected as often as needed, and returned to
// the system at once: the percentage alone is exceeded while other processes use the processors.
const allowance = 128 << 20

var tight struct {
	sync.Mutex
	n       int
	before  int    // percent
	limit   int64  // the memory limit before; 0: it was not changed
	ballast []byte // of a command; a long answer makes it useless
	command bool   // the process ends after one command
}

// Tighten makes garbage collection more frequent until release is called: encoding, storing and reading a long answer
// creates several copies in a row. release returns the memory to the system; it may be called once. In the process of a
// command the settings stay, because it still has to print the answer.
func Tighten() (release func()) {
	tight.Lock()
	defer tight.Unlock()
	if tight.n++; tight.n == 1 && tight.limit == 0 {
		used := inUse() - int64(len(tight.ballast))
		tight.ballast = nil
		tight.before = debug.SetGCPercent(percent)
		tight.limit = debug.SetMemoryLimit(used + allowance)
	}
	return loosen
}

func loosen() {
	tight.Lock()
	defer tight.Unlock()
	if tight.n--; tight.n > 0 {
		return
	}
	if !tight.command {
		debug.SetGCPercent(tight.before)
		debug.SetMemoryLimit(tight.limit)
		tight.limit = 0
	}
	debug.FreeOSMemory()
}

// inUse is the memory that counts toward the memory limit, in bytes.
func inUse() int64 {
	total := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(total)
	return int64(total[0].Value.Uint64() - total[1].Value.Uint64())
}
