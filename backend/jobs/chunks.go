package jobs

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// Chunks is what summaries of long chunks need.
type Chunks struct {
	Store  ChunkStore
	Policy func() ChunkPolicy
	// Model returns the model that summarizes the chunks of a turn, of which only the Provider and the Model may be set;
	// nil (not a nil pointer): none may read them.
	Model func(context.Context, chat.Turn) librarian.Model
}

// ChunkPolicy says whether the librarian summarizes long chunks, and how much it may use.
type ChunkPolicy struct {
	On          bool // librarian.chunk_summaries
	DailyTokens int  // librarian.chunk_summaries_daily_tokens
}

// ChunkStore is the part of the database that summaries of chunks need.
type ChunkStore interface {
	UnsummarizedModels(ctx context.Context, minTokens int) ([]chat.ProviderModel, error)
	QueueChunkSummaries(ctx context.Context, models []chat.ProviderModel, minTokens, limit int) (int, error)
	ChunksToSummarize(ctx context.Context, turn chat.TurnID, minTokens, limit int) ([]chat.ChunkText, error)
	SpendOnChunks(ctx context.Context, tokens, limit int) (bool, error)
	ChunkSummaries(ctx context.Context, models []chat.ProviderModel, minTokens int) (chat.ChunkSummaries, error)
	PutChunkSummary(context.Context, chat.ChunkSummary) error
}

const (
	// queuedTurns is how many turns with long chunks are queued at once: a failing model is asked about no others of its turns.
	queuedTurns = 8
	// chunksPerRun is how many chunks of a turn are summarized before other work of the lane gets its turn.
	chunksPerRun = 4
)

func (r *Runner) chunkPolicy() ChunkPolicy {
	if r.d.Chunks.Policy == nil {
		return ChunkPolicy{}
	}
	return r.d.Chunks.Policy()
}

// chunkModel is the model that summarizes the chunks of a model's turns; nil: none may.
func (r *Runner) chunkModel(ctx context.Context, turn chat.Turn) librarian.Model {
	if !r.chunkPolicy().On {
		return nil
	}
	return r.d.Chunks.Model(ctx, turn)
}

// ChunkProgress is how far the summaries of long chunks are, and the day's limit in tokens.
type ChunkProgress struct {
	chat.ChunkSummaries
	Limit int `json:"limit"`
}

// ChunkProgress returns how far the summaries of long chunks are; nil: they are off.
func (r *Runner) ChunkProgress(ctx context.Context) (*ChunkProgress, error) {
	policy := r.chunkPolicy()
	if !policy.On {
		return nil, nil
	}
	allowed, err := r.chunkModels(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.d.Chunks.Store.ChunkSummaries(ctx, allowed, librarian.MinChunk)
	return &ChunkProgress{found, policy.DailyTokens}, err
}

// WakeChunks makes the runner look for chunks without the librarian's summary now, because its settings have changed.
func (r *Runner) WakeChunks() {
	r.chunksSpent.Store(nil)
	r.chunkRests.clear()
	r.chunksDone.Store(false)
	notify(r.wake[librarianLane])
}

// summaries queues the librarian's work on long chunks and does it, one batch at a time, after all other work of the
// lane, until nothing is left, except for models that rest, or the day's tokens are used up. It returns how many jobs it
// ran.
func (r *Runner) summaries(ctx context.Context, stop func() bool) (int, error) {
	total := 0
	for ctx.Err() == nil && !stop() && r.chunkPolicy().On && !r.spentToday() && !r.chunksDone.Load() {
		queued, rest, err := r.queueChunks(ctx)
		if err != nil {
			return total, err
		}
		if queued == 0 {
			r.chunksDone.Store(!rest)
			return total, nil
		}
		done, err := r.drain(ctx, lanes[librarianLane], inBackground, stop)
		if total += done; err != nil || done == 0 {
			return total, err
		}
	}
	return total, nil
}

// chunkModels returns the models of turns with unsummarized chunks that a model may read.
func (r *Runner) chunkModels(ctx context.Context) ([]chat.ProviderModel, error) {
	models, err := r.d.Chunks.Store.UnsummarizedModels(ctx, librarian.MinChunk)
	return slices.DeleteFunc(models, func(m chat.ProviderModel) bool {
		return r.chunkModel(ctx, chat.Turn{Provider: m.Provider, Model: m.Model}) == nil
	}), err
}

// queueChunks queues the turns of those models whose provider may read them, and returns how many. rest: there are turns
// of models that rest, for later.
func (r *Runner) queueChunks(ctx context.Context) (queued int, rest bool, err error) {
	allowed, err := r.chunkModels(ctx)
	now := r.d.Clock.Now()
	awake := slices.DeleteFunc(slices.Clone(allowed), func(m chat.ProviderModel) bool { return r.chunkRests.left(m, now) > 0 })
	rest = len(awake) < len(allowed)
	if err != nil || len(awake) == 0 {
		return 0, rest, err
	}
	queued, err = r.d.Chunks.Store.QueueChunkSummaries(ctx, awake, librarian.MinChunk, queuedTurns)
	return queued, rest, err
}

// spentToday reports whether the tokens of this day were used up.
func (r *Runner) spentToday() bool {
	day := r.chunksSpent.Load()
	return day != nil && *day == r.d.Clock.Now().Local().Format(time.DateOnly)
}

// chunksAgain is the time until chunks that wait now can be summarized; false: none wait for a time.
func (r *Runner) chunksAgain() (time.Duration, bool) {
	switch {
	case !r.chunkPolicy().On:
		return 0, false
	case r.spentToday():
		return r.untilTomorrow(), true
	}
	return r.chunkRests.next(r.d.Clock.Now())
}

// untilTomorrow is the time until the next day's tokens.
func (r *Runner) untilTomorrow() time.Duration {
	now := r.d.Clock.Now().Local()
	return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 1, 0, now.Location()).Sub(now)
}

// summarizeChunks summarizes long chunks of a turn. With the option off, the day's tokens used up, or the model out of
// reach, there is nothing to do: the turn is queued again when there is.
func (r *Runner) summarizeChunks(ctx context.Context, job chat.Job, turn chat.Turn) error {
	model, of := r.chunkModel(ctx, turn), chat.ProviderModel{Provider: turn.Provider, Model: turn.Model}
	if model == nil || r.chunkRests.left(of, r.d.Clock.Now()) > 0 {
		return r.d.Queue.FinishJob(ctx, job.Lease())
	}
	chunks, err := r.d.Chunks.Store.ChunksToSummarize(ctx, turn.ID, librarian.MinChunk, chunksPerRun+1)
	if err != nil {
		return err
	}
	pins, err := r.d.Store.Pins(ctx, job.BranchID)
	if err != nil {
		return err
	}
	for _, c := range chunks[:min(len(chunks), chunksPerRun)] {
		err := r.summarizeChunk(ctx, job, c, pins, model)
		if errors.Is(err, librarian.ErrSpent) {
			r.chunksSpent.Store(new(r.d.Clock.Now().Local().Format(time.DateOnly)))
			return r.d.Queue.FinishJob(ctx, job.Lease())
		}
		if unreachable(err) && ctx.Err() == nil {
			pause := r.chunkRests.begin(of, r.d.Clock.Now())
			r.d.Log.Warn("the model that summarizes long passages could not be reached", "of", of.Model, "again_in", pause, "err", err)
			return r.d.Queue.FinishJob(ctx, job.Lease())
		}
		if err != nil {
			return err
		}
		r.chunkRests.end(of)
	}
	r.chunksDone.Store(false) // more may be queued now
	if len(chunks) > chunksPerRun {
		return r.d.Queue.PostponeJob(ctx, job.Lease(), 0)
	}
	return r.d.Queue.FinishJob(ctx, job.Lease())
}

// unreachable reports whether no server could be reached. Such a job has not failed, and keeps no other from its turn.
func unreachable(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Unreachable() bool
	}](err)
	return ok && e.Unreachable()
}

func (r *Runner) summarizeChunk(ctx context.Context, job chat.Job, c chat.ChunkText, pins []chat.Pin, model librarian.Model) error {
	var sum librarian.ChunkSummary
	if c.Text != "" {
		var err error
		sum, err = r.librarian().SummarizeChunk(ctx, librarian.Chunk{
			Text: c.Text, Role: c.Role, Pins: pins, Model: model, Count: r.count,
			Spend: func(tokens int) (bool, error) {
				return r.d.Chunks.Store.SpendOnChunks(context.WithoutCancel(ctx), tokens, r.chunkPolicy().DailyTokens)
			},
			Settle: func(tokens int) error {
				_, err := r.d.Chunks.Store.SpendOnChunks(context.WithoutCancel(ctx), tokens, math.MaxInt)
				return err
			},
		})
		if err != nil {
			return err
		}
	}
	return r.d.Chunks.Store.PutChunkSummary(ctx, chat.ChunkSummary{
		Chunk: c.ID, Text: sum.Text, GeneratedBy: model.Name(), Validation: sum.Validation, Job: job.Lease(),
	})
}
