package jobs

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/librarian"
)

// Store is what the queue and its handlers need of the database.
type Store interface {
	ClaimJob(ctx context.Context, lease time.Duration, types ...chat.JobType) (chat.Job, bool, error)
	ClaimTurnJobs(ctx context.Context, lease time.Duration, turn chat.TurnID, types ...chat.JobType) (chat.Job, bool, error)
	FinishJob(context.Context, chat.Hold) error
	FailJob(ctx context.Context, h chat.Hold, msg string, retryAfter time.Duration) (chat.Job, error)
	PostponeJob(ctx context.Context, h chat.Hold, pause time.Duration) error
	RequeueMissing(context.Context) (int, error)
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	State(context.Context, chat.StateID) (chat.State, error)
	Pins(context.Context, chat.BranchID) ([]chat.Pin, error)
	PendingTurns(context.Context, chat.BranchID) ([]chat.Turn, error)
	StateTurnSeq(context.Context, chat.StateID) (int64, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
	Commit(context.Context, chat.Commit) (chat.State, error)
	Summaries(context.Context, chat.BranchID) ([]chat.RangeSummary, error)
	AddSummary(context.Context, chat.NewSummary) (chat.RangeSummary, error)
	PreviousManifest(ctx context.Context, branch chat.BranchID, beforeSeq int64) (json.RawMessage, chat.TurnID, error)
	TurnFiles(context.Context, chat.TurnID) ([]chat.FileText, error)
	Index(context.Context, chat.Indexing) error
	RequeueOlder(ctx context.Context, version, limit int) (int, error)
	Checkpoint(context.Context) error
	Snapshot(context.Context) (int, error)
}

// Vectors keep units findable by meaning.
type Vectors interface {
	// Vectors are those of the texts in every namespace that is kept up to date. An
	// error comes with what could be made all the same.
	Vectors(ctx context.Context, texts []string) (map[int64][][]float32, error)
	// Step does a part of what is missing; more is false when nothing is.
	Step(ctx context.Context) (more bool, err error)
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
	// Timeout is librarian.timeout_s; nil: its default.
	Timeout func() time.Duration
	// Commit is when pending turns become a state; nil: each at once.
	Commit func() CommitPolicy
	// Summarize finds the model that summarizes a turn's conversation; it answers
	// nil, and not a nil pointer, where there is none. nil: there never is one.
	Summarize func(context.Context, chat.Turn) librarian.Model
	// RangeTarget is how many tokens a range of so many should be compressed to;
	// nil: SPEC 16's defaults.
	RangeTarget func(ctx context.Context, branch chat.BranchID, tokens int) int
	// Plan is called after each commit and queues the range summaries that the
	// branch will need; nil: none are made.
	Plan func(context.Context, chat.BranchID)
	// Vectors of what is indexed; nil: it is found by words alone.
	Vectors Vectors
	// Chunking are the configured sizes of chunks; nil: the defaults.
	Chunking func() chunking.Options
	Clock    clock.Clock
	Log      *slog.Logger
}

// lease is how long a worker may hold a job before another takes it over. A run
// of the librarian takes at most three of its timeouts.
const lease = 5 * time.Minute

// idle is how often the queue is looked at when nobody woke the workers: jobs
// whose pause is over become due by themselves.
const idle = time.Second

// housekeeping is how often missing jobs are looked for and the log is checkpointed.
const housekeeping = 5 * time.Minute

// Runner works off the queue in the background.
type Runner struct {
	d Deps

	wake        [len(lanes)]chan struct{}
	wakeVectors chan struct{}
	mu          sync.Mutex
	cancel      context.CancelFunc
	done        sync.WaitGroup
}

// lanes are worked off side by side: a librarian that takes its time does not keep
// turns from becoming searchable. Vectors have a lane of their own, which is no queue.
var lanes = [...][]chat.JobType{
	{chat.JobSummarizeTurn, chat.JobSummarizeRange},
	{chat.JobIndexTurn},
}

const indexLane = 1

// NewRunner returns a runner that does nothing until Start or a direct call.
func NewRunner(d Deps) *Runner {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runner{d: d, wakeVectors: make(chan struct{}, 1)}
	for i := range r.wake {
		r.wake[i] = make(chan struct{}, 1)
	}
	return r
}

// Start begins background work. Starting twice is harmless.
func (r *Runner) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	for i := range lanes {
		r.done.Go(func() { r.loop(ctx, i) })
	}
	if r.d.Vectors != nil {
		r.done.Go(func() { r.tendVectors(ctx) })
	}
}

// Stop ends background work after the job at hand. Stopping twice is harmless.
func (r *Runner) Stop() {
	r.mu.Lock()
	cancel := r.cancel
	r.cancel = nil
	r.mu.Unlock()
	if cancel != nil {
		cancel()
		r.done.Wait()
	}
}

// Wake has the queue looked at now.
func (r *Runner) Wake() {
	for _, lane := range r.wake {
		select {
		case lane <- struct{}{}:
		default:
		}
	}
}

func (r *Runner) loop(ctx context.Context, lane int) {
	tick := time.NewTicker(idle)
	defer tick.Stop()
	keep := time.NewTicker(housekeeping)
	defer keep.Stop()
	look := lane == indexLane // for turns of an earlier version: at the start, and when keeping house
	for {
		_, err := r.drain(ctx, lanes[lane])
		if err == nil && look {
			_, err = r.renew(ctx)
			look = false
		}
		if err != nil && ctx.Err() == nil {
			r.d.Log.Error("the job queue could not be read", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake[lane]:
		case <-tick.C:
		case <-keep.C:
			if look = lane == indexLane; !look {
				r.keepHouse(ctx)
			}
		}
	}
}

func (r *Runner) keepHouse(ctx context.Context) {
	if _, err := r.d.Store.RequeueMissing(ctx); err != nil {
		r.d.Log.Warn("missing jobs could not be queued", "err", err)
	}
	r.snapshot(ctx)
	if err := r.d.Store.Checkpoint(ctx); err != nil {
		r.d.Log.Warn("the write-ahead log could not be checkpointed", "err", err)
	}
}

// snapshot takes the snapshots of ledgers that are due. Nothing waits for one: without
// it a replay begins earlier.
func (r *Runner) snapshot(ctx context.Context) {
	if _, err := r.d.Store.Snapshot(ctx); err != nil && ctx.Err() == nil {
		r.d.Log.Warn("a ledger has no new snapshot", "err", err)
	}
}

// Drain works off every job that is due now and returns how many it ran.
func (r *Runner) Drain(ctx context.Context) (int, error) {
	return r.drain(ctx, slices.Concat(lanes[:]...))
}

// CatchUp does all that Drain does, cuts anew what an earlier version cut, and makes
// the vectors that are missing: all background work there is.
func (r *Runner) CatchUp(ctx context.Context) (int, error) {
	n, err := r.Drain(ctx)
	if err != nil {
		return n, err
	}
	renewed, err := r.renew(ctx)
	if n += renewed; err != nil {
		return n, err
	}
	_, err = r.Reindex(ctx)
	r.snapshot(ctx)
	return n, err
}

func (r *Runner) drain(ctx context.Context, types []chat.JobType) (int, error) {
	n := 0
	for ctx.Err() == nil {
		job, ok, err := r.d.Store.ClaimJob(ctx, lease, types...)
		if err != nil || !ok {
			return n, err
		}
		n++
		_ = r.work(ctx, job, false) // recorded in the job
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
	return r.work(ctx, job, true)
}

// work runs one claimed job and records how it went. Forced: somebody waits for its
// effect, so that it does not wait for more turns.
func (r *Runner) work(ctx context.Context, job chat.Job, forced bool) error {
	err := r.handle(ctx, job, forced)
	if err != nil && ctx.Err() == nil {
		r.failed(ctx, job, err)
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeJobs, Session: job.SessionID})
	return err
}

func (r *Runner) handle(ctx context.Context, job chat.Job, forced bool) error {
	turn, err := r.d.Store.Turn(ctx, job.TurnID)
	if err != nil {
		return err
	}
	switch job.Type {
	case chat.JobSummarizeTurn:
		return r.summarize(ctx, job, turn, forced)
	case chat.JobSummarizeRange:
		return r.summarizeRange(ctx, job, turn)
	case chat.JobIndexTurn:
		return r.index(ctx, job, turn)
	}
	return chat.Errorf(chat.CodeInternal, "jobs.handle", "There is no worker for jobs of type %q.", job.Type)
}

func (r *Runner) failed(ctx context.Context, job chat.Job, cause error) {
	after, err := r.d.Store.FailJob(ctx, job.Hold(), chat.AsError(cause).Error(), backoff(job.Attempts))
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
