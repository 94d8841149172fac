package jobs

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// SummarizeRanges plans a branch's range summaries and creates those that are due now; with force, also those of turns
// that still fit. It returns how many jobs it ran.
func (r *Runner) SummarizeRanges(ctx context.Context, branch chat.BranchID, force bool) (int, error) {
	plan := r.d.Plan
	if force {
		plan = r.d.PlanAll
	}
	if plan != nil {
		plan(ctx, branch)
	}
	return r.drain(ctx, []chat.JobType{chat.JobSummarizeRange}, inBackground, neverStop)
}

// Summarize updates a state summary with turns by rule, for a fork that cannot wait for a model.
func (r *Runner) Summarize(ctx context.Context, branch chat.BranchID, base chat.State, turns []chat.Turn) (chat.ForkState, error) {
	pins, err := r.d.Store.Pins(ctx, branch)
	if err != nil {
		return chat.ForkState{}, err
	}
	sum := librarian.Fallback(librarian.Update{Previous: base.Summary, Pins: pins, Turns: turns, Target: r.d.TargetTokens(), Count: r.count})
	return chat.ForkState{Summary: sum.Summary, PinnedFacts: pinnedFacts(pins), TokenCount: sum.Tokens}, nil
}
