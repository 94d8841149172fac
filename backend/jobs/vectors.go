package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/internal/panics"
)

// olderBatch is how many turns that an older chunker has split are queued at once.
const olderBatch = 64

// Reindex creates missing vectors, activates a completed namespace, and deletes retired ones, until nothing is left to
// do. It returns how many steps that took.
func (r *Runner) Reindex(ctx context.Context) (int, error) { return r.reindex(ctx, neverStop) }

func (r *Runner) reindex(ctx context.Context, stop func() bool) (int, error) {
	if r.d.Vectors == nil {
		return 0, nil
	}
	for n := 0; ; n++ {
		if stop() {
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
		r.d.Log.Error("creating vectors panicked", "err", d, "stack", string(stack))
		more, err = false, d
	})
	return r.d.Vectors.Step(ctx)
}

// WakeVectors makes the runner check the vectors now, for example because another embedder was chosen.
func (r *Runner) WakeVectors() { notify(r.wakeVectors) }

// vectorLoop is the lane of vectors. Its progress is in the database, so an interrupted run continues at the next
// start. A failing embedder is retried with growing pauses, while the previous namespace is used.
func (r *Runner) vectorLoop(ctx context.Context) {
	failures := 0
	for {
		var retry <-chan time.Time
		if _, err := r.reindex(ctx, r.Paused); err != nil && ctx.Err() == nil {
			failures++
			retry = time.After(r.pause(failures))
			r.d.Log.Warn("missing vectors could not be created", "failures", failures, "err", err)
		} else {
			failures = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wakeVectors:
		case <-retry:
		}
	}
}

// rechunk indexes turns that an older chunker has split, one batch at a time, after all other work of the lane.
func (r *Runner) rechunk(ctx context.Context, stop func() bool) (int, error) {
	total := 0
	for ctx.Err() == nil && !stop() {
		n, err := r.d.Queue.RequeueOlder(ctx, chunking.Version, olderBatch)
		if err != nil || n == 0 {
			return total, err
		}
		done, err := r.drain(ctx, lanes[indexLane], inBackground, stop)
		if total += done; err != nil || done == 0 {
			return total, err
		}
	}
	return total, nil
}
