package jobs

import (
	"context"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/librarian"
)

// commitTries bounds how often a commit goes on after losing to another writer.
const commitTries = 5

// summarize commits a turn. Turns before it that are still pending are
// committed first: a head never skips one.
func (r *Runner) summarize(ctx context.Context, job chat.Job, turn chat.Turn) error {
	if !turn.Pending() {
		return r.d.Store.FinishJob(ctx, job.ID)
	}
	if err := r.commitThrough(ctx, turn, job.ID); err != nil {
		return err
	}
	r.Wake()
	return nil
}

// commitThrough commits the branch's pending turns up to and including turn,
// one state each. jobID belongs to turn.
func (r *Runner) commitThrough(ctx context.Context, turn chat.Turn, jobID int64) error {
	pending, err := r.d.Store.PendingTurns(ctx, turn.BranchID)
	if err != nil {
		return err
	}
	for _, t := range pending {
		if t.Seq > turn.Seq {
			break
		}
		id, err := r.jobOf(ctx, t, turn, jobID)
		if err != nil {
			return err
		}
		if err := r.commitOne(ctx, t, id); err != nil {
			return err
		}
	}
	return nil
}

// CommitThrough commits the branch's pending turns up to and including turn.
func (r *Runner) CommitThrough(ctx context.Context, turn chat.Turn) error {
	defer r.Wake()
	return r.commitThrough(ctx, turn, 0)
}

// jobOf is the summarize job that committing t completes.
func (r *Runner) jobOf(ctx context.Context, t, last chat.Turn, lastJob int64) (int64, error) {
	if t.ID == last.ID && lastJob != 0 {
		return lastJob, nil
	}
	job, ok, err := r.d.Store.JobFor(ctx, t.ID, chat.JobSummarizeTurn)
	if err != nil || !ok {
		return 0, err
	}
	return job.ID, nil
}

// commitOne makes the new state and moves the head. A stale epoch means another
// writer moved it: the work is done again on the new head (OXY 7).
func (r *Runner) commitOne(ctx context.Context, t chat.Turn, jobID int64) error {
	var err error
	for range commitTries {
		if err = r.tryCommit(ctx, t, jobID); chat.CodeOf(err) != chat.CodeConflict {
			return err
		}
		now, terr := r.d.Store.Turn(ctx, t.ID)
		if terr != nil {
			return terr
		}
		if !now.Pending() { // the other writer committed it
			return nil
		}
	}
	return err
}

func (r *Runner) tryCommit(ctx context.Context, t chat.Turn, jobID int64) error {
	begun := time.Now()
	b, err := r.d.Store.Branch(ctx, t.BranchID)
	if err != nil {
		return err
	}
	head, err := r.d.Store.State(ctx, b.HeadState)
	if err != nil {
		return err
	}
	pins, err := r.d.Store.Pins(ctx, b.ID)
	if err != nil {
		return err
	}
	count := func(s string) int { return r.d.Counter.Count("", s) }
	sum := librarian.Fallback(librarian.Update{
		Previous: head.Summary, Pins: pins, Turns: []chat.Turn{t}, Target: r.d.TargetTokens(), Count: count,
	})
	_, err = r.d.Store.Commit(ctx, chat.Commit{
		BranchID: b.ID, Epoch: b.Epoch, Turns: []chat.TurnID{t.ID}, Summary: sum.Summary, PinnedFacts: pinnedFacts(pins),
		TokenCount: sum.Tokens, Origin: sum.Origin, Validation: sum.Validation, JobID: jobID,
		SummarizeMs: time.Since(begun).Milliseconds(),
	})
	if err == nil {
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeHead, ID: string(b.ID), Session: t.SessionID})
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(t.ID), Session: t.SessionID})
	}
	return err
}

func pinnedFacts(pins []chat.Pin) string {
	lines := make([]string, len(pins))
	for i, p := range pins {
		lines[i] = p.Text
	}
	return strings.Join(lines, "\n")
}

// index makes a committed turn searchable.
func (r *Runner) index(ctx context.Context, job chat.Job, turn chat.Turn) error {
	if turn.Phase == chat.PhaseDone {
		return r.d.Store.FinishJob(ctx, job.ID)
	}
	begun := time.Now()
	chunks := chunking.Chunk(turn, chunking.Options{Count: func(s string) int { return r.d.Counter.Count("", s) }})
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
