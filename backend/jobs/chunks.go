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
	// queuedTurns is how many turns with long chunks are queued at once: a failing model is asked about no others.
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
	r.chunksDone.Store(false)
	notify(r.wake[librarianLane])
}

// summaries queues the librarian's work on long chunks and does it, one batch at a time, after all other work of the
// lane, until nothing is left or the day's tokens are used up. It returns how many jobs it ran.
func (r *Runner) summaries(ctx context.Context, stop func() bool) (int, error) {
	total := 0
	for ctx.Err() == nil && !stop() && r.chunkPolicy().On && !r.spentToday() && !r.chunksDone.Load() {
		queued, err := r.queueChunks(ctx)
		if err != nil {
			return total, err
		}
		if queued == 0 {
			r.chunksDone.Store(true)
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

// queueChunks queues the turns of those models whose provider may read them.
func (r *Runner) queueChunks(ctx context.Context) (int, error) {
	allowed, err := r.chunkModels(ctx)
	if err != nil || len(allowed) == 0 {
		return 0, err
	}
	return r.d.Chunks.Store.QueueChunkSummaries(ctx, allowed, librarian.MinChunk, queuedTurns)
}

// spentToday reports whether the tokens of this day were used up.
func (r *Runner) spentToday() bool {
	day := r.chunksSpent.Load()
	return day != nil && *day == r.d.Clock.Now().Local().Format(time.DateOnly)
}

// untilTomorrow is the time until the next day's tokens.
func (r *Runner) untilTomorrow() time.Duration {
	now := r.d.Clock.Now().Local()
	return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 1, 0, now.Location()).Sub(now)
}

// summarizeChunks summarizes long chunks of a turn. With the option off, or the day's tokens used up, there is nothing to
// do: the turn is queued again when there is.
func (r *Runner) summarizeChunks(ctx context.Context, job chat.Job, turn chat.Turn) error {
	model := r.chunkModel(ctx, turn)
	if model == nil {
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
		if err != nil {
			return err
		}
	}
	r.chunksDone.Store(false) // more may be queued now
	if len(chunks) > chunksPerRun {
		return r.d.Queue.PostponeJob(ctx, job.Lease(), 0)
	}
	return r.d.Queue.FinishJob(ctx, job.Lease())
}

// waitsForNetwork reports whether a job could not reach its model. Its last try is then repeated instead of counted: a
// failed job would stop all summaries of chunks for a day.
func waitsForNetwork(job chat.Job, cause error) bool {
	e, ok := errors.AsType[interface {
		error
		Unreachable() bool
	}](cause)
	return job.Type == chat.JobSummarizeChunks && job.Attempts >= chat.MaxJobAttempts && ok && e.Unreachable()
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
