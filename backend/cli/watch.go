package cli

import (
	"sync"
	"time"
)

// watchEvery is the interval of updates; work that is done sooner is not shown.
const watchEvery = 500 * time.Millisecond

// progress is done of total (0: unknown), and additional text.
type progress struct {
	done, total int64
	more        string
}

// watch shows on a terminal, until it is stopped, that long work is in progress: with the progress from look or, if
// that is unknown, the elapsed time. Elsewhere it shows nothing. stop may be called twice; nothing else may be
// printed before it is called.
func (c *call) watch(what string, look func() progress) (stop func()) {
	if !c.note.terminal {
		return func() {}
	}
	begun, over, done := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		bar, tick := c.meter(what), time.NewTicker(watchEvery)
		defer bar.clear()
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case now := <-tick.C:
				p := progress{more: now.Sub(begun).Truncate(time.Second).String()}
				if look != nil {
					p = look()
				}
				bar.show(p.done, p.total, p.more)
			}
		}
	}()
	return sync.OnceFunc(func() { close(over); <-done })
}
