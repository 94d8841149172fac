// Package heap sets how often garbage is collected: more often while a very long answer is processed, less often in a
// short-lived process.
package heap

import (
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// percent is GOGC during a long answer.
const percent = 20

// allowance is how much memory a long answer may add before garbage is collected as often as needed, and returned to
// the system at once: the percentage alone is exceeded while other processes use the processors.
const allowance = 128 << 20

// restoreDelay is how long the settings stay after a long answer was processed: its text is then displayed or printed,
// which creates more copies.
const restoreDelay = 10 * time.Second

var tight struct {
	sync.Mutex
	n       int
	percent int    // the previous value
	limit   int64  // the previous value; 0: nothing was changed
	ballast []byte // of ForACommand; dropped for a long answer
}

// Tighten makes garbage collection more frequent until some time after release is called: encoding, storing and
// reading a long answer creates several copies in a row. release returns the memory to the system; it may be called
// once.
func Tighten() (release func()) {
	tight.Lock()
	defer tight.Unlock()
	if tight.n++; tight.limit == 0 {
		used := inUse() - int64(len(tight.ballast))
		tight.ballast = nil
		tight.percent = debug.SetGCPercent(percent)
		tight.limit = debug.SetMemoryLimit(used + allowance)
	}
	return loosen
}

func loosen() {
	tight.Lock()
	defer tight.Unlock()
	if tight.n--; tight.n == 0 {
		debug.FreeOSMemory()
		time.AfterFunc(restoreDelay, restore)
	}
}

// restore does nothing if another long answer is being processed, because it is called again after that.
func restore() {
	tight.Lock()
	defer tight.Unlock()
	if tight.n == 0 && tight.limit != 0 {
		debug.SetGCPercent(tight.percent)
		debug.SetMemoryLimit(tight.limit)
		tight.limit = 0
	}
}

// inUse returns the memory that counts toward the memory limit, in bytes.
func inUse() int64 {
	memory := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(memory)
	return int64(memory[0].Value.Uint64() - memory[1].Value.Uint64())
}
