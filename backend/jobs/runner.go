package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
)

// Store is what the queue and its handlers need of the database.
type Store interface {
	ClaimJob(ctx context.Context, lease time.Duration, types ...chat.JobType) (chat.Job, bool, error)
	ClaimTurnJobs(ctx context.Context, lease time.Duration, turn chat.TurnID, types ...chat.JobType) (chat.Job, bool, error)
	FinishJob(context.Context, int64) error
	FailJob(ctx context.Context, id int64, msg string, retryAfter time.Duration) (chat.Job, error)
	RetryJob(context.Context, int64) error
	JobFor(context.Context, chat.TurnID, chat.JobType) (chat.Job, bool, error)
	RequeueMissing(context.Context) (int, error)
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	State(context.Context, chat.StateID) (chat.State, error)
	Pins(context.Context, chat.BranchID) ([]chat.Pin, error)
	PendingTurns(context.Context, chat.BranchID) ([]chat.Turn, error)
	Commit(context.Context, chat.Commit) (chat.State, error)
	Index(context.Context, chat.Indexing) error
	Checkpoint(context.Context) error
}

// Publisher is told when something the window shows has changed.
type Publisher interface {
	Change(chat.Change)
}

// Counter counts tokens as the given model would.
type Counter interface {
	Count(modelID, text string) int
}

// Deps are what a Runner is built from.
type Deps struct {
	Store   Store
	Publish Publisher
	Counter Counter
	// TargetTokens is librarian.target_tokens.
	TargetTokens func() int
	Clock        clock.Clock
	Log          *slog.Logger
}

// lease is how long a worker may hold a job before another takes it over.
const lease = 2 * time.Minute

// idle is how often the queue is looked at when nobody woke the workers: jobs
// whose pause is over become due by themselves.
const idle = time.Second

// housekeeping is how often missing jobs are looked for and the log is checkpointed.
const housekeeping = 5 * time.Minute

// Runner works off the queue in the background.
type Runner struct {
	d Deps

	wake   chan struct{}
	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{}
}

// NewRunner returns a runner that does nothing until Start or a direct call.
func NewRunner(d Deps) *Runner {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{d: d, wake: make(chan struct{}, 1)}
}

// Start begins background work. Starting twice is harmless.
func (r *Runner) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.done = cancel, make(chan struct{})
	go r.loop(ctx, r.done)
}

// Stop ends background work after the job at hand. Stopping twice is harmless.
func (r *Runner) Stop() {
	r.mu.Lock()
	cancel, done := r.cancel, r.done
	r.cancel = nil
	r.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}

// Wake has the queue looked at now.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *Runner) loop(ctx context.Context, done chan struct{}) {
	defer close(done)
	tick := time.NewTicker(idle)
	defer tick.Stop()
	keep := time.NewTicker(housekeeping)
	defer keep.Stop()
	for {
		if _, err := r.Drain(ctx); err != nil && ctx.Err() == nil {
			r.d.Log.Error("the job queue could not be read", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-tick.C:
		case <-keep.C:
			r.keepHouse(ctx)
		}
	}
}

func (r *Runner) keepHouse(ctx context.Context) {
	if _, err := r.d.Store.RequeueMissing(ctx); err != nil {
		r.d.Log.Warn("missing jobs could not be queued", "err", err)
	}
	if err := r.d.Store.Checkpoint(ctx); err != nil {
		r.d.Log.Warn("the write-ahead log could not be checkpointed", "err", err)
	}
}

// Drain works off every job that is due now and returns how many it ran.
func (r *Runner) Drain(ctx context.Context) (int, error) {
	n := 0
	for ctx.Err() == nil {
		job, ok, err := r.d.Store.ClaimJob(ctx, lease, chat.JobSummarizeTurn, chat.JobIndexTurn)
		if err != nil || !ok {
			return n, err
		}
		n++
		_ = r.work(ctx, job) // recorded in the job
	}
	return n, nil
}

// Level is how far a turn's background work is to go.
type Level string

const (
	LevelFinalized Level = "finalized"
	LevelCommitted Level = "committed"
	LevelIndexed   Level = "indexed"
)

// RunTurn does one turn's work up to a level, now, and returns the turn.
func (r *Runner) RunTurn(ctx context.Context, id chat.TurnID, to Level) (chat.Turn, error) {
	types := map[Level][]chat.JobType{
		LevelCommitted: {chat.JobSummarizeTurn},
		LevelIndexed:   {chat.JobSummarizeTurn, chat.JobIndexTurn},
	}[to]
	for _, typ := range types {
		if err := r.runOne(ctx, id, typ); err != nil {
			return chat.Turn{}, err
		}
	}
	return r.d.Store.Turn(ctx, id)
}

func (r *Runner) runOne(ctx context.Context, id chat.TurnID, typ chat.JobType) error {
	job, ok, err := r.d.Store.ClaimTurnJobs(ctx, lease, id, typ)
	if err != nil || !ok {
		return err
	}
	return r.work(ctx, job)
}

// CommitPending forces the pending turns of a branch into its state, in order,
// and returns how many were committed.
func (r *Runner) CommitPending(ctx context.Context, branch chat.BranchID) (int, error) {
	pending, err := r.d.Store.PendingTurns(ctx, branch)
	if err != nil || len(pending) == 0 {
		return 0, err
	}
	last := pending[len(pending)-1]
	if err := r.commitThrough(ctx, last, 0); err != nil {
		return 0, err
	}
	r.Wake()
	return len(pending), nil
}

// work runs one claimed job and records how it went.
func (r *Runner) work(ctx context.Context, job chat.Job) error {
	err := r.handle(ctx, job)
	if err != nil && ctx.Err() == nil {
		r.failed(ctx, job, err)
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeJobs, Session: job.SessionID})
	return err
}

func (r *Runner) handle(ctx context.Context, job chat.Job) error {
	turn, err := r.d.Store.Turn(ctx, job.TurnID)
	if err != nil {
		return err
	}
	switch job.Type {
	case chat.JobSummarizeTurn:
		return r.summarize(ctx, job, turn)
	case chat.JobIndexTurn:
		return r.index(ctx, job, turn)
	}
	return chat.Errorf(chat.CodeInternal, "jobs.handle", "There is no worker for jobs of type %q.", job.Type)
}

func (r *Runner) failed(ctx context.Context, job chat.Job, cause error) {
	after, err := r.d.Store.FailJob(ctx, job.ID, chat.AsError(cause).Error(), backoff(job.Attempts))
	if err != nil {
		r.d.Log.Error("a failed job could not be recorded", "job", job.ID, "err", err)
		return
	}
	r.d.Log.Warn("a job failed", "job", job.ID, "type", job.Type, "attempts", after.Attempts, "state", after.State, "err", cause)
	if after.State == chat.JobDead && job.Type == chat.JobIndexTurn {
		r.degrade(ctx, job)
	}
}

// backoff doubles from a second to five minutes.
func backoff(attempts int) time.Duration {
	return min(time.Second<<min(max(0, attempts-1), 20), 5*time.Minute)
}
