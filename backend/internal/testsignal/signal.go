// Package testsignal lets a test wait for an event deep inside the program instead of sleeping. In production a
// Signal is never watched and does nothing.
package testsignal

import (
	"sync/atomic"
	"time"
)

// capacity is how many signals may be unread. A test with more of them watches a signal that it does not read.
const capacity = 1000

// timeout ends a test whose signal never arrives.
const timeout = 10 * time.Second

// Signal is sent by the program and received by a test. The zero value and the nil pointer can be used; they do nothing
// until Watch. It is safe for concurrent use.
type Signal[T any] struct {
	c atomic.Pointer[chan T]
}

// TB is the part of testing.TB that Wait needs, so that production code does not import testing.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Watch makes the signal live. Only tests call it, before the tested code starts.
func (s *Signal[T]) Watch() {
	c := make(chan T, capacity)
	s.c.Store(&c)
}

// Send delivers v to a watching test; it never blocks. It panics if the test has left a thousand signals unread,
// because silently dropping one would be hard to debug.
func (s *Signal[T]) Send(v T) {
	if s == nil {
		return
	}
	c := s.c.Load()
	if c == nil {
		return
	}
	select {
	case *c <- v:
	default:
		panic("testsignal: a test watches a signal that it does not read")
	}
}

// C returns the channel of a watched signal, for select; nil if it is not watched.
func (s *Signal[T]) C() <-chan T {
	if s == nil {
		return nil
	}
	if c := s.c.Load(); c != nil {
		return *c
	}
	return nil
}

// Wait returns the next signal, and fails the test after ten seconds.
func (s *Signal[T]) Wait(tb TB) T {
	tb.Helper()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case v := <-s.C():
		return v
	case <-timer.C:
		tb.Fatalf("the signal did not arrive within %v", timeout)
		var none T
		return none
	}
}
