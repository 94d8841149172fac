package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/panics"
)

// Turns recovers open turns from their journals.
type Turns interface {
	// Recover resolves the open turns that no process works on any more.
	Recover(context.Context) (chat.RecoveryReport, error)
	// Running returns the turns that this program works on.
	Running() []chat.TurnID
	// Unsaved is the number of turns that this program left open because their end could not be saved.
	Unsaved() int
	// UnsavedAdded receives a signal when there is another unsaved turn.
	UnsavedAdded() <-chan struct{}
}

// MaintenanceStore is the part of the database that the reconciler needs.
type MaintenanceStore interface {
	RequeueMissing(context.Context) (int, error)
	Orphaned() int
	SweepFiles(context.Context) (int, error)
	PendingIDs(context.Context) ([]chat.TurnID, error)
	Jobs(context.Context, chat.JobQuery) ([]chat.Job, error)
	Snapshot(context.Context) (int, []chat.Finding, error)
	Changes(context.Context) (int64, error)
	LogBytes() int64
	CheckpointSome(context.Context) error
	CheckpointIdle(context.Context) error
	Setting(context.Context, string) (string, bool, error)
	PutSetting(ctx context.Context, key, value string) error
}

// ReconcilerDeps are a Reconciler's dependencies.
type ReconcilerDeps struct {
	Turns   Turns
	Store   MaintenanceStore
	Runner  *Runner
	Publish Publisher
	// Daily is the automatic backup. It is called about once an hour while no turn runs, and itself decides whether a
	// day has passed. nil: none. An error is added to a report.
	Daily func(context.Context) error
	Clock clock.Clock // nil: the system's
	Log   *slog.Logger
}

const (
	// checkInterval is how often the reconciler checks whether there is anything to do.
	checkInterval = 5 * time.Minute
	// A turn that could not be saved is retried at once, and then with pauses that double from minBackoff to
	// maxBackoff: the cause may be temporary, such as a lock or a full disk.
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
	// hourly is the interval of the work that depends only on the time.
	hourly = time.Hour
	// largeLog is the size from which the write-ahead log is checkpointed while a turn runs; a turn writes far less.
	largeLog = 16 << 20
)

// Reconciler repairs the effects of crashes and errors, and does periodic maintenance (SPEC 11; SRD 6.4, 6.5): at the
// start, on request, and on a timer. It is idempotent. It finds the work that the Runner does. It uses a single timer,
// and does nothing more while the data is unchanged since its last check.
type Reconciler struct {
	d       ReconcilerDeps
	wake    chan struct{}
	reports reports

	repairMu sync.Mutex // one repair at a time

	// Used by the timer only.
	changes  int64         // of the store, after the last check; -1: no check yet
	retryIn  time.Duration // the pause before the last try to save a turn; 0: no turn is unsaved
	hourlyAt time.Time     // time of the last hourly check

	mu      sync.Mutex
	waiting map[chat.TurnID]bool // pending at the start, to be reported when committed
	commits int                  // number of turns committed since the start
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// NewReconciler returns a reconciler that is idle until it is called or started. The runner notifies it of finished
// work; a runner has one reconciler.
func NewReconciler(d ReconcilerDeps) *Reconciler {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reconciler{d: d, wake: make(chan struct{}, 1), changes: -1, waiting: map[chat.TurnID]bool{}}
	d.Runner.listener = listener{committed: r.committed, jobFailed: r.jobFailed}
	return r
}

// Start starts the timer. Starting twice is harmless.
func (r *Reconciler) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.done.Go(func() { r.loop(ctx) })
}

// Stop stops the timer. Stopping twice is harmless.
func (r *Reconciler) Stop() {
	r.mu.Lock()
	cancel := r.cancel
	r.cancel = nil
	r.mu.Unlock()
	if cancel != nil {
		cancel()
		r.done.Wait()
	}
}

func (r *Reconciler) loop(ctx context.Context) {
	for {
		var pause time.Duration
		if r.Paused() {
			pause = r.tickPaused(ctx)
		} else {
			pause = r.check(ctx)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-r.d.Turns.UnsavedAdded():
			r.retryIn = 0
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// Reconcile resolves open turns and jobs, and returns everything that it found. Background work continues afterwards.
func (r *Reconciler) Reconcile(ctx context.Context) (chat.RecoveryReport, error) {
	since := time.Time{}
	if !r.reports.started() { // at the start, the findings of the previous run are not reported again
		since = r.reports.load(ctx, r.d.Store)
	}
	report, err := r.recoverOpen(ctx, since)
	if err != nil {
		return report, err
	}
	r.reports.add(ctx, r.d.Store, report)
	r.d.Runner.Wake()
	notify(r.wake)
	return report, nil
}

// CatchUp does all background work that is due and waits for it. It returns how many jobs it ran and how many turns
// were committed.
func (r *Reconciler) CatchUp(ctx context.Context) (ran, committed int, err error) {
	before := r.committedSoFar()
	ran, err = r.d.Runner.CatchUp(ctx)
	committed = r.committedSoFar() - before
	if err != nil {
		return ran, committed, err
	}
	r.repairMu.Lock()
	defer r.repairMu.Unlock()
	r.snapshot(ctx)
	r.reports.save(ctx, r.d.Store)
	return ran, committed, r.d.Store.CheckpointIdle(ctx)
}

// committedSoFar returns how many turns were committed since the program started.
func (r *Reconciler) committedSoFar() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commits
}

// check is one check of the timer, and returns when the next is due.
func (r *Reconciler) check(ctx context.Context) time.Duration {
	r.runGuarded(func() {
		r.d.Runner.handleClockJump(ctx)
		changes, err := r.d.Store.Changes(ctx)
		idle := err == nil && changes == r.changes && r.d.Turns.Unsaved() == 0
		now := r.d.Clock.Now()
		if since := now.Sub(r.hourlyAt); r.hourlyAt.IsZero() || since >= hourly || since < 0 {
			idle, r.hourlyAt = false, now
			r.daily(ctx)
		}
		if !idle {
			r.tick(ctx)
		}
	})
	return r.pause()
}

// pause is the time until the next check.
func (r *Reconciler) pause() time.Duration {
	if r.d.Turns.Unsaved() == 0 {
		r.retryIn = 0
		return checkInterval
	}
	r.retryIn = min(max(2*r.retryIn, minBackoff), maxBackoff)
	return r.retryIn
}

// runGuarded runs work of the timer; a panic ends that work but not the program.
func (r *Reconciler) runGuarded(work func()) {
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		r.d.Log.Error("the reconciler panicked", "err", d, "stack", string(stack))
	})
	work()
}

// tick does everything that may have become due through changes.
func (r *Reconciler) tick(ctx context.Context) {
	report, err := r.recoverOpen(ctx, r.reports.load(ctx, r.d.Store))
	if err != nil {
		if ctx.Err() == nil {
			r.d.Log.Warn("not everything could be repaired; this will be retried", "err", err)
		}
		return
	}
	if news := report.Since(r.reports.list()...); !news.Clean() {
		r.reports.add(ctx, r.d.Store, news)
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeRecovery})
	}
	r.d.Runner.Wake()
	r.d.Runner.WakeVectors()
	r.repairMu.Lock()
	defer r.repairMu.Unlock()
	r.snapshot(ctx)
	r.checkpoint(ctx)
	r.reports.save(ctx, r.d.Store)
	if n, err := r.d.Store.Changes(ctx); err == nil {
		r.changes = n
	}
}

// snapshot takes the snapshots that are due. They are optional: without one, a replay begins earlier. A damaged
// snapshot is skipped and reported.
func (r *Reconciler) snapshot(ctx context.Context) {
	_, ignored, err := r.d.Store.Snapshot(ctx)
	if err != nil && ctx.Err() == nil {
		r.d.Log.Warn("a snapshot of a ledger could not be taken", "err", err)
	}
	for _, f := range ignored {
		r.reportNew(chat.IgnoredSnapshot(f))
	}
}

// checkpoint keeps the write-ahead log small. While a turn runs, the writer is blocked only for a large log; otherwise
// the log is emptied once after changes.
func (r *Reconciler) checkpoint(ctx context.Context) {
	size := r.d.Store.LogBytes()
	var err error
	switch {
	case size == 0:
		return
	case len(r.d.Turns.Running()) == 0:
		err = r.d.Store.CheckpointIdle(ctx)
	case size >= largeLog:
		err = r.d.Store.CheckpointSome(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.d.Log.Warn("the write-ahead log could not be checkpointed", "err", err)
	}
}

func (r *Reconciler) daily(ctx context.Context) {
	if r.d.Daily == nil || len(r.d.Turns.Running()) > 0 {
		return
	}
	if err := r.d.Daily(ctx); err != nil && ctx.Err() == nil {
		r.d.Log.Warn("the daily work could not be done", "err", err)
		r.reportNew(chat.MissedDaily(err))
	}
}
