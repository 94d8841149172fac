package tasks

import (
	"time"

	"contextinfinity/backend/internal/display"
)

// frameEvery is how often progress is sent to the window at most; saveEvery is how
// often it is stored.
const (
	frameEvery = 100 * time.Millisecond
	saveEvery  = 5 * time.Second
)

// Progress gets from the work how far it is. It never waits, neither for the window
// nor for the database, so that it may be told from within a transaction.
type Progress struct {
	m *Manager
	w *work
}

// Count says how much is done, of how much (0: not known), in which unit.
func (p *Progress) Count(done, total int64, unit string) {
	p.change(func(t *Task) { t.Done, t.Total, t.Unit = done, total, unit })
}

// Detail says what the work is at.
func (p *Progress) Detail(text string) {
	text = display.Clip(text, maxDetail)
	p.change(func(t *Task) { t.Detail = text })
}

func (p *Progress) change(set func(*Task)) {
	m, w := p.m, p.w
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.ended() {
		return
	}
	set(&w.Task)
	if w.due || m.closed {
		return
	}
	w.due = true
	m.behind.Add(1)
	time.AfterFunc(max(0, frameEvery-time.Since(w.told)), func() {
		defer m.behind.Done()
		m.frame(w)
	})
}

// frame tells the window of progress, and stores it now and then.
func (m *Manager) frame(w *work) {
	m.mu.Lock()
	w.due, w.told = false, time.Now()
	over := w.ended()
	save := !over && w.told.Sub(w.saved) >= saveEvery
	m.mu.Unlock()
	if over {
		return
	}
	m.publish(w)
	if save {
		m.save(w)
	}
}
