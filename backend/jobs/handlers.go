package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
)

// index makes a committed turn searchable, by words and by vectors. If the vectors cannot be created, the turn is
// searchable by words and the job is retried. Run twice, it changes nothing (SRD 9.3).
func (r *Runner) index(ctx context.Context, job chat.Job, turn chat.Turn, m mode) error {
	start := time.Now()
	files, err := r.d.Store.TurnFiles(ctx, turn.ID)
	if err != nil {
		return err
	}
	indexing := chat.Indexing{TurnID: turn.ID, Status: chat.IndexOK, Job: job.Lease()}
	indexing.Chunks = chunking.Chunk(turn, chunking.Options{Count: r.count}, files...)
	chunked := time.Now()
	texts := unitTexts(indexing.Chunks)
	if r.d.Vectors != nil && len(texts) > manyUnits {
		if err := r.d.Store.Index(ctx, withoutVectors(indexing)); err != nil {
			return err
		}
	}
	embedErr := r.embed(ctx, &indexing, texts)
	if embedErr != nil {
		if ctx.Err() != nil {
			return r.interrupted(ctx, indexing, m)
		}
		indexing = withoutVectors(indexing)
	}
	indexing.EmbedMs = time.Since(chunked).Milliseconds()
	indexing.IndexMs = time.Since(start).Milliseconds()
	if err := r.d.Store.Index(ctx, indexing); err != nil {
		return err
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(turn.ID), Session: turn.SessionID})
	if r.chunkPolicy().On {
		r.chunksDone.Store(false)
		notify(r.wake[librarianLane])
	}
	return embedErr
}

// interrupted handles indexing whose vectors did not arrive before ctx ended. In bounded mode the turn becomes
// searchable by words, and the next run of the job creates the vectors.
func (r *Runner) interrupted(ctx context.Context, indexing chat.Indexing, m mode) error {
	if m == bounded {
		if err := r.d.Store.Index(context.WithoutCancel(ctx), withoutVectors(indexing)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// manyUnits is the number of units above which a turn becomes searchable by words before its vectors are created, which
// can take minutes for a document.
const manyUnits = 64

// withoutVectors marks an indexing as searchable by words only.
func withoutVectors(indexing chat.Indexing) chat.Indexing {
	indexing.Status = chat.IndexNone
	return indexing
}

// unitTexts returns the texts to embed, in order.
func unitTexts(chunks []chat.Chunk) []chat.UnitText {
	var texts []chat.UnitText
	for _, c := range chunks {
		for _, u := range c.Units {
			texts = append(texts, u.Indexed())
		}
	}
	return texts
}

// embed adds the vectors of all units, for every namespace that is kept up to date.
func (r *Runner) embed(ctx context.Context, indexing *chat.Indexing, texts []chat.UnitText) error {
	if r.d.Vectors == nil {
		return nil
	}
	var err error
	indexing.Vectors, err = r.d.Vectors.Vectors(ctx, texts)
	return err
}

// degrade marks a turn whose indexing has failed until it is retried.
func (r *Runner) degrade(ctx context.Context, job chat.Job) {
	if err := r.d.Store.Index(ctx, chat.Indexing{TurnID: job.TurnID, Status: chat.IndexDegraded}); err != nil {
		r.d.Log.Error("a turn could not be marked as not searchable", "turn", job.TurnID, "err", err)
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(job.TurnID), Session: job.SessionID})
}
