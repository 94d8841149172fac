package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/panics"
)

// session is a ready connection, and what the server last offered on it.
type session struct {
	s     *server
	conn  *mcp.ClientSession
	child *child // nil: a remote server
	idle  func() // closes idle connections

	opened time.Time

	life context.Context // ends with the session
	end  context.CancelFunc
	work sync.WaitGroup
	lost chan error // why it cannot continue, if the connection itself does not end

	listing sync.Mutex // lists are read one at a time

	mu            sync.Mutex
	closed        bool
	offer         offer
	debounce      *time.Timer
	ready         bool // its tools are offered
	stale         bool // a change was announced before it was ready
	calls         map[string]*call
	nextCall      int
	traffic       *traffic
	openQuestions int   // to the user: the clocks of all calls are paused meanwhile
	draining      error // why no further call is started; the session ends after the running ones
	prompts       int
	resources     int // including templates
}

// open connects to a server. After a failure everything is closed again.
func (s *server) open(ctx context.Context, in *signIn) (_ *session, err error) {
	ss := &session{s: s, calls: map[string]*call{}, idle: func() {}, lost: make(chan error, 1), opened: s.m.deps.Now()}
	ss.life, ss.end = context.WithCancel(context.Background())
	ss.traffic = &traffic{
		now: s.m.deps.Now, onToolsChanged: ss.changed, abort: ss.abort,
		onFirstDrop: func() { s.log.add(FromProgram, "It sends more notices than can be handled: some are left out.") },
	}
	defer func() {
		if err != nil {
			ss.close()
		}
	}()
	transport, err := s.transport(ctx, ss, in)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "contextinfinity", Title: "ContextInfinity", Version: s.m.deps.Version}, ss.clientOptions())
	if ss.conn, err = connect(ctx, client, transport); err != nil {
		if s.wasChallenged() { // the SDK then tries its older handshake, and returns that error
			err = errors.Join(errSignIn, err)
		}
		return nil, ss.endReason(err)
	}
	found, err := ss.list(ctx)
	if err != nil {
		return nil, ss.endReason(err)
	}
	ss.offer = found
	return ss, nil
}

// connect connects a client. If the context has ended, the error says so: the SDK's own error may not.
func connect(ctx context.Context, client *mcp.Client, t mcp.Transport) (*mcp.ClientSession, error) {
	var conn *mcp.ClientSession
	err := guard(func() (err error) { conn, err = client.Connect(ctx, t, nil); return err })
	if err == nil && conn.InitializeResult() == nil {
		err = errors.New("the server did not describe itself")
	}
	if err != nil && ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return conn, err
}

// guard converts a panic of the SDK, caused by a server's message, to an error of this server.
func guard(f func() error) (err error) {
	defer panics.Recover(func(e *chat.Error, _ []byte) { err = e })
	return f()
}

func (ss *session) clientOptions() *mcp.ClientOptions {
	o := &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { ss.changed() },
		//lint:ignore SA1019 servers of earlier revisions still send it, and there is no other source of their log messages
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { ss.logged(r.Params) }, //nolint:staticcheck // see above
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			ss.progressed(r.Params)
		},
	}
	if ss.s.m.deps.Elicit != nil {
		o.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
		o.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return ss.elicit(ctx, r.Params)
		}
	}
	return o
}

// endReason returns how the server's program ended, if that is known and err only says that the connection ended;
// otherwise err.
func (ss *session) endReason(err error) error {
	if ss.child == nil || !isEnd(err) {
		return err
	}
	if failed := ss.child.filter.failure(); errors.Is(failed, errFrame) || errors.Is(failed, errFlood) {
		return failed
	}
	ss.child.ended(100 * time.Millisecond) // the end of its output is noticed first
	if reason := ss.child.exitReason(); reason != "" {
		select {
		case <-ss.child.drained:
		case <-time.After(ss.s.m.limits.Terminate): // a process that it left behind keeps its output open
		}
		if line := ss.s.log.last(FromStderr, ss.opened); line != "" {
			reason += " It wrote: " + line
		}
		return &endedError{reason, err}
	}
	return err
}

// isEnd reports whether an error only says that the connection ended.
func isEnd(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE)
}

// endedError says how a server's program ended.
type endedError struct {
	message string
	err     error
}

func (e *endedError) Error() string { return e.message }
func (e *endedError) Unwrap() error { return e.err }

//lint:ignore SA1019 see clientOptions
func (ss *session) logged(p *mcp.LoggingMessageParams) { //nolint:staticcheck // see LoggingMessageHandler
	if p == nil {
		return
	}
	text, ok := p.Data.(string)
	if !ok {
		raw, _ := json.Marshal(p.Data)
		text = string(raw)
	}
	ss.s.log.add(FromServer, string(p.Level)+": "+display.Shorten(text, logLine))
}

// progressEvery is the minimum time between progress reports.
const progressEvery = 100 * time.Millisecond

// drain ends the session after the running calls, which need not fail like the refused one.
func (ss *session) drain(reason error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.draining = cmp.Or(ss.draining, reason)
	ss.endIfDrained()
}

// abort ends the session now, because the connection would not end on its own.
func (ss *session) abort(reason error) {
	select {
	case ss.lost <- reason:
	default:
	}
}

// endIfDrained ends a draining session without running calls. mu must be held.
func (ss *session) endIfDrained() {
	if ss.draining == nil || len(ss.calls) > 0 {
		return
	}
	ss.abort(ss.draining) // the server is connected again, or waits for the user to sign in
}

// wait returns when the connection or ctx has ended.
func (ss *session) wait(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- ss.conn.Wait() }()
	select {
	case err := <-done:
		return ss.endReason(err)
	case err := <-ss.lost:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends the session and its process. It may be called twice.
func (ss *session) close() {
	ss.mu.Lock()
	ss.closed = true
	if ss.debounce != nil {
		ss.debounce.Stop()
	}
	ss.mu.Unlock()
	ss.end()
	if ss.child != nil {
		ss.child.stop()
	}
	if ss.conn != nil {
		_ = ss.conn.Close()
	}
	ss.idle()
	ss.work.Wait()
}
