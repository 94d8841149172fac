package jobs

import (
	"context"

	"contextinfinity/backend/chat"
)

// SummarizeRanges plans a branch's range summaries and makes those that are due,
// now. It returns how many jobs it ran.
func (r *Runner) SummarizeRanges(ctx context.Context, branch chat.BranchID) (int, error) {
	if r.d.Plan != nil {
		r.d.Plan(ctx, branch)
	}
	return r.drain(ctx, []chat.JobType{chat.JobSummarizeRange})
}
