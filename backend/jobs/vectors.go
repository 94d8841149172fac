package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chunking"
)

// rest is how often vectors are looked after when nothing asked for it.
const rest = time.Minute

// olderBatch is how many turns an earlier chunker cut are queued at once.
const olderBatch = 64

// Reindex fills in vectors that are missing, makes a namespace that became complete
// serve, and deletes what is retired, until nothing is left to do. It returns how
// many steps that took.
func (r *Runner) Reindex(ctx context.Context) (int, error) {
	if r.d.Vectors == nil {
		return 0, nil
	}
	for n := 0; ; n++ {
		more, err := r.d.Vectors.Step(ctx)
		if err != nil || !more {
			return n, err
		}
	}
}

// WakeVectors has the vectors looked after now: another embedder was chosen.
func (r *Runner) WakeVectors() {
	select {
	case r.wakeVectors <- struct{}{}:
	default:
	}
}

// tendVectors is the lane of vectors. Its progress is in the database: what an end
// of the program interrupts goes on at the next start. An embedder that fails is
// asked again after growing pauses; meanwhile the namespace before it serves.
func (r *Runner) tendVectors(ctx context.Context) {
	failures := 0
	for {
		pause := rest
		if _, err := r.Reindex(ctx); err != nil && ctx.Err() == nil {
			failures++
			pause = backoff(failures)
			r.d.Log.Warn("vectors are missing and could not be made", "failures", failures, "err", err)
		} else {
			failures = 0
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.wakeVectors:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// renew works off turns that an earlier chunker cut, a batch at a time, after all
// other work of the lane.
func (r *Runner) renew(ctx context.Context) (int, error) {
	total := 0
	for ctx.Err() == nil {
		n, err := r.d.Store.RequeueOlder(ctx, chunking.Version, olderBatch)
		if err != nil || n == 0 {
			return total, err
		}
		done, err := r.drain(ctx, lanes[indexLane])
		if total += done; err != nil || done == 0 {
			return total, err
		}
	}
	return total, nil
}
