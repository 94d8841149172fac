package jobs

import (
	"context"
	"sync"
	"time"
)

// minJump is the smallest difference between the wall clock and the monotonic clock that counts as a jump: the clock
// was set, or the machine slept.
const minJump = 2 * time.Minute

// spread is the time over which the jobs that a jump made due at once are distributed.
const spread = 5 * time.Minute

// clockJumps compares the wall clock with the monotonic clock.
type clockJumps struct {
	mu     sync.Mutex
	wall   time.Time
	steady time.Time // with Go's monotonic reading
}

// since returns how far the wall clock jumped since the last call; 0: it did not.
func (c *clockJumps) since(wall, steady time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	lastWall, lastSteady := c.wall, c.steady
	c.wall, c.steady = wall, steady
	if lastSteady.IsZero() {
		return 0
	}
	jump := wall.Sub(lastWall) - steady.Sub(lastSteady)
	if jump.Abs() < minJump {
		return 0
	}
	return jump
}

// handleClockJump reschedules jobs after a jump: if the clock was set back, they would wait for hours; if it was set
// forward, they would all be tried at once.
func (r *Runner) handleClockJump(ctx context.Context) {
	jump := r.jumps.since(r.d.Clock.Now(), time.Now())
	if jump == 0 {
		return
	}
	n, err := r.d.Queue.JitterJobs(ctx, spread)
	if err != nil && ctx.Err() == nil {
		r.d.Log.Warn("jobs could not be rescheduled after the clock jumped", "by", jump, "err", err)
		return
	}
	r.d.Log.Info("the clock jumped", "by", jump, "jobs", n)
}
