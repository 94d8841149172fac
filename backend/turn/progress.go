package turn

import (
	"context"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// progressEvery is how often a running step's byte counters are stored: often enough for other readers of the
// database, without a transaction per delta.
const progressEvery = time.Second

// progressWriter stores a running step's byte counters while it streams (SRD 13.2). They are only informative: the
// journal has the text, and the step's end the final counters, so a failed write does no harm.
type progressWriter struct {
	stop, stopped chan struct{}
	once          sync.Once
}

// recordProgress starts storing what the emitter has shown.
func (e *Engine) recordProgress(step chat.StepID, em *emitter) *progressWriter {
	p := &progressWriter{stop: make(chan struct{}), stopped: make(chan struct{})}
	every := e.settings().ProgressEvery
	if every <= 0 {
		every = progressEvery
	}
	go p.loop(e, step, em, every)
	return p
}

func (p *progressWriter) loop(e *Engine, step chat.StepID, em *emitter, every time.Duration) {
	defer close(p.stopped)
	tick := time.NewTicker(every)
	defer tick.Stop()
	var stored chat.Frame
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
		f := em.counters()
		if f.Displayed == stored.Displayed && f.Durable == stored.Durable {
			continue
		}
		if err := e.turns.StepProgress(context.Background(), step, f.Displayed, f.Durable); err != nil {
			e.log.Debug("the progress of a stream could not be stored", "step", step, "err", err)
			continue
		}
		stored = f
	}
}

// end stops and waits, so that nothing is written after the step's end. It may be called twice, or without a start.
func (p *progressWriter) end() {
	if p == nil {
		return
	}
	p.once.Do(func() { close(p.stop) })
	<-p.stopped
}
