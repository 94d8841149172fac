package search

import "sync"

// watermarks remember, by namespace, up to which unit all have a vector, so that filling a namespace need not skip
// all filled units before each batch. They are only hints where to start.
type watermarks struct {
	mu   sync.Mutex
	last map[int64]int64
}

func (w *watermarks) upTo(ns int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[ns]
}

func (w *watermarks) put(ns, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[int64]int64{}
	}
	w.last[ns] = n
}
