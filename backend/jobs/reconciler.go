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
	// Recover settles the turns that nothing works on any more.
	Recover(context.Context) (chat.RecoveryReport, error)
	// Running are the turns that this program works on.
	Running() []chat.TurnID
	// Unsaved is how many turns this program left open because it could not write
	// how they ended.
	Unsaved() int
	// UnsavedAdded receives when there is one more of them.
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

// ReconcilerDeps are what a Reconciler is built from.
type ReconcilerDeps struct {
	Turns   Turns
	Store   MaintenanceStore
	Runner  *Runner
	Publish Publisher
	// Daily is called about once an hour while no turn runs, and decides itself whether
	// a day is over: the automatic backup. nil: none. An error is reported in a report.
	Daily func(context.Context) error
	Clock clock.Clock // nil: the system's
	Log   *slog.Logger
}

const (
	// every is how often the reconciler looks whether there is anything to do.
	every = 5 * time.Minute
	// While a turn could not be written to the database it is tried again, at first at
	// once, then after pauses that double from soonest to soon: a lock or a fault may have
	// passed, the disk may have space again.
	minBackoff = time.Second
	soon       = 30 * time.Second
	// hourly is how often what depends on time alone is looked after.
	hourly = time.Hour
	// largeLog is from how many bytes on the write-ahead log is checkpointed beside a turn
	// that runs; a turn writes far less.
	largeLog = 16 << 20
)

// Reconciler puts in order what crashes, faults and time leave behind (SPEC 11; SRD 6.4,
// 6.5): at the start, when asked, and on a timer. Doing it again changes nothing. The
// work itself is the Runner's; this finds it. It sleeps on one timer, and while nothing
// was written since it last looked, it looks at nothing but that.
type Reconciler struct {
	d       ReconcilerDeps
	wake    chan struct{}
	reports reports

	settling sync.Mutex // one at a time

	// Of the timer alone.
	seen   int64         // Changes after it last looked; -1: it has not
	again  time.Duration // the pause before the last try to write a turn; 0: none is left
	tended time.Time     // when it did the hourly work

	mu      sync.Mutex
	waiting map[chat.TurnID]bool // pending at the start, to be told when they are committed
	commits int                  // turns committed since
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// NewReconciler returns a reconciler that does nothing until it is asked or started. It
// is notified by the runner of finished work; one runner has one.
func NewReconciler(d ReconcilerDeps) *Reconciler {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reconciler{d: d, wake: make(chan struct{}, 1), seen: -1, waiting: map[chat.TurnID]bool{}}
	d.Runner.listener = listener{committed: r.committed, dead: r.dead}
	return r
}

// Start begins to look after things on a timer. Starting twice is harmless.
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

// Stop ends that. Stopping twice is harmless.
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
		pause := every
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

// Reconcile settles what is open, now, and returns all that it found. Background work
// continues behind it.
func (r *Reconciler) Reconcile(ctx context.Context) (chat.RecoveryReport, error) {
	since := time.Time{}
	if !r.reports.begun() { // at the start, what the run before told is not told again
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

// CatchUp does all the background work that is due, for one who waits for it. It answers
// how many jobs it ran and how many turns became part of a state meanwhile.
func (r *Reconciler) CatchUp(ctx context.Context) (ran, committed int, err error) {
	before := r.sofar()
	ran, err = r.d.Runner.CatchUp(ctx)
	committed = r.sofar() - before
	if err != nil {
		return ran, committed, err
	}
	r.settling.Lock()
	defer r.settling.Unlock()
	r.snapshot(ctx)
	r.reports.keep(ctx, r.d.Store)
	return ran, committed, r.d.Store.CheckpointIdle(ctx)
}

// sofar is how many turns were committed since the program began.
func (r *Reconciler) sofar() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commits
}

// check is one look of the timer, and answers when the next is due.
func (r *Reconciler) check(ctx context.Context) time.Duration {
	r.guarded(func() {
		r.d.Runner.handleClockJump(ctx)
		changes, err := r.d.Store.Changes(ctx)
		idle := err == nil && changes == r.seen && r.d.Turns.Unsaved() == 0
		now := r.d.Clock.Now()
		if since := now.Sub(r.tended); r.tended.IsZero() || since >= hourly || since < 0 {
			idle, r.tended = false, now
			r.daily(ctx)
		}
		if !idle {
			r.tick(ctx)
		}
	})
	return r.pause()
}

// pause is how long until the next look.
func (r *Reconciler) pause() time.Duration {
	if r.d.Turns.Unsaved() == 0 {
		r.again = 0
		return every
	}
	r.again = min(max(2*r.again, minBackoff), soon)
	return r.again
}

// guarded does work of the timer; a defect in it ends that work and not the program.
func (r *Reconciler) guarded(work func()) {
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		r.d.Log.Error("the reconciler panicked", "err", d, "stack", string(stack))
	})
	work()
}

// tick does all that may have become due by what was written.
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

// snapshot takes the snapshots of ledgers that are due. Nothing waits for one: without
// it a replay begins earlier. One that is damaged is skipped, and told.
func (r *Reconciler) snapshot(ctx context.Context) {
	_, ignored, err := r.d.Store.Snapshot(ctx)
	if err != nil && ctx.Err() == nil {
		r.d.Log.Warn("a ledger has no new snapshot", "err", err)
	}
	for _, f := range ignored {
		r.tell(chat.IgnoredSnapshot(f))
	}
}

// checkpoint keeps the write-ahead log small. Beside a turn that runs only a large log
// is worth the writer's time; otherwise it is emptied, once for what was written.
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
		r.tell(chat.MissedDaily(err))
	}
}
