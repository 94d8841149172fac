package jobs

import (
	"context"
	"encoding/json"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/librarian"
)

// Defaults for a range summary's size (SPEC 16).
const (
	targetRatio = 0.15
	targetMin   = 64
	targetMax   = 2048
)

// rangeWork is a range and the summaries that already represent parts of it.
type rangeWork struct {
	from, to int64 // half-open
	pieces   []chat.RangeSummary
	gaps     []chat.Turn // finalized turns without a piece
	inside   []string    // ids of all live summaries within the range
}

// summarizeRange summarizes a range from the summaries inside it and the remaining turns (SPEC 6). Chat does not wait
// for it, and a range that cannot be shortened is left to the assembler.
func (r *Runner) summarizeRange(ctx context.Context, job chat.Job, last chat.Turn) error {
	w, done, err := r.rangeOf(ctx, job, last)
	if err != nil {
		return err
	}
	if done {
		return r.d.Queue.FinishJob(ctx, job.Lease())
	}
	if slices.ContainsFunc(w.gaps, chat.Turn.Pending) {
		return r.d.Queue.PostponeJob(ctx, job.Lease(), recheckDelay)
	}
	pins, err := r.d.Store.Pins(ctx, job.BranchID)
	if err != nil {
		return err
	}
	original := r.original(w)
	sum := r.librarian().SummarizeRange(ctx, librarian.Range{
		Pieces: contents(w.pieces), Turns: w.gaps, Pins: pins, Target: r.rangeTarget(ctx, job.BranchID, original),
		Original: original, Model: r.modelFor(ctx, last), Count: r.count, Style: r.summaryStyle(),
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if sum.Text == "" || sum.Tokens >= original {
		return r.d.Queue.FinishJob(ctx, job.Lease())
	}
	return r.storeSummary(ctx, job, w, chat.NewSummary{
		BranchID: job.BranchID, From: w.from, To: w.to, Content: sum.Text, TokenCount: sum.Tokens,
		OriginalTokens: original, GeneratedBy: sum.GeneratedBy, Validation: sum.Validation, Job: job.Lease(),
	})
}

func (r *Runner) summaryStyle() string {
	if r.d.SummaryStyle == nil {
		return librarian.StyleSections
	}
	return r.d.SummaryStyle()
}

// storeSummary stores a summary in place of those inside its range. A summary that the newest request used is kept, so
// that the next request has the same prefix; the next range summary replaces it. A conflict with another writer counts
// as done.
func (r *Runner) storeSummary(ctx context.Context, job chat.Job, w rangeWork, n chat.NewSummary) error {
	used, err := r.usedByNewest(ctx, job.BranchID)
	if err != nil {
		return err
	}
	n.Supersedes = slices.DeleteFunc(w.inside, func(id string) bool { return used[id] })
	_, err = r.d.Store.AddSummary(ctx, n)
	switch {
	case chat.LeaseLost(err):
	case chat.CodeOf(err) == chat.CodeConflict:
		return r.d.Queue.FinishJob(ctx, job.Lease())
	case err == nil:
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeHead, ID: string(job.BranchID), Session: job.SessionID})
	}
	return err
}

// usedByNewest returns the ids of the summaries in the branch's newest request.
func (r *Runner) usedByNewest(ctx context.Context, branch chat.BranchID) (map[string]bool, error) {
	raw, _, err := r.d.Store.PreviousManifest(ctx, branch, 0)
	if err != nil || raw == nil {
		return nil, err
	}
	var manifest struct {
		History struct {
			Pieces []struct {
				Summary string `json:"summary"`
			} `json:"pieces"`
		} `json:"history"`
	}
	if json.Unmarshal(raw, &manifest) != nil {
		return nil, nil // an earlier format, without summaries
	}
	used := map[string]bool{}
	for _, p := range manifest.History.Pieces {
		used[p.Summary] = true
	}
	return used, nil
}

// rangeOf reads a job's range. done: its summary already exists.
func (r *Runner) rangeOf(ctx context.Context, job chat.Job, last chat.Turn) (w rangeWork, done bool, err error) {
	w = rangeWork{from: job.FromSeq, to: last.Seq + 1}
	if w.from < 1 || w.from >= w.to {
		return w, false, chat.Errorf(chat.CodeInvalid, "jobs.range", "Turns %d to %d are not a range.", w.from, last.Seq)
	}
	live, err := r.d.Store.Summaries(ctx, job.BranchID)
	if err != nil {
		return w, false, err
	}
	live = slices.DeleteFunc(live, func(s chat.RangeSummary) bool { return s.From < w.from || s.To > w.to })
	for _, s := range live {
		if s.From == w.from && s.To == w.to && (s.BranchID == last.BranchID || s.BranchID == job.BranchID) {
			return w, true, nil
		}
		w.inside = append(w.inside, s.ID)
	}
	for at := w.from; at < w.to; {
		piece, next := longest(live, at, w.to)
		if piece != nil {
			w.pieces, at = append(w.pieces, *piece), piece.To
			continue
		}
		turns, err := r.d.Store.Lineage(ctx, chat.LineageQuery{Branch: job.BranchID, FromSeq: at, ToSeq: next - 1})
		if err != nil {
			return w, false, err
		}
		w.gaps, at = append(w.gaps, slices.DeleteFunc(turns, unfinalized)...), next
	}
	return w, false, nil
}

func unfinalized(t chat.Turn) bool { return !t.Phase.Finalized() }

// longest is the longest summary that begins at a turn, or the beginning of the next one.
func longest(live []chat.RangeSummary, at, end int64) (best *chat.RangeSummary, next int64) {
	next = end
	for i, s := range live {
		switch {
		case s.From == at && (best == nil || s.To > best.To):
			best = &live[i]
		case s.From > at:
			next = min(next, s.From)
		}
	}
	return best, next
}

func contents(pieces []chat.RangeSummary) []string {
	return lists.Map(pieces, func(p chat.RangeSummary) string { return p.Content })
}

// original is the size of the original range.
func (r *Runner) original(w rangeWork) int {
	n := r.tokens(w.gaps)
	for _, p := range w.pieces {
		n += p.OriginalTokens
	}
	return n
}

func (r *Runner) rangeTarget(ctx context.Context, branch chat.BranchID, tokens int) int {
	if r.d.RangeTarget != nil {
		return r.d.RangeTarget(ctx, branch, tokens)
	}
	return min(max(int(float64(tokens)*targetRatio), targetMin), targetMax)
}
