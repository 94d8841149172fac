package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/childenv"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

// State is the state of a server.
type State string

const (
	StateOff      State = "off"      // switched off
	StateIdle     State = "idle"     // not started yet
	StateStarting State = "starting" // or connecting
	StateReady    State = "ready"
	StateSignIn   State = "sign_in" // the user must sign in
	StateWaiting  State = "waiting" // it failed, and is restarted automatically
	StateFailed   State = "failed"  // it failed, and is not restarted
)

// server is one configured server. It is a tools.Source.
type server struct {
	m    *Manager
	name string
	log  *ring

	mu         sync.Mutex
	cfg        config.MCPServer
	state      State
	lastError  chat.Phrase // message of the last failure
	session    *session
	failures   int
	started    time.Time // when the current or last successful start began
	readyAt    time.Time
	retryAt    time.Time
	settled    chan struct{} // closed when no start is in progress
	cancel     context.CancelFunc
	done       chan struct{} // closed when the run has ended; nil: there is none
	questions  int
	hidden     []string   // secrets of this server, longest first
	challenged *challenge // the last refusal, until the user signs in
}

func newServer(m *Manager, cfg config.MCPServer) *server {
	s := &server{m: m, name: cfg.Name, cfg: cfg, state: StateIdle, settled: closedChannel()}
	switch {
	case !cfg.Enabled:
		s.state = StateOff
	case cfg.Fault != "":
		s.state, s.lastError = StateFailed, configFault(cfg)
	}
	s.log = &ring{maxBytes: m.limits.LogBytes, maxLine: m.limits.LogLine, now: m.deps.Now, redact: s.redact}
	return s
}

func configFault(cfg config.MCPServer) chat.Phrase {
	return chat.Say("Its configuration has an error: %s.", cfg.Fault)
}

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// transport returns the connection to the server, with its placeholders filled in.
func (s *server) transport(ctx context.Context, ss *session, in *signIn) (mcp.Transport, error) {
	cfg, secret, err := s.filled()
	if err != nil {
		return nil, err
	}
	if !cfg.HTTP() {
		c, err := s.startChild(cfg, ss.traffic)
		if err != nil {
			return nil, err
		}
		ss.child = c
		return c, nil
	}
	endpoint, err := endpointOf(cfg.URL)
	if err != nil {
		return nil, &permanentError{chat.Say("Its address must begin with http:// or https://."), err}
	}
	client, httpTransport := newHTTPClient(endpoint, cfg.Headers, s.m.limits, ss)
	t := &mcp.StreamableClientTransport{Endpoint: cfg.URL, HTTPClient: client, MaxEventSize: s.m.limits.Frame}
	ss.idle = t.HTTPClient.CloseIdleConnections
	if !hasAuthorization(cfg.Headers) {
		if t.OAuthHandler, err = s.newOAuth(cfg, endpoint, secret, in); err != nil {
			return nil, &permanentError{chat.Say("Its OAuth settings cannot be used."), err}
		}
		if h, ok := t.OAuthHandler.(*signInHandler); ok {
			httpTransport.signIn = h.refuse
		}
		if in == nil {
			s.mu.Lock()
			s.challenged = nil // of an earlier connection
			s.mu.Unlock()
		} else if err := s.answerChallenge(ctx, t.OAuthHandler, endpoint); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func hasAuthorization(headers map[string]string) bool {
	for name := range headers {
		if strings.EqualFold(name, "authorization") {
			return true
		}
	}
	return false
}

// filled returns the settings with their placeholders replaced by secrets and variables, and a function that looks up a
// secret.
func (s *server) filled() (config.MCPServer, func(string) (string, error), error) {
	s.mu.Lock()
	cfg := s.cfg
	s.mu.Unlock()
	if cfg.Fault != "" {
		return cfg, nil, &permanentError{configFault(cfg), nil}
	}
	secret := func(name string) (string, error) {
		text, ok := s.m.deps.Secret(s.name, name)
		if !ok {
			return "", &permanentError{chat.Say("Its secret %s has no value yet: enter it in the settings, or with mcp servers secret.", name), nil}
		}
		s.hide(text)
		return text, nil
	}
	env := func(name string) (string, error) {
		text := s.m.deps.Getenv(name)
		if !childenv.IsTool(name) { // HOME and the like are not secrets, and results are full of their values
			s.hide(text)
		}
		return text, nil
	}
	var failed error
	fill := func(text string) string {
		out, err := config.Fill(text, secret, env)
		if err != nil && failed == nil {
			failed = err
		}
		return out
	}
	fillAll := func(values map[string]string, fill func(string) string) map[string]string {
		out := map[string]string{}
		for name, value := range values {
			out[name] = fill(value)
		}
		return out
	}
	ofHome := func(text string) string { return fill(expandHome(text)) } // a secret stays as it is
	cfg.Args, cfg.URL, cfg.Headers = lists.Map(cfg.Args, ofHome), fill(cfg.URL), fillAll(cfg.Headers, fill)
	cfg.Env = fillAll(cfg.Env, ofHome)
	return cfg, secret, failed
}

// start begins a run if there is none. A signIn allows signing in during this one attempt. settled is closed when the
// current start has succeeded or failed.
func (s *server) start(in *signIn) (settled <-chan struct{}) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m.stopped || s.done != nil || s.state == StateOff || s.m.servers[s.name] != s {
		return s.settled
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.done, s.settled = cancel, make(chan struct{}), make(chan struct{})
	s.state, s.started, s.failures, s.lastError = StateStarting, s.m.deps.Now(), 0, chat.Phrase{}
	go s.run(ctx, in, s.done)
	return s.settled
}

// run keeps the server running until it is stopped or has failed permanently.
func (s *server) run(ctx context.Context, in *signIn, done chan struct{}) {
	defer close(done)
	for {
		err := s.runOnce(ctx, in)
		if in != nil {
			in.close()
			in = nil
		}
		if ctx.Err() != nil {
			s.set(StateIdle)
			return
		}
		again, wait := s.handleFailure(err)
		s.m.changed(s.name)
		if !again || !sleep(ctx, wait) {
			s.ended(ctx)
			return
		}
		s.mu.Lock()
		s.state, s.started = StateStarting, s.m.deps.Now()
		select {
		case <-s.settled:
			s.settled = make(chan struct{})
		default: // callers wait for this start already
		}
		s.mu.Unlock()
		s.m.changed(s.name)
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ended is called at the end of a run that was not stopped: another one may begin.
func (s *server) ended(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		s.state = StateIdle
	}
	s.cancel()
	s.done = nil
}

// runOnce starts the server once, and returns when it has ended.
func (s *server) runOnce(ctx context.Context, in *signIn) error {
	timeout := s.m.limits.Start
	if in != nil {
		timeout = s.m.limits.SignIn
	}
	startCtx, cancel := context.WithTimeout(ctx, timeout)
	s.log.add(FromProgram, "It is starting.")
	ss, err := s.open(startCtx, in)
	cancel()
	if err != nil {
		return err
	}
	defer ss.close()
	if in != nil {
		in.close() // from here on no browser is opened
	}
	s.mu.Lock()
	s.session, s.state, s.lastError, s.readyAt = ss, StateReady, chat.Phrase{}, s.m.deps.Now()
	s.mu.Unlock()
	ss.setReady()
	s.log.add(FromProgram, "It is ready and offers "+display.Count(len(ss.offered().tools), "tool", "tools")+".")
	s.m.changed(s.name)
	s.mu.Lock()
	s.settle() // after the change was reported, so that the registry has the tools when the waiting callers continue
	s.mu.Unlock()
	ss.count()
	err = ss.wait(ctx)
	if ctx.Err() == nil && err == nil {
		err = errors.New("EOF")
	}
	message := s.describeError(err)
	s.mu.Lock()
	s.session = nil
	if ctx.Err() == nil { // callers wait while the session is cleaned up
		s.state, s.lastError, s.settled = StateWaiting, message, make(chan struct{})
	}
	s.mu.Unlock()
	return err
}

// settle marks the current start as succeeded or failed. mu must be held.
func (s *server) settle() {
	select {
	case <-s.settled:
	default:
		close(s.settled)
	}
}

// handleFailure records a failure, and decides whether and after what pause the server is started again.
func (s *server) handleFailure(err error) (again bool, wait time.Duration) {
	message := s.describeError(err)
	s.log.add(FromProgram, message.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	limits := s.m.limits
	if errors.Is(err, mcp.ErrSessionMissing) && !s.readyAt.IsZero() { // callers wait for the next session
		s.readyAt = time.Time{}
		return true, 0
	}
	defer s.settle()
	if !s.readyAt.IsZero() && s.m.deps.Now().Sub(s.readyAt) >= limits.StableAfter {
		s.failures = 0
	}
	s.readyAt = time.Time{}
	s.failures++
	s.lastError = message
	var permanent *permanentError
	switch {
	case errors.Is(err, errSignIn):
		s.state = StateSignIn
		return false, 0
	case errors.As(err, &permanent), s.failures >= limits.Failures:
		s.state = StateFailed
		return false, 0
	}
	wait = min(limits.Backoff<<min(s.failures-1, 16), limits.MaxBackoff)
	s.state, s.retryAt = StateWaiting, s.m.deps.Now().Add(wait)
	return true, wait
}

func (s *server) set(state State) {
	s.mu.Lock()
	s.state, s.lastError = state, chat.Phrase{}
	s.session = nil
	s.settle()
	if state != StateReady && s.cancel != nil {
		s.cancel()
		s.done = nil
	}
	s.mu.Unlock()
	s.m.changed(s.name)
}

// stop ends the run, if there is one, and waits until its processes have ended.
func (s *server) stop() {
	s.mu.Lock()
	done := s.done
	if done != nil {
		s.cancel()
	}
	s.mu.Unlock()
	if done != nil {
		<-done
	}
}

func (s *server) current() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session
}

// ready starts the server if necessary, and waits for it at most as long as a start may take, and until ctx ends.
func (s *server) ready(ctx context.Context) (*session, error) {
	s.mu.Lock()
	if s.state == StateFailed || s.state == StateSignIn {
		err := notStarted(s.name, "%s", s.lastError)
		s.mu.Unlock()
		return nil, err
	}
	s.mu.Unlock()
	select {
	case <-s.start(nil):
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", tools.ErrNotStarted, context.Cause(ctx))
	}
	if ss := s.current(); ss != nil {
		return ss, nil
	}
	st := s.status()
	return nil, notStarted(s.name, "%s", st.Full())
}

// beginQuestion counts an open question, unless there are too many; endQuestion ends it.
func (s *server) beginQuestion() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.questions >= s.m.limits.Questions {
		return false
	}
	s.questions++
	return true
}

func (s *server) endQuestion() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions--
}

// Name implements tools.Source.
func (s *server) Name() string { return s.name }

// Definitions implements tools.Source: the tools that the server last offered, or none unless it is ready.
func (s *server) Definitions() []chat.ToolDefinition {
	ss := s.current()
	if ss == nil {
		return nil
	}
	return append([]chat.ToolDefinition{}, ss.offered().tools...)
}

// Problems implements tools.Complaining: the tools that cannot be offered.
func (s *server) Problems() []tools.Problem {
	if ss := s.current(); ss != nil {
		return ss.offered().problems
	}
	return nil
}

// CallTimeout returns the time limit configured for this server's calls; 0: none.
func (s *server) CallTimeout() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg.Timeout()
}

// Call implements tools.Source. It starts the server if necessary.
func (s *server) Call(ctx context.Context, c tools.Call) (tools.Output, error) {
	ss, err := s.ready(ctx)
	if err != nil {
		return tools.Output{}, err
	}
	if timeout := s.CallTimeout(); timeout > 0 {
		limited, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		clock := tools.StartClock(timeout, tools.MaxPause, func() { cancel(context.DeadlineExceeded) })
		defer clock.Stop()
		ctx, c.Hold = limited, both(c.Hold, clock.Hold)
	}
	out, err := ss.call(ctx, c)
	if errors.Is(err, errForgotten) { // so the call did not run
		if ss = s.reconnected(ctx, ss); ss != nil {
			return ss.call(ctx, c)
		}
	}
	return out, err
}

// reconnected waits for the session after one that the server has forgotten, at most as long as a start may take. It
// returns nil if there is none.
func (s *server) reconnected(ctx context.Context, forgotten *session) *session {
	ctx, cancel := context.WithTimeout(ctx, s.m.limits.Start)
	defer cancel()
	select {
	case <-forgotten.life.Done(): // after its other calls
	case <-ctx.Done():
		return nil
	}
	ss, err := s.ready(ctx)
	if err != nil {
		return nil
	}
	return ss
}

// both returns a function that pauses two clocks, the first of which may be nil.
func both(first, second func() (release func())) func() func() {
	if first == nil {
		return second
	}
	return func() func() {
		releaseFirst, releaseSecond := first(), second()
		return func() { releaseSecond(); releaseFirst() }
	}
}
