package tasks

import (
	"time"

	"contextinfinity/backend/internal/display"
)

// frameEvery is the shortest interval between progress updates in the window; saveEvery is the interval at which
// progress is stored.
const (
	frameEvery = 100 * time.Millisecond
	saveEvery  = 5 * time.Second
)

// Progress receives the progress of a task. Its methods wait neither for the window nor for the database, so they can
// be called inside a transaction.
type Progress struct {
	m *Manager
	w *work
}

// Count reports how much is done, of how much (0: unknown), and in which unit.
func (p *Progress) Count(done, total int64, unit string) {
	p.change(func(t *Task) { t.Done, t.Total, t.Unit = done, total, unit })
}

// Detail reports what the task is working on.
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
	m.background.Add(1)
	time.AfterFunc(max(0, frameEvery-time.Since(w.reported)), func() {
		defer m.background.Done()
		m.frame(w)
	})
}

// frame publishes the progress, and stores it now and then.
func (m *Manager) frame(w *work) {
	m.mu.Lock()
	w.due, w.reported = false, time.Now()
	ended := w.ended()
	save := !ended && w.reported.Sub(w.saved) >= saveEvery
	m.mu.Unlock()
	if ended {
		return
	}
	m.publish(w)
	if save {
		m.save(w)
	}
}
