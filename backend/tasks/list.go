package tasks

import (
	"cmp"
	"context"
	"slices"
	"time"

	"contextinfinity/backend/chat"
)

func notFound(op string) error {
	return chat.Errorf(chat.CodeNotFound, op, "There is no such task; it was dismissed.")
}

// List returns the tasks that are running, waiting, or finished and not dismissed, newest first.
func (m *Manager) List() []Task {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Task, 0, len(m.tasks))
	for _, w := range m.tasks {
		out = append(out, w.view())
	}
	slices.SortFunc(out, func(a, b Task) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID, a.ID))
	})
	return out
}

// view returns the current state of the task. The manager's mu must be held.
func (w *work) view() Task {
	t := w.Task
	t.Waiting = !w.ended() && w.cancel == nil
	return t
}

// Open counts the running and the waiting tasks.
func (m *Manager) Open() (running, waiting int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.tasks {
		switch {
		case w.ended():
		case w.cancel != nil:
			running++
		default:
			waiting++
		}
	}
	return running, waiting
}

// Wait waits until a task has ended and returns it.
func (m *Manager) Wait(ctx context.Context, id string) (Task, error) {
	m.mu.Lock()
	w, ok := m.tasks[id]
	m.mu.Unlock()
	if !ok {
		return Task{}, notFound("task.wait")
	}
	if w.finished != nil {
		select {
		case <-w.finished:
		case <-ctx.Done():
			return Task{}, context.Cause(ctx)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return w.view(), nil
}

// Cancel cancels a task; the work stops at a consistent point. For a finished task, it does nothing.
func (m *Manager) Cancel(id string) error {
	m.mu.Lock()
	w, ok := m.tasks[id]
	if !ok {
		m.mu.Unlock()
		return notFound("task.cancel")
	}
	waiting := !w.ended() && w.cancel == nil
	if !waiting && !w.ended() && w.Firm {
		m.mu.Unlock()
		return chat.Errorf(chat.CodeConflict, "task.cancel", "The program is about to restart for this; it can no longer be cancelled.").
			WithHint("it is done completely or not at all, and the next start reports the result")
	}
	switch {
	case waiting:
		w.State, w.EndedAt, w.run = Cancelled, m.d.Clock.Now(), nil
		close(w.finished)
	case !w.ended():
		w.cancel(errCancelled)
	}
	m.mu.Unlock()
	if waiting {
		m.save(w)
		m.prune()
		m.publish(w)
		m.next() // a task may have waited for this one
	}
	return nil
}

// Dismiss removes a task that has ended.
func (m *Manager) Dismiss(id string) error {
	const op = "task.dismiss"
	m.mu.Lock()
	w, ok := m.tasks[id]
	if ok && !w.ended() {
		m.mu.Unlock()
		return chat.Errorf(chat.CodeBusy, op, "This is still running.").WithHint("cancel it first")
	}
	if ok {
		delete(m.tasks, id)
		w.gone = true
	}
	m.mu.Unlock()
	if !ok {
		return nil
	}
	err := m.drop(w)
	m.publish(w)
	return err
}

// Forget cancels all tasks about a session, waits for them and removes them from the list, as well as finished tasks
// whose record mentions the session. It is called before the session is deleted permanently: titles and file names are
// part of its content. The records stay until the deletion removes them and counts them in its receipt.
func (m *Manager) Forget(ctx context.Context, session chat.SessionID, mentioned func(record string) bool) error {
	m.mu.Lock()
	var affected []*work
	for _, w := range m.tasks {
		if text, err := encode(w.Task); session != "" && w.Session == session || w.ended() && (err != nil || mentioned(text)) {
			affected = append(affected, w)
		}
	}
	m.mu.Unlock()
	for _, w := range affected {
		if err := m.Cancel(w.ID); err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
		if _, err := m.Wait(ctx, w.ID); err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
		m.release(w)
	}
	return nil
}

// release removes a finished task from the list. Its record is not written again.
func (m *Manager) release(w *work) {
	m.saving.Lock() // waits until a record that is being written is stored
	m.mu.Lock()
	delete(m.tasks, w.ID)
	w.gone = true
	m.mu.Unlock()
	m.saving.Unlock()
	m.publish(w)
}

// prune removes the finished tasks over the limit: the oldest successful ones first, then the oldest others.
func (m *Manager) prune() {
	m.mu.Lock()
	var ended []*work
	for _, w := range m.tasks {
		if w.ended() {
			ended = append(ended, w)
		}
	}
	slices.SortFunc(ended, func(a, b *work) int {
		if aDone, bDone := a.State == Done, b.State == Done; aDone != bDone {
			if aDone {
				return -1
			}
			return 1
		}
		return cmp.Or(a.EndedAt.Compare(b.EndedAt), cmp.Compare(a.ID, b.ID))
	})
	ended = ended[:max(0, len(ended)-keptEnded)]
	for _, w := range ended {
		delete(m.tasks, w.ID)
		w.gone = true
	}
	m.mu.Unlock()
	for _, w := range ended {
		if err := m.drop(w); err != nil {
			m.d.Log.Warn("an old task could not be removed", "err", err)
		}
	}
}

// save stores the current state of a task.
func (m *Manager) save(w *work) {
	m.saving.Lock()
	defer m.saving.Unlock()
	m.mu.Lock()
	t, gone := w.Task, w.gone
	w.saved = time.Now()
	m.mu.Unlock()
	if gone {
		return
	}
	text, err := encode(t)
	if err == nil {
		err = m.d.Store.PutSetting(context.WithoutCancel(m.life), prefix+t.ID, text)
	}
	if err != nil {
		m.d.Log.Warn("a task could not be stored; the work continues", "kind", t.Kind, "state", t.State, "err", err)
	}
}

func (m *Manager) drop(w *work) error {
	m.saving.Lock()
	defer m.saving.Unlock()
	return m.d.Store.DeleteSetting(context.WithoutCancel(m.life), prefix+w.ID)
}

func (m *Manager) publish(w *work) {
	m.d.Publish.Change(chat.Change{Kind: chat.ChangeTask, ID: w.ID})
}
