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

// Turns are settled from their journals.
type Turns interface {
	// Recover settles the turns that no process works on any more.
	Recover(context.Context) (chat.RecoveryReport, error)
	// Running are the turns that this program works on.
	Running() []chat.TurnID
	// Unsaved is the number of turns that this program left open because their end could not be saved.
	Unsaved() int
	// UnsavedAdded signals another one.
	UnsavedAdded() <-chan struct{}
}

// MaintenanceStore is what the reconciler needs of the database.
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
	// Daily is called about once an hour while no turn runs, and decides itself whether a day is over: the automatic
	// backup. nil: none. An error is added to a report.
	Daily func(context.Context) error
	Clock clock.Clock // nil: the system's
	Log   *slog.Logger
}

const (
	// every is how often the reconciler checks whether there is anything to do.
	every = 5 * time.Minute
	// A turn that could not be saved is retried at once, and then with pauses that double from minBackoff: a lock or
	// an error may pass, or space may become free.
	minBackoff = time.Second
	soon       = 30 * time.Second
	// hourly is the interval of the work that depends only on the time.
	hourly = time.Hour
	// largeLog is the size from which the write-ahead log is checkpointed while a turn runs; a turn writes far less.
	largeLog = 16 << 20
)

// Reconciler repairs what crashes, errors and time leave behind (SPEC 11; SRD 6.4, 6.5): at the start, on request,
// and on a timer. It is idempotent. It finds the work that the Runner does. It uses a single timer, and checks
// nothing else while the data is unchanged since its last check.
type Reconciler struct {
	d       ReconcilerDeps
	wake    chan struct{}
	reports reports

	settling sync.Mutex // one at a time

	// Used by the timer only.
	seen     int64         // Changes after the last check; -1: none yet
	again    time.Duration // the pause before the last try to save a turn; 0: none is left
	hourlyAt time.Time     // time of the last hourly check

	mu      sync.Mutex
	waiting map[chat.TurnID]bool // pending at the start, to be reported when committed
	commits int                  // turns committed since
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// NewReconciler returns a reconciler that is idle until it is called or started. The runner notifies it of finished
// work; a runner has one reconciler.
func NewReconciler(d ReconcilerDeps) *Reconciler {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reconciler{d: d, wake: make(chan struct{}, 1), seen: -1, waiting: map[chat.TurnID]bool{}}
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

// Stop stops it. Stopping twice is harmless.
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
			pause = r.whilePaused(ctx)
		} else {
			pause = r.check(ctx)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-r.d.Turns.UnsavedAdded():
			r.again = 0
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// Reconcile settles what is open, and returns everything it found. Background work continues afterwards.
func (r *Reconciler) Reconcile(ctx context.Context) (chat.RecoveryReport, error) {
	since := time.Time{}
	if !r.reports.begun() { // at the start, what the previous run reported is not reported again
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
	r.settling.Lock()
	defer r.settling.Unlock()
	r.snapshot(ctx)
	r.reports.keep(ctx, r.d.Store)
	return ran, committed, r.d.Store.CheckpointIdle(ctx)
}

// committedSoFar is how many turns were committed since the program started.
func (r *Reconciler) committedSoFar() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commits
}

// check is one check of the timer, and returns when the next is due.
func (r *Reconciler) check(ctx context.Context) time.Duration {
	r.guarded(func() {
		r.d.Runner.handleClockJump(ctx)
		changes, err := r.d.Store.Changes(ctx)
		idle := err == nil && changes == r.seen && r.d.Turns.Unsaved() == 0
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
		r.again = 0
		return every
	}
	r.again = min(max(2*r.again, minBackoff), soon)
	return r.again
}

// guarded runs work of the timer; a panic ends that work but not the program.
func (r *Reconciler) guarded(work func()) {
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
			r.d.Log.Warn("not everything could be repaired; it is tried again", "err", err)
		}
		return
	}
	if news := report.Since(r.reports.list()...); !news.Clean() {
		r.reports.add(ctx, r.d.Store, news)
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeRecovery})
	}
	r.d.Runner.Wake()
	r.d.Runner.WakeVectors()
	r.settling.Lock()
	defer r.settling.Unlock()
	r.snapshot(ctx)
	r.checkpoint(ctx)
	r.reports.keep(ctx, r.d.Store)
	if n, err := r.d.Store.Changes(ctx); err == nil {
		r.seen = n
	}
}

// snapshot takes the snapshots that are due. Nothing depends on one: without it a replay begins earlier. A damaged
// one is skipped and reported.
func (r *Reconciler) snapshot(ctx context.Context) {
	_, ignored, err := r.d.Store.Snapshot(ctx)
	if err != nil && ctx.Err() == nil {
		r.d.Log.Warn("a ledger has no new snapshot", "err", err)
	}
	for _, f := range ignored {
		r.reportNew(chat.IgnoredSnapshot(f))
	}
}

// checkpoint keeps the write-ahead log small. While a turn runs, only a large log is worth blocking the writer;
// otherwise it is emptied once after changes.
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
