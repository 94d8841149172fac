package tools

import (
	"sync"
	"time"
)

// Clock ends a call after its time limit. It is paused while the user is asked something for the call, for a limited
// total time, so that a server that keeps asking does not run forever.
type Clock struct {
	end func()

	mu       sync.Mutex
	timer    *time.Timer
	left     time.Duration // rest of the call's time
	patience time.Duration // rest of the time for pauses
	since    time.Time     // when it was started or paused
	held     int
	stopped  bool
}

// Patience is the total time for which the clock of a call may be paused.
const Patience = 30 * time.Minute

// StartClock calls end once after limit, unless it is stopped before.
func StartClock(limit, patience time.Duration, end func()) *Clock {
	c := &Clock{end: end, left: limit, patience: patience, since: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.fire)
	return c
}

// isHeld reports whether the clock is paused. It is called with mu held.
func (c *Clock) isHeld() bool { return c.held > 0 && c.patience > 0 }

// account subtracts the elapsed time, and sets the timer for the next change. It is called with mu held.
func (c *Clock) account(change func()) {
	passed := time.Since(c.since)
	if c.isHeld() {
		c.patience -= passed
	} else {
		c.left -= passed
	}
	c.since = c.since.Add(passed)
	change()
	if c.stopped {
		return
	}
	if c.isHeld() {
		c.timer.Reset(c.patience)
	} else {
		c.timer.Reset(max(c.left, 0))
	}
}

// fire runs when the time or the patience may be over.
func (c *Clock) fire() {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	wasHeld := c.isHeld()
	c.account(func() {})
	over := !wasHeld && c.left <= 0
	if over {
		c.stopped = true
		c.timer.Stop()
	}
	c.mu.Unlock()
	if over {
		c.end()
	}
}

// Hold pauses the clock until release is called. Several holds may overlap.
func (c *Clock) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account(func() { c.held++ })
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.account(func() { c.held-- })
	})
}

// Stop stops the clock: end is no longer called.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.timer.Stop()
}
