package jobs

import (
	"testing"
	"time"
)

// TestClockJumpsAreDetected: jumps in both directions are detected, once each, and normal progress is not.
func TestClockJumpsAreDetected(t *testing.T) {
	var c clockJumps
	wall, steady := time.Now(), time.Now()
	for n, step := range []struct{ wall, steady, jump time.Duration }{
		{0, 0, 0},
		{time.Hour, time.Hour, 0},
		{time.Minute, 0, 0},
		{72 * time.Hour, time.Second, 72*time.Hour - time.Second},
		{time.Second, time.Second, 0},
		{-72 * time.Hour, time.Second, -72*time.Hour - time.Second},
		{time.Second, time.Second, 0},
	} {
		wall, steady = wall.Add(step.wall), steady.Add(step.steady)
		if got := c.since(wall, steady); got != step.jump {
			t.Errorf("step %d: a jump of %v, want %v", n, got, step.jump)
		}
	}
}
