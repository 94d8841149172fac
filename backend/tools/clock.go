package tools

import (
	"sync"
	"time"
)

// Clock ends a call after its time limit. It is paused while the call waits for the user's answer, but only for a
// limited total time, so that a server that keeps asking does not run forever.
type Clock struct {
	end func()

	mu        sync.Mutex
	timer     *time.Timer
	timeLeft  time.Duration // rest of the call's time
	pauseLeft time.Duration // rest of the time for pauses
	since     time.Time     // when the elapsed time was last subtracted
	holds     int           // open holds, see Hold
	stopped   bool
}

// MaxPause is the total time for which the clock of a call may be paused.
const MaxPause = 30 * time.Minute

// StartClock returns a clock that calls end once after limit, unless it is stopped before. It can be paused for at most
// maxPause.
func StartClock(limit, maxPause time.Duration, end func()) *Clock {
	c := &Clock{end: end, timeLeft: limit, pauseLeft: maxPause, since: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.fire)
	return c
}

// isPaused reports whether the clock is paused. mu must be held.
func (c *Clock) isPaused() bool { return c.holds > 0 && c.pauseLeft > 0 }

// account subtracts the elapsed time, applies change, and sets the timer to when the clock may have to end the call or
// to continue. mu must be held.
func (c *Clock) account(change func()) {
	passed := time.Since(c.since)
	if c.isPaused() {
		c.pauseLeft -= passed
	} else {
		c.timeLeft -= passed
	}
	c.since = c.since.Add(passed)
	change()
	if c.stopped {
		return
	}
	if c.isPaused() {
		c.timer.Reset(c.pauseLeft)
	} else {
		c.timer.Reset(max(c.timeLeft, 0))
	}
}

// fire is called by the timer: the time of the call, or the time for pauses, may have run out.
func (c *Clock) fire() {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return
	}
	wasPaused := c.isPaused()
	c.account(func() {})
	over := !wasPaused && c.timeLeft <= 0
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
	c.account(func() { c.holds++ })
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.account(func() { c.holds-- })
	})
}

// Stop stops the clock; end is not called afterwards.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.timer.Stop()
}
