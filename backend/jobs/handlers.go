package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
)

// index makes a committed turn searchable, by words and by vectors. If the vectors cannot be made, the words are
// searchable and the job is retried. Run twice, it changes nothing (SRD 9.3).
func (r *Runner) index(ctx context.Context, job chat.Job, turn chat.Turn, m mode) error {
	begun := time.Now()
	files, err := r.d.Store.TurnFiles(ctx, turn.ID)
	if err != nil {
		return err
	}
	made := chat.Indexing{TurnID: turn.ID, Status: chat.IndexOK, Job: job.Lease()}
	made.Chunks = chunking.Chunk(turn, r.chunking(), files...)
	chunked := time.Now()
	texts := unitTexts(made.Chunks)
	if r.d.Vectors != nil && len(texts) > manyUnits {
		if err := r.d.Store.Index(ctx, words(made)); err != nil {
			return err
		}
	}
	embedErr := r.embed(ctx, &made, texts)
	if embedErr != nil {
		if ctx.Err() != nil {
			return r.interrupted(ctx, made, m)
		}
		made = words(made)
	}
	made.EmbedMs = time.Since(chunked).Milliseconds()
	made.IndexMs = time.Since(begun).Milliseconds()
	if err := r.d.Store.Index(ctx, made); err != nil {
		return err
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(turn.ID), Session: turn.SessionID})
	return embedErr
}

// interrupted handles indexing whose vectors did not arrive in time. If the time was limited, the words become
// searchable and the next run makes the vectors.
func (r *Runner) interrupted(ctx context.Context, made chat.Indexing, m mode) error {
	if m == bounded {
		if err := r.d.Store.Index(context.WithoutCancel(ctx), words(made)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// manyUnits is the number of units from which a turn's words become searchable before its vectors are made, which can
// take minutes for a document.
const manyUnits = 64

// words is the index status without vectors.
func words(made chat.Indexing) chat.Indexing {
	made.Status = chat.IndexNone
	return made
}

// unitTexts are the texts to embed, in order.
func unitTexts(chunks []chat.Chunk) []string {
	var texts []string
	for _, c := range chunks {
		for _, u := range c.Units {
			texts = append(texts, u.Text)
		}
	}
	return texts
}

// embed adds the vectors of all units, for every namespace that is kept up to date.
func (r *Runner) embed(ctx context.Context, made *chat.Indexing, texts []string) error {
	if r.d.Vectors == nil {
		return nil
	}
	var err error
	made.Vectors, err = r.d.Vectors.Vectors(ctx, texts)
	return err
}

func (r *Runner) chunking() chunking.Options {
	var opt chunking.Options
	if r.d.Chunking != nil {
		opt = r.d.Chunking()
	}
	opt.Count = r.count
	return opt
}

// degrade marks a turn whose indexing has failed until it is retried.
func (r *Runner) degrade(ctx context.Context, job chat.Job) {
	if err := r.d.Store.Index(ctx, chat.Indexing{TurnID: job.TurnID, Status: chat.IndexDegraded}); err != nil {
		r.d.Log.Error("a turn could not be marked as not searchable", "turn", job.TurnID, "err", err)
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(job.TurnID), Session: job.SessionID})
}
