// Package clock injects time, so that a transaction uses one fixed time and tests can set it.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock returns the time. The nil Clock is the system's.
type Clock func() time.Time

// Now returns the current time in UTC, truncated to the milliseconds that are stored.
func (c Clock) Now() time.Time {
	if c == nil {
		return time.Now().UTC().Truncate(time.Millisecond)
	}
	return c().UTC().Truncate(time.Millisecond)
}

// Sleep returns after d, or earlier when ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Fake is a clock that tests move by hand.
type Fake struct {
	mu sync.Mutex
	t  time.Time
}

// NewFake starts at the given time.
func NewFake(t time.Time) *Fake { return &Fake{t: t} }

// Now returns the fake time. Use f.Now as a Clock.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.t
}

// Advance moves the clock forward.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.t = f.t.Add(d)
}
