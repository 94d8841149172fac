// Package heap sets how often garbage is collected: more often while a very long answer is processed, less often in a
// short-lived process.
package heap

import (
	"runtime/debug"
	"sync"
)

// percent is GOGC during a long answer.
const percent = 20

var tight struct {
	sync.Mutex
	n       int
	before  int    // percent
	ballast []byte // of a command; a long answer makes it useless
}

// Tighten makes garbage collection more frequent until release is called: encoding, storing and reading a long answer
// creates several copies in a row. release returns the memory to the system; it may be called once.
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
