package jobs

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/librarian"
)

// Store is the part of the database that the handlers of jobs need.
type Store interface {
	Session(context.Context, chat.SessionID) (chat.Session, error)
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
}

// Queue stores the jobs.
type Queue interface {
	ClaimJob(ctx context.Context, lease time.Duration, types ...chat.JobType) (chat.Job, bool, error)
	ClaimTurnJobs(ctx context.Context, lease time.Duration, turn chat.TurnID, types ...chat.JobType) (chat.Job, bool, error)
	JobFor(context.Context, chat.TurnID, chat.JobType) (chat.Job, bool, error)
	FinishJob(context.Context, chat.Lease) error
	FailJob(ctx context.Context, h chat.Lease, why chat.Phrase, retryAfter time.Duration) (chat.Job, error)
	PostponeJob(ctx context.Context, h chat.Lease, pause time.Duration) error
	NextJob(ctx context.Context, types ...chat.JobType) (time.Duration, bool, error)
	RenewJob(ctx context.Context, h chat.Lease, lease time.Duration) error
	JitterJobs(ctx context.Context, within time.Duration) (int, error)
	RequeueOlder(ctx context.Context, version, limit int) (int, error)
	Jobs(context.Context, chat.JobQuery) ([]chat.Job, error)
}

// Vectors makes units searchable by similarity.
type Vectors interface {
	// Vectors returns the vectors of texts for every namespace that is kept up to date. On an error it still returns
	// those that could be created.
	Vectors(ctx context.Context, texts []chat.UnitText) (map[int64][][]float32, error)
	// Step creates some of the missing vectors; more is false when none are missing.
	Step(ctx context.Context) (more bool, err error)
}

// Publisher is notified when something shown in the window has changed.
type Publisher interface {
	Change(chat.Change)
}

// Counter counts tokens like the given model.
type Counter interface {
	Count(modelID, text string) int
}

// Deps are a Runner's dependencies.
type Deps struct {
	Queue   Queue
	Store   Store
	Publish Publisher
	Counter Counter
	// TargetTokens is librarian.target_tokens.
	TargetTokens func() int
	// Timeout is librarian.timeout_s; nil: its default.
	Timeout func() time.Duration
	// Commit says when pending turns become a state summary; nil: each at once.
	Commit func() CommitPolicy
	// Summarize returns the model that summarizes a turn's conversation, or nil (not a nil pointer). nil: there never
	// is one.
	Summarize func(context.Context, chat.Turn) librarian.Model
	// RangeTarget is the target size for a range with this many tokens; nil: SPEC 16's defaults.
	RangeTarget func(ctx context.Context, branch chat.BranchID, tokens int) int
	// PendingLimit is the size of pending turns, in tokens, from which a branch's next context has no room for more; 0:
	// unknown. nil: never known.
	PendingLimit func(context.Context, chat.BranchID) int
	// Plan is called after each commit and queues the range summaries that the branch will need; nil: none are created.
	Plan func(context.Context, chat.BranchID)
	// PlanAll queues summaries of all turns except the newest, although they still fit; nil: none are created.
	PlanAll func(context.Context, chat.BranchID)
	// SummaryStyle is summary.style; nil: librarian.StyleSections.
	SummaryStyle func() string
	// Chunks is how a model summarizes long chunks; zero: none does.
	Chunks Chunks
	// Vectors creates the vectors of indexed turns; nil: search by words only.
	Vectors Vectors
	// Chance is a random number in [0, 1) that varies pauses; nil: the runtime's.
	Chance func() float64
	// Clock is the wall clock, for detecting jumps; nil: the system's.
	Clock clock.Clock
	Log   *slog.Logger
}

// retryQueue is the pause after the queue could not be read, for example because the disk is full.
const retryQueue = 30 * time.Second

// Runner processes the queue in the background. When nothing is due, it sleeps until the next job is due or it is
// woken.
type Runner struct {
	d Deps

	wake        [len(lanes)]chan struct{}
	wakeVectors chan struct{}
	older       atomic.Bool // turns split by an older chunker have not been checked for yet
	paused      atomic.Bool
	chunksDone  atomic.Bool            // no long chunk waits for the librarian
	chunksSpent atomic.Pointer[string] // the day whose tokens for chunks were used up
	chunkRests  rests                  // the models that could not be reached
	jumps       clockJumps
	listener    listener

	mu     sync.Mutex
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// listener is notified of events that the reconciler reports. It is set before Start.
type listener struct {
	committed func([]chat.Turn)
	jobFailed func(chat.Job)
}

// lanes are processed concurrently: a slow librarian does not keep turns from becoming searchable. Vectors have their
// own lane, which is not a queue.
var lanes = [...][]chat.JobType{
	{chat.JobSummarizeTurn, chat.JobSummarizeRange, chat.JobSummarizeChunks},
	{chat.JobIndexTurn},
}

const (
	librarianLane = iota
	indexLane
)

// NewRunner returns a runner that is idle until Start or a direct call.
func NewRunner(d Deps) *Runner {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Chance == nil {
		d.Chance = rand.Float64
	}
	r := &Runner{d: d, wakeVectors: make(chan struct{}, 1)}
	r.listener = listener{committed: func([]chat.Turn) {}, jobFailed: func(chat.Job) {}}
	for i := range r.wake {
		r.wake[i] = make(chan struct{}, 1)
	}
	r.older.Store(true)
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
		r.done.Go(func() { r.vectorLoop(ctx) })
	}
}

// Stop ends background work: the current job is put back. Stopping twice is harmless.
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

// Pause stops background work after the current job, until Resume. Work that a caller requests is done anyway.
func (r *Runner) Pause() { r.paused.Store(true) }

// Resume continues after Pause.
func (r *Runner) Resume() {
	r.paused.Store(false)
	r.Wake()
	r.WakeVectors()
}

// Paused reports whether background work is paused.
func (r *Runner) Paused() bool { return r.paused.Load() }

// Wake makes the runner check the queue now.
func (r *Runner) Wake() {
	for _, lane := range r.wake {
		notify(lane)
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (r *Runner) loop(ctx context.Context, lane int) {
	for {
		var due <-chan time.Time
		var timer *time.Timer
		if wait, ok := r.workLane(ctx, lane); ok {
			timer = time.NewTimer(wait)
			due = timer.C
		}
		select {
		case <-ctx.Done():
		case <-r.wake[lane]:
		case <-due:
		}
		if timer != nil {
			timer.Stop()
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// workLane runs the jobs that are due in a lane, and returns when to check again; false: only when woken.
func (r *Runner) workLane(ctx context.Context, lane int) (time.Duration, bool) {
	if r.Paused() {
		return 0, false
	}
	r.handleClockJump(ctx)
	_, err := r.drain(ctx, lanes[lane], inBackground, r.Paused)
	if err == nil && lane == librarianLane {
		_, err = r.summaries(ctx, r.Paused)
	}
	if err == nil && lane == indexLane && r.older.Swap(false) {
		_, err = r.rechunk(ctx, r.Paused)
	}
	var wait time.Duration
	var ok bool
	if err == nil && !r.Paused() {
		wait, ok, err = r.d.Queue.NextJob(ctx, lanes[lane]...)
		if lane == librarianLane {
			if again, waits := r.chunksAgain(); waits && (!ok || again < wait) {
				wait, ok = again, true
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		r.d.Log.Error("the job queue could not be read", "err", err)
		return retryQueue, true
	}
	return wait, ok
}

// neverStop is the stop condition of requested work, which a pause does not stop.
func neverStop() bool { return false }

// Drain runs every job that is due now and returns how many.
func (r *Runner) Drain(ctx context.Context) (int, error) {
	return r.drain(ctx, slices.Concat(lanes[:]...), inBackground, neverStop)
}

// CatchUp does all background work: what Drain does, new chunks for turns that an older version split, summaries of long
// chunks, and missing vectors.
func (r *Runner) CatchUp(ctx context.Context) (int, error) {
	n, err := r.Drain(ctx)
	if err != nil {
		return n, err
	}
	rechunked, err := r.rechunk(ctx, neverStop)
	if n += rechunked; err != nil {
		return n, err
	}
	summarized, err := r.summaries(ctx, neverStop)
	if n += summarized; err != nil {
		return n, err
	}
	_, err = r.Reindex(ctx)
	return n, err
}

// drain runs the jobs that are due until stop returns true, and returns how many.
func (r *Runner) drain(ctx context.Context, types []chat.JobType, m mode, stop func() bool) (int, error) {
	n := 0
	for ctx.Err() == nil && !stop() {
		job, ok, err := r.d.Queue.ClaimJob(ctx, lease, types...)
		if err != nil || !ok {
			return n, err
		}
		n++
		_ = r.work(ctx, job, m) // recorded in the job
	}
	return n, nil
}

// Level is how far a turn's background work should go.
type Level string

const (
	LevelFinalized Level = "finalized"
	LevelCommitted Level = "committed"
	LevelIndexed   Level = "indexed"
)

// RunTurn does one turn's work up to a level now, and returns the turn. It waits for work that another worker has
// started. LevelIndexed includes turns that earlier runs of the program did not index.
func (r *Runner) RunTurn(ctx context.Context, id chat.TurnID, to Level) (chat.Turn, error) {
	types := map[Level][]chat.JobType{
		LevelCommitted: {chat.JobSummarizeTurn},
		LevelIndexed:   {chat.JobSummarizeTurn, chat.JobIndexTurn},
	}[to]
	for _, typ := range types {
		if err := r.runOne(ctx, id, typ, forced); err != nil {
			return chat.Turn{}, err
		}
	}
	turn, err := r.d.Store.Turn(ctx, id)
	if err == nil && to == LevelIndexed {
		err = r.indexLeftOver(ctx, turn.SessionID)
	}
	return turn, err
}

// indexLeftOver commits and indexes the other turns with unfinished jobs: all of the session, and those of other
// sessions that were written here and not imported. Only a failure in the session is an error for the caller.
func (r *Runner) indexLeftOver(ctx context.Context, session chat.SessionID) error {
	for _, typ := range []chat.JobType{chat.JobSummarizeTurn, chat.JobIndexTurn} {
		for _, state := range []chat.JobState{chat.JobQueued, chat.JobRunning} {
			unfinished, err := r.d.Queue.Jobs(ctx, chat.JobQuery{Type: typ, State: state})
			if err != nil {
				return err
			}
			for _, job := range slices.Backward(unfinished) { // listed newest first
				if job.SessionID != session && job.Priority < 0 {
					continue
				}
				if err := r.runOne(ctx, job.TurnID, typ, forced); err != nil && (job.SessionID == session || ctx.Err() != nil) {
					return err
				}
			}
		}
	}
	return nil
}

// RunDue runs the jobs that are due after a turn, for a caller that waits at most for a limit. A librarian model is
// asked for the turn's state, and its answer is awaited although it may take longer, because an interrupted call would
// have to be paid for again: until it has answered or failed, the turn stays pending (SRD 10.1). No model is asked for
// anything else. A job that ctx interrupts is put back. A started runner is only woken, because it runs the jobs in the
// background; a paused one does nothing.
func (r *Runner) RunDue(ctx context.Context, turn chat.Turn, limit time.Duration) error {
	switch {
	case r.started():
		r.Wake()
		return nil
	case r.Paused():
		return nil
	}
	types := []chat.JobType{chat.JobIndexTurn}
	if r.modelFor(ctx, turn) == nil {
		types = append(types, chat.JobSummarizeTurn, chat.JobSummarizeRange)
	} else if err := r.runOne(ctx, turn.ID, chat.JobSummarizeTurn, inBackground); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if _, err := r.drain(ctx, types, bounded, neverStop); err != nil {
		return err
	}
	return ctx.Err()
}

func (r *Runner) started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cancel != nil
}

// pollPause and maxPollPause are the first and the longest pause between checks whether another worker's job is done.
const (
	pollPause    = 10 * time.Millisecond
	maxPollPause = time.Second
)

func (r *Runner) runOne(ctx context.Context, id chat.TurnID, typ chat.JobType, m mode) error {
	refused := false
	for pause := pollPause; ; pause = min(2*pause, maxPollPause) {
		job, ok, err := r.d.Queue.JobFor(ctx, id, typ)
		if err != nil || !ok {
			return err
		}
		if job.State != chat.JobRunning {
			if refused { // it cannot be claimed, and no other worker has it
				return nil
			}
			job, ok, err := r.d.Queue.ClaimTurnJobs(ctx, lease, id, typ)
			if err != nil {
				return err
			}
			if ok {
				err = r.work(ctx, job, m)
				r.Wake() // if it failed, its retry has a time
				return err
			}
			refused = true
			continue
		}
		refused = false
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
