package vault

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/panics"
)

const (
	// settle is how long nothing must have been written before it is sent: several changes make one file.
	settle = 5 * time.Second
	// whileUsed is the interval of exchanges while somebody uses the window, otherwise the interval otherwise.
	// After errors, the pause doubles from the first to the second.
	whileUsed = time.Minute
	otherwise = 15 * time.Minute
)

// ScheduleDeps are what a Schedule needs.
type ScheduleDeps struct {
	// Exchange exchanges, and reports whether there is a vault.
	Exchange func(context.Context) (connected bool, err error)
	// Automatic reports whether exchanges happen without being asked for.
	Automatic func() bool
	// Answering reports whether an answer is being written. It has precedence over an exchange, for a while.
	Answering func() bool
	Log       *slog.Logger
}

// Schedule exchanges by itself: at the start, after something was written, and at intervals.
type Schedule struct {
	d    ScheduleDeps
	wake chan struct{}

	mu      sync.Mutex
	asked   bool      // exchange at once, whatever the setting says
	written time.Time // the last change that may have to be sent; zero: none since the last exchange
	used    time.Time // when somebody last used the window
	ended   time.Time // the last attempt; zero: none yet
	failed  int       // attempts in a row that failed
	without bool      // there was no vault
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// NewSchedule returns a schedule that is idle until it is started.
func NewSchedule(d ScheduleDeps) *Schedule { return &Schedule{d: d, wake: make(chan struct{}, 1)} }

// Start starts the schedule. Starting twice is harmless.
func (s *Schedule) Start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.done.Go(func() { s.loop(ctx) })
}

// Stop ends the schedule and a running exchange, which continues the next time. It waits until ctx ends, because a drive
// or a server may not answer. Stopping twice is harmless.
func (s *Schedule) Stop(ctx context.Context) {
	s.mu.Lock()
	cancel := s.cancel
	s.cancel = nil
	s.mu.Unlock()
	if cancel == nil {
		return
	}
	cancel()
	ended := make(chan struct{})
	go func() { s.done.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// Now exchanges at once, or again after the exchange that is running.
func (s *Schedule) Now() { s.note(func() { s.asked = true }) }

// Written says that something was written here that may have to be sent.
func (s *Schedule) Written() { s.note(func() { s.written = time.Now() }) }

// Used says that somebody uses the window.
func (s *Schedule) Used() { s.note(func() { s.used = time.Now() }) }

// Changed says that a vault was chosen, or the setting changed.
func (s *Schedule) Changed() { s.note(func() { s.without = false }) }

func (s *Schedule) note(change func()) {
	s.mu.Lock()
	change()
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Schedule) loop(ctx context.Context) {
	for ctx.Err() == nil {
		wait, due := s.next(time.Now())
		if due && wait <= 0 {
			s.exchange(ctx)
			continue
		}
		timer := time.NewTimer(wait)
		if !due {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// next returns how long to wait for the next exchange; false: until something happens.
func (s *Schedule) next(now time.Time) (wait time.Duration, due bool) {
	automatic, answering := s.d.Automatic(), s.d.Answering()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked {
		return 0, true
	}
	if s.without || !automatic {
		return 0, false
	}
	if s.ended.IsZero() {
		return 0, true
	}
	every := otherwise
	if now.Sub(s.used) < whileUsed {
		every = whileUsed
	}
	last := s.ended.Add(otherwise) // whatever happens
	at := s.ended.Add(every)
	switch soon := s.written.Add(settle); {
	case s.failed > 0:
		at = s.ended.Add(min(whileUsed<<min(s.failed-1, 4), otherwise))
	case !s.written.IsZero() && soon.Before(at):
		at = soon
	}
	if wait = at.Sub(now); wait <= 0 && answering && now.Before(last) {
		wait = settle
	}
	return wait, true
}

// exchange exchanges once. An exchange that Stop ended is no failure.
func (s *Schedule) exchange(ctx context.Context) {
	s.mu.Lock()
	s.asked, s.written = false, time.Time{}
	s.mu.Unlock()
	connected, err := s.guarded(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.without, s.ended = !connected, time.Now()
	if s.failed++; err == nil {
		s.failed = 0
	}
}

func (s *Schedule) guarded(ctx context.Context) (connected bool, err error) {
	defer panics.Recover(func(e *chat.Error, stack []byte) {
		connected, err = true, e
		s.d.Log.Error("an exchange with the vault panicked", "err", e, "stack", string(stack))
	})
	return s.d.Exchange(ctx)
}
