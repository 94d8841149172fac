package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals turns what the system sends into what the verbs understand: a Stop for
// whoever streams an answer, else the end of the verb's context.
type signals struct {
	source <-chan os.Signal // of tests; nil: the process's own

	mu     sync.Mutex
	holder chan struct{} // gets each Ctrl-C while held
}

func newSignals(source <-chan os.Signal) *signals { return &signals{source: source} }

// watch begins to listen; the context ends on SIGTERM, SIGHUP, and on a Ctrl-C
// that nobody holds.
func (s *signals) watch(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	source, release := s.source, func() {}
	if source == nil {
		source, release = processSignals()
	}
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.dispatch(source, done, func() {
			release() // the next Ctrl-C ends the process, should closing hang
			cancel()
		})
	}()
	return ctx, func() {
		close(done)
		<-stopped
		release()
		cancel()
	}
}

// processSignals also ignores SIGPIPE: a reader that went away must be an error
// of the write, not the death of a program that has an answer to store.
func processSignals() (<-chan os.Signal, func()) {
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE)
	return ch, func() { signal.Stop(ch) }
}

func (s *signals) dispatch(source <-chan os.Signal, done <-chan struct{}, end func()) {
	for {
		select {
		case <-done:
			return
		case sig := <-source:
			if sig != os.Interrupt || !s.pass() {
				end()
			}
		}
	}
}

// pass hands a Ctrl-C to the holder, if there is one.
func (s *signals) pass() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder == nil {
		return false
	}
	select {
	case s.holder <- struct{}{}:
	default: // more of them than anyone could answer
	}
	return true
}

// hold takes every Ctrl-C until release.
func (s *signals) hold() (interrupts <-chan struct{}, release func()) {
	ch := make(chan struct{}, 4)
	s.mu.Lock()
	before := s.holder
	s.holder = ch
	s.mu.Unlock()
	return ch, func() {
		s.mu.Lock()
		s.holder = before
		s.mu.Unlock()
	}
}
