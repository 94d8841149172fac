package jobs

import (
	"context"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/heap"
	"contextinfinity/backend/internal/panics"
)

// lease is how long a worker may hold a job before another takes it over. It renews the lease while it works, so long
// jobs are possible.
const lease = chat.MaxJobLease

// renewals is how often a lease is renewed within its time, so that a single failure does not lose it.
const renewals = 3

// longAnswer is the length of an answer, in bytes, from which copies of it are freed at once, although that takes time.
const longAnswer = 4 << 20

// mode is how a job is run.
type mode int

const (
	// inBackground is the queue's own work.
	inBackground mode = iota
	// forced: somebody waits for the effect, so a commit does not wait for more turns.
	forced
	// bounded: time is limited. A turn whose vectors do not arrive in time becomes searchable by words.
	bounded
)

// work runs one claimed job and records the result.
func (r *Runner) work(ctx context.Context, job chat.Job, m mode) error {
	leased, release := r.hold(ctx, job)
	err := r.runGuarded(leased, job, m)
	release()
	switch {
	case err == nil, chat.LeaseLost(err):
	case ctx.Err() != nil: // stopped, not failed
		if perr := r.d.Queue.PostponeJob(context.WithoutCancel(ctx), job.Lease(), 0); perr != nil {
			r.d.Log.Warn("a stopped job could not be put back; it waits until its lease ends", "job", job.ID, "err", perr)
		}
	default:
		r.failed(ctx, job, err)
	}
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeJobs, Session: job.SessionID})
	return err
}

// hold renews a job's lease until release is called. The context ends when the lease is lost, because further effects
// would be refused.
func (r *Runner) hold(ctx context.Context, job chat.Job) (leased context.Context, release func()) {
	leased, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(lease / renewals)
		defer tick.Stop()
		for {
			select {
			case <-leased.Done():
				return
			case <-tick.C:
			}
			err := r.d.Queue.RenewJob(leased, job.Lease(), lease)
			switch {
			case chat.LeaseLost(err):
				r.d.Log.Warn("a job was taken over", "job", job.ID, "type", job.Type)
				cancel(err)
				return
			case err != nil && leased.Err() == nil:
				r.d.Log.Warn("a job's lease could not be renewed", "job", job.ID, "err", err)
			}
		}
	})
	return leased, func() { cancel(nil); renewing.Wait() }
}

// runGuarded runs a job; a panic in its handler fails it but not the program.
func (r *Runner) runGuarded(ctx context.Context, job chat.Job, m mode) (err error) {
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		r.d.Log.Error("a job's handler panicked", "job", job.ID, "type", job.Type, "err", d, "stack", string(stack))
		err = d
	})
	err = r.handle(ctx, job, m)
	if cause := context.Cause(ctx); err != nil && chat.LeaseLost(cause) {
		return cause
	}
	return err
}

func (r *Runner) handle(ctx context.Context, job chat.Job, m mode) error {
	turn, err := r.d.Store.Turn(ctx, job.TurnID)
	if err != nil {
		return err
	}
	if turn.Assistant != nil && len(turn.Assistant.RenderedText()) > longAnswer {
		defer heap.Tighten()()
	}
	switch job.Type {
	case chat.JobSummarizeTurn:
		return r.summarize(ctx, job, turn, m)
	case chat.JobSummarizeRange:
		return r.summarizeRange(ctx, job, turn)
	case chat.JobIndexTurn:
		return r.index(ctx, job, turn, m)
	case chat.JobSummarizeChunks:
		return r.summarizeChunks(ctx, job, turn)
	}
	return chat.Errorf(chat.CodeInternal, "jobs.handle", "There is no worker for jobs of type %q.", job.Type)
}

func (r *Runner) failed(ctx context.Context, job chat.Job, cause error) {
	after, err := r.d.Queue.FailJob(ctx, job.Lease(), chat.AsError(cause).Phrase(), r.pause(job.Attempts))
	if err != nil {
		r.d.Log.Error("a failed job could not be recorded", "job", job.ID, "err", err)
		return
	}
	r.d.Log.Warn("a job failed", "job", job.ID, "type", job.Type, "attempts", after.Attempts, "state", after.State, "err", cause)
	if after.State != chat.JobFailed || after.Claim != job.Claim {
		return
	}
	if job.Type == chat.JobIndexTurn {
		r.degrade(ctx, job)
	}
	r.listener.jobFailed(after)
}

// pause before the next try doubles from a second to five minutes, with a random variation of a quarter, so that jobs
// that failed together are not retried together.
func (r *Runner) pause(attempts int) time.Duration {
	full := min(time.Second<<min(max(0, attempts-1), 20), 5*time.Minute)
	return time.Duration(float64(full) * (0.75 + r.d.Chance()/2))
}
