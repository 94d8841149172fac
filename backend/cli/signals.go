package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals converts the system's signals: a Stop for a verb that streams an answer, otherwise the end of the verb's
// context.
type signals struct {
	source <-chan os.Signal // set by tests; nil: the process's own

	mu     sync.Mutex
	holder chan struct{} // gets each Ctrl-C while held
}

func newSignals(source <-chan os.Signal) *signals { return &signals{source: source} }

// watch starts listening; the context ends on SIGTERM, SIGHUP, and on a Ctrl-C without another handler.
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
			release() // the next Ctrl-C ends the process, in case closing hangs
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

// processSignals also ignores SIGPIPE: a closed reader must be a write error, and must not kill a program that has an
// answer to store.
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

// pass passes a Ctrl-C to the holder, if there is one.
func (s *signals) pass() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder == nil {
		return false
	}
	select {
	case s.holder <- struct{}{}:
	default: // the holder has not handled the earlier ones yet
	}
	return true
}

// hold receives every Ctrl-C until release.
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
