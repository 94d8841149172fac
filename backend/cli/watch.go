package cli

import (
	"sync"
	"time"
)

// watchEvery is the interval of updates; work that is done sooner is not shown.
const watchEvery = 500 * time.Millisecond

// progress is how much of the work is done, of total (0: unknown), and additional text.
type progress struct {
	done, total int64
	more        string
}

// watch shows on a terminal that long work is in progress, until stop is called: with the progress that current returns
// or, without current, with the elapsed time. Elsewhere it shows nothing. stop may be called twice; nothing else may be
// printed before it is called.
func (c *call) watch(label string, current func() progress) (stop func()) {
	if !c.note.terminal {
		return func() {}
	}
	started, stopped, done := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		bar, tick := c.meter(label), time.NewTicker(watchEvery)
		defer bar.clear()
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case now := <-tick.C:
				p := progress{more: now.Sub(started).Truncate(time.Second).String()}
				if current != nil {
					p = current()
				}
				bar.show(p.done, p.total, p.more)
			}
		}
	}()
	return sync.OnceFunc(func() { close(stopped); <-done })
}
