// Package heap says how much garbage may gather: little while a very long answer is handled, more in a
// process that ends soon.
package heap

import (
	"runtime/debug"
	"sync"
)

// percent is how much garbage may gather meanwhile, as a share of what is in use.
const percent = 20

var tight struct {
	sync.Mutex
	n       int
	before  int    // percent
	ballast []byte // of a command; a long answer ends what it is for
}

// Tighten has memory that is no longer used taken back sooner, until release: a long
// answer is encoded, stored and read again, which makes several copies of it in a row.
// release gives the rest back to the system, and may be called once.
func Tighten() (release func()) {
	tight.Lock()
	defer tight.Unlock()
	if tight.n++; tight.n == 1 {
		tight.ballast = nil
		tight.before = debug.SetGCPercent(percent)
	}
	return loosen
}

func loosen() {
	tight.Lock()
	defer tight.Unlock()
	if tight.n--; tight.n == 0 {
		debug.SetGCPercent(tight.before)
		debug.FreeOSMemory()
	}
}
