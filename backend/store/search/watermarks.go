package search

import "sync"

// watermarks remember, by namespace, up to which unit all had a vector: whoever
// fills a namespace would otherwise pass over all that is filled before each batch.
// They only say where to look first.
type watermarks struct {
	mu sync.Mutex
	by map[int64]int64
}

func (w *watermarks) upTo(ns int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.by[ns]
}

func (w *watermarks) put(ns, n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[int64]int64{}
	}
	w.by[ns] = n
}
