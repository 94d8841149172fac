package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
)

// index makes a committed turn searchable.
func (r *Runner) index(ctx context.Context, job chat.Job, turn chat.Turn) error {
	if turn.Phase == chat.PhaseDone {
		return r.d.Store.FinishJob(ctx, job.ID)
	}
	begun := time.Now()
	chunks := chunking.Chunk(turn, chunking.Options{Count: r.count})
	err := r.d.Store.Index(ctx, chat.Indexing{
		TurnID: turn.ID, Chunks: chunks, Status: chat.IndexOK, JobID: job.ID,
		IndexMs: time.Since(begun).Milliseconds(),
	})
	if err == nil {
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(turn.ID), Session: turn.SessionID})
	}
	return err
}

// degrade marks a turn whose indexing is given up until somebody retries it.
func (r *Runner) degrade(ctx context.Context, job chat.Job) {
	if err := r.d.Store.Index(ctx, chat.Indexing{TurnID: job.TurnID, Status: chat.IndexDegraded}); err != nil {
		r.d.Log.Error("a turn could not be marked as not searchable", "turn", job.TurnID, "err", err)
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(job.TurnID), Session: job.SessionID})
}
