package cli

import (
	"sync"
	"time"
)

// watchEvery is how often a watch looks; work that is done before is not shown at all.
const watchEvery = 500 * time.Millisecond

// progress is how much of how much is done (0: not known), and what else is to be told.
type progress struct {
	done, total int64
	more        string
}

// watch shows on a terminal that long work continues, until it is stopped: how far it is by
// look, or where nobody can say, for how long. Elsewhere it shows nothing. stop may be
// called twice; nothing else may be printed before.
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
