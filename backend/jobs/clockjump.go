package jobs

import (
	"context"
	"sync"
	"time"
)

// A clock jump is a larger difference between the wall clock and the monotonic clock: the clock was set, or the
// machine slept.
const minJump = 2 * time.Minute

// spread is the time over which the jobs that a jump made due at once are distributed.
const spread = 5 * time.Minute

// clockJumps compares the wall clock with the monotonic clock.
type clockJumps struct {
	mu     sync.Mutex
	wall   time.Time
	steady time.Time // with Go's monotonic reading
}

// since is how far the wall clock jumped since the last call, 0 if it did not.
func (l *clockJumps) since(wall, steady time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	wasWall, wasSteady := l.wall, l.steady
	l.wall, l.steady = wall, steady
	if wasSteady.IsZero() {
		return 0
	}
	off := wall.Sub(wasWall) - steady.Sub(wasSteady)
	if off.Abs() < minJump {
		return 0
	}
	return off
}

// handleClockJump reschedules jobs after a jump: set back, the clock would make them wait for hours; set forward,
// they would all be tried at once.
func (r *Runner) handleClockJump(ctx context.Context) {
	off := r.jumps.since(r.d.Clock.Now(), time.Now())
	if off == 0 {
		return
	}
	n, err := r.d.Queue.JitterJobs(ctx, spread)
	if err != nil && ctx.Err() == nil {
		r.d.Log.Warn("jobs could not be rescheduled after the clock jumped", "by", off, "err", err)
		return
	}
	r.d.Log.Info("the clock jumped", "by", off, "jobs", n)
}
