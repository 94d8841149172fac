package tools

import (
	"sync"
	"time"
)

// Clock ends a call after its time. It stands still while a person is asked something for the
// call, for a bounded time in all: a server that asks again and again does not run forever.
type Clock struct {
	end func()

	mu       sync.Mutex
	timer    *time.Timer
	left     time.Duration // of the call's time
	patience time.Duration // how long the clock may still stand
	since    time.Time     // when it began to run, or to stand
	held     int
	stopped  bool
}

// Patience is how long the clock of a call may be in all, while people are asked for it.
const Patience = 30 * time.Minute

// StartClock has end called once after limit, unless it is stopped before.
func StartClock(limit, patience time.Duration, end func()) *Clock {
	c := &Clock{end: end, left: limit, patience: patience, since: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.fire)
	return c
}

// stands is called with mu held.
func (c *Clock) stands() bool { return c.held > 0 && c.patience > 0 }

// account takes what has passed off what it passed of, and has the timer wait for what changes
// next. It is called with mu held.
func (c *Clock) account(change func()) {
	passed := time.Since(c.since)
	if c.stands() {
		c.patience -= passed
	} else {
		c.left -= passed
	}
	c.since = c.since.Add(passed)
	change()
	if c.stopped {
		return
	}
	if c.stands() {
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
	stood := c.stands()
	c.account(func() {})
	over := !stood && c.left <= 0
	if over {
		c.stopped = true
		c.timer.Stop()
	}
	c.mu.Unlock()
	if over {
		c.end()
	}
}

// Hold has the clock stand until release is called. It may be held several times at once.
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

// Stop ends the clock: end is not called any more.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.timer.Stop()
}
