package jobs

import (
	"context"

	"contextinfinity/backend/chat"
)

// ListStore reads and changes the jobs that the user sees.
type ListStore interface {
	Jobs(context.Context, chat.JobQuery) ([]chat.Job, error)
	JobCounts(context.Context) (queued, running, failed int, err error)
	JobFor(context.Context, chat.TurnID, chat.JobType) (chat.Job, bool, error)
	RetryJob(context.Context, int64) error
	DismissJob(context.Context, int64) error
}

// List is the list of jobs that the user sees and changes.
type List struct {
	ListStore
	runner  *Runner
	publish Publisher
}

// NewList returns the jobs of a runner.
func NewList(s ListStore, r *Runner, p Publisher) *List { return &List{s, r, p} }

// RetryJob makes a job due now, with a new count of tries.
func (l *List) RetryJob(ctx context.Context, id int64) error {
	return l.changed(l.ListStore.RetryJob(ctx, id))
}

// DismissJob gives up a job until the user retries it.
func (l *List) DismissJob(ctx context.Context, id int64) error {
	return l.changed(l.ListStore.DismissJob(ctx, id))
}

func (l *List) changed(err error) error {
	if err == nil {
		l.publish.Change(chat.Change{Kind: chat.ChangeJobs})
		l.runner.Wake()
	}
	return err
}
