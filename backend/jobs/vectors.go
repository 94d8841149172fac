package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/internal/panics"
)

// olderBatch is how many turns of an older chunker are queued at once.
const olderBatch = 64

// Reindex makes missing vectors, activates a completed namespace, and deletes retired ones, until nothing is left to
// do. It returns how many steps that took.
func (r *Runner) Reindex(ctx context.Context) (int, error) { return r.reindex(ctx, never) }

func (r *Runner) reindex(ctx context.Context, enough func() bool) (int, error) {
	if r.d.Vectors == nil {
		return 0, nil
	}
	for n := 0; ; n++ {
		if enough() {
			return n, nil
		}
		more, err := r.step(ctx)
		if err != nil || !more {
			return n, err
		}
	}
}

func (r *Runner) step(ctx context.Context) (more bool, err error) {
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		r.d.Log.Error("making vectors panicked", "err", d, "stack", string(stack))
		more, err = false, d
	})
	return r.d.Vectors.Step(ctx)
}

// WakeVectors makes the runner check the vectors now: another embedder was chosen.
func (r *Runner) WakeVectors() { notify(r.wakeVectors) }

// vectorLoop is the lane of vectors. Its progress is in the database, so an interrupted run continues at the next
// start. A failing embedder is retried with growing pauses, while the previous namespace serves.
func (r *Runner) vectorLoop(ctx context.Context) {
	failures := 0
	for {
		var again <-chan time.Time
		if _, err := r.reindex(ctx, r.Paused); err != nil && ctx.Err() == nil {
			failures++
			again = time.After(r.pause(failures))
			r.d.Log.Warn("vectors are missing and could not be made", "failures", failures, "err", err)
		} else {
			failures = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wakeVectors:
		case <-again:
		}
	}
}

// renew processes turns of an older chunker, one batch at a time, after all other work of the lane.
func (r *Runner) renew(ctx context.Context, enough func() bool) (int, error) {
	total := 0
	for ctx.Err() == nil && !enough() {
		n, err := r.d.Queue.RequeueOlder(ctx, chunking.Version, olderBatch)
		if err != nil || n == 0 {
			return total, err
		}
		done, err := r.drain(ctx, lanes[indexLane], inBackground, enough)
		if total += done; err != nil || done == 0 {
			return total, err
		}
	}
	return total, nil
}
