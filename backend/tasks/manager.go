package tasks

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/panics"
)

// Store stores small application state in the database.
type Store interface {
	Settings(ctx context.Context, prefix string) (map[string]string, error)
	PutSetting(ctx context.Context, key, value string) error
	DeleteSetting(ctx context.Context, key string) error
}

// Publisher is notified when a task changes.
type Publisher interface {
	Change(chat.Change)
}

// Deps are the dependencies of a Manager.
type Deps struct {
	Store   Store
	Publish Publisher
	Clock   clock.Clock // nil: the system's
	Log     *slog.Logger
}

const (
	prefix = "task." // of the settings that store tasks
	// atOnce is how many tasks run at a time.
	atOnce = 2
	// MaxOpen is how many tasks may be running or waiting.
	MaxOpen = 100
	// keptEnded is how many finished tasks are kept; successful ones are removed first.
	keptEnded = 50
)

// Causes of cancelling the context of the work.
var (
	errCancelled = chat.Errorf(chat.CodeCancelled, "task.cancel", "This was cancelled.")
	errClosing   = chat.Errorf(chat.CodeCancelled, "task.close", "The program is closing.")
)

// Manager runs tasks.
type Manager struct {
	d      Deps
	life   context.Context
	finish context.CancelCauseFunc
	saving sync.Mutex // serializes storing, so that the latest state is stored last

	mu         sync.Mutex
	tasks      map[string]*work
	resumers   map[Kind]Resumer
	closed     bool
	background sync.WaitGroup // running tasks and scheduled progress updates
}

// work is a task and its runtime state, guarded by the manager's mu.
type work struct {
	Task
	run      Run
	cancel   context.CancelCauseFunc // nil: not running
	finished chan struct{}           // closed when it has ended; nil: a task of an earlier run of the program
	gone     bool                    // removed from the list: its record is not written again

	due             bool // a progress update is scheduled
	reported, saved time.Time
}

func (w *work) ended() bool { return w.State != Running }

// New returns a manager with the tasks of earlier runs. Those that were running are marked as interrupted: only one
// process at a time has the data directory open.
func New(ctx context.Context, d Deps) (*Manager, error) {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{d: d, tasks: map[string]*work{}, resumers: map[Kind]Resumer{}}
	m.life, m.finish = context.WithCancelCause(context.WithoutCancel(ctx))
	stored, err := d.Store.Settings(ctx, prefix)
	if err != nil {
		return nil, err
	}
	for key, text := range stored {
		t, err := decode(text)
		if err != nil || prefix+t.ID != key {
			d.Log.Warn("a task of an earlier run cannot be read and is not shown", "key", key, "err", err)
			continue
		}
		w := &work{Task: t}
		m.tasks[t.ID] = w
		if !w.ended() {
			w.State, w.Detail, w.EndedAt = Interrupted, "", d.Clock.Now()
			m.save(w)
		}
	}
	m.prune()
	return m, nil
}

// SetResumer sets how tasks of a kind are resumed.
func (m *Manager) SetResumer(kind Kind, resumer Resumer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resumers[kind] = resumer
}

// Start starts a task, or queues it.
func (m *Manager) Start(spec Spec, run Run) (Task, error) {
	now := m.d.Clock.Now()
	w := &work{Task: Task{ID: chat.NewID(now), Spec: spec, State: Running, StartedAt: now}, run: run}
	return m.enter(w, "task.start", func() error { return nil })
}

// Resume resumes a task that was interrupted, cancelled or failed.
func (m *Manager) Resume(id string) (Task, error) {
	const op = "task.resume"
	m.mu.Lock()
	old, ok := m.tasks[id]
	var t Task
	var resumer Resumer
	if ok {
		t, resumer = old.Task, m.resumers[old.Kind]
	}
	m.mu.Unlock()
	switch {
	case !ok:
		return Task{}, notFound(op)
	case t.State == Running:
		return t, nil
	case !t.Resumable() || resumer == nil:
		return Task{}, chat.Errorf(chat.CodeConflict, op, "This task cannot be resumed.").WithHint("start it again")
	}
	run, err := resumer(t.Input)
	if err != nil {
		return Task{}, err
	}
	t = Task{ID: t.ID, Spec: t.Spec, State: Running, StartedAt: m.d.Clock.Now()}
	return m.enter(&work{Task: t, run: run}, op, func() error {
		if m.tasks[id] != old {
			return chat.Errorf(chat.CodeConflict, op, "This was resumed or dismissed in the meantime.")
		}
		return nil
	})
}

// enter adds a task, unless the program is closing, too many tasks are open, or check returns an error.
func (m *Manager) enter(w *work, op string, check func() error) (Task, error) {
	w.finished = make(chan struct{})
	m.mu.Lock()
	open := 0
	for _, other := range m.tasks {
		if !other.ended() {
			open++
		}
	}
	err := check()
	switch {
	case m.closed:
		err = errClosing
	case err == nil && open >= MaxOpen:
		err = chat.Errorf(chat.CodeBusy, op, "%d tasks are running or waiting; this one was not started.", open).
			WithHint("try again when some of them are done")
	}
	if err != nil {
		m.mu.Unlock()
		return Task{}, err
	}
	m.tasks[w.ID] = w
	entered := w.Task // a copy, because the task may end before this returns
	m.mu.Unlock()
	m.save(w) // before it starts, so that its end is stored later
	m.next()
	m.publish(w)
	m.mu.Lock()
	defer m.mu.Unlock()
	entered.Waiting = w.view().Waiting
	return entered, nil
}

// next starts the waiting tasks that can run, oldest first. Newer tasks do not overtake a task that must run alone,
// because it would never start.
func (m *Manager) next() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	var running, waiting []*work
	for _, w := range m.tasks {
		switch {
		case w.ended():
		case w.cancel != nil:
			running = append(running, w)
		default:
			waiting = append(waiting, w)
		}
	}
	slices.SortFunc(waiting, func(a, b *work) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	for _, w := range waiting {
		free := len(running) < atOnce && !slices.ContainsFunc(running, func(r *work) bool { return !canRunWith(w.Kind, r.Kind) })
		if free {
			running = append(running, w)
			m.begin(w)
		}
		if !free && (w.Kind == Restore || w.Kind == Move) {
			return
		}
	}
}

// begin starts a task. mu must be held.
func (m *Manager) begin(w *work) {
	ctx, cancel := context.WithCancelCause(m.life)
	w.cancel = cancel
	m.background.Go(func() {
		defer close(w.finished)
		result, err := m.runGuarded(ctx, w)
		m.end(w, result, err, context.Cause(ctx))
		cancel(nil)
		m.next()
	})
}

// runGuarded runs the work. A panic fails the task, not the program.
func (m *Manager) runGuarded(ctx context.Context, w *work) (result Result, err error) {
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		m.d.Log.Error("a task panicked", "kind", w.Kind, "err", d, "stack", string(stack))
		err = d
	})
	return w.run(ctx, &Progress{m, w})
}

// end records the end of a task. cause is the reason why its context was cancelled, if it was.
func (m *Manager) end(w *work, result Result, err, cause error) {
	stopped := err != nil && cause != nil && (errors.Is(err, context.Canceled) || errors.Is(err, cause) || chat.CodeOf(err) == chat.CodeCancelled)
	m.mu.Lock()
	switch {
	case err == nil:
		w.State = Done
	case stopped && errors.Is(cause, errClosing):
		w.State = Interrupted
	case stopped:
		w.State = Cancelled
	default:
		w.State, w.Error = Failed, chat.AsError(err)
		m.d.Log.Warn("a task failed", "kind", w.Kind, "err", err)
	}
	result.Path = cmp.Or(result.Path, w.Result.Path)
	// The detail is no longer needed, and could contain the title of a session that is deleted later.
	w.Detail, w.EndedAt, w.Result, w.cancel, w.run = "", m.d.Clock.Now(), result, nil, nil
	m.mu.Unlock()
	m.save(w)
	m.prune()
	m.publish(w)
}

// Close interrupts all tasks and waits until ctx ends: running ones stop at a consistent point, waiting ones do not
// start. Closing twice is harmless.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	var waiting []*work
	for _, w := range m.tasks {
		if !w.ended() && w.cancel == nil {
			waiting = append(waiting, w)
			w.State, w.EndedAt = Interrupted, m.d.Clock.Now()
			close(w.finished)
		}
	}
	m.mu.Unlock()
	m.finish(errClosing)
	for _, w := range waiting {
		m.save(w)
	}
	ended := make(chan struct{})
	go func() { m.background.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return chat.WrapError(chat.CodeTimeout, "task.close", ctx.Err(), "A task did not end in time; it is marked as interrupted at the next start.")
	}
}
