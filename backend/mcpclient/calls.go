package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/tools"
)

// call is a running call.
type call struct {
	mu       sync.Mutex
	progress func(tools.Progress)
	last     time.Time

	hold    func() (release func()) // pauses its clock; nil: it has none
	release func()                  // set while the clock is paused, see session.openQuestions
}

func (ss *session) progressed(p *mcp.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	ss.mu.Lock()
	c := ss.calls[token]
	ss.mu.Unlock()
	if c != nil {
		c.report(tools.Progress{Done: p.Progress, Total: p.Total, Message: display.Shorten(clean(ss.s.redact(p.Message)), 500)}, ss.s.m.deps.Now())
	}
}

// report passes progress on, at a limited rate and not after the call has returned.
func (c *call) report(p tools.Progress, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.progress == nil || now.Sub(c.last) < progressEvery && (p.Total == 0 || p.Done < p.Total) {
		return
	}
	c.last = now
	c.progress(p)
}

// call runs a tool. With an error that does not wrap tools.ErrNotStarted, it is unknown whether it ran.
func (ss *session) call(ctx context.Context, tc tools.Call) (tools.Output, error) {
	c, token, err := ss.beginCall(tc)
	if err != nil {
		return tools.Output{}, err
	}
	defer ss.endCall(c, token)
	params := &mcp.CallToolParams{Name: tc.Tool, Arguments: arguments(tc.Arguments)}
	params.SetProgressToken(token)
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ss.life, cancel)()
	callCtx, requests := withAttempt(callCtx)
	result, returned, err := ss.callTool(callCtx, params)
	if err != nil {
		return ss.failed(ctx, err, returned && ss.child == nil && requests.neverReached())
	}
	out := tools.Output{Content: ss.s.redacted(blocksOf(result.Content)), IsError: result.IsError}
	if !containsStructured(result.Content, result.StructuredContent) {
		out.Content = append(out.Content, ss.s.structured(result.StructuredContent)...)
	}
	return out, nil
}

// beginCall registers a running call. The server may have restarted since the call was allowed, so it checks this
// connection's definitions: a tool with another definition is not called.
func (ss *session) beginCall(tc tools.Call) (c *call, token string, err error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if reason := ss.draining; reason != nil {
		return nil, "", notStarted(ss.s.name, "%s", ss.s.describeError(reason))
	}
	i := slices.IndexFunc(ss.offer.tools, func(d chat.ToolDefinition) bool { return d.Tool == tc.Tool })
	switch {
	case i < 0:
		return nil, "", notStarted(ss.s.name, "It does not offer the tool %s any more.", display.Shorten(clean(tc.Tool), 100))
	case tc.Definition != "" && tools.HashOf(ss.offer.tools[i]) != tc.Definition:
		return nil, "", notStarted(ss.s.name, "The definition of its tool %s changed after the call was allowed.", display.Shorten(clean(tc.Tool), 100))
	}
	c = &call{progress: tc.Progress, hold: tc.Hold}
	ss.nextCall++
	token = "call-" + strconv.Itoa(ss.nextCall)
	ss.calls[token] = c
	if ss.openQuestions > 0 {
		c.setPaused(true)
	}
	return c, token, nil
}

func (ss *session) endCall(c *call, token string) {
	ss.mu.Lock()
	delete(ss.calls, token)
	c.setPaused(false)
	ss.endIfDrained()
	ss.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = nil
}

// setPaused pauses or resumes the clock of a call. The session's mu must be held.
func (c *call) setPaused(paused bool) {
	switch {
	case paused && c.hold != nil && c.release == nil:
		c.release = c.hold()
	case !paused && c.release != nil:
		c.release()
		c.release = nil
	}
}

// countQuestions changes the number of open questions to the user. It is unknown which call a question belongs to, and
// other calls may wait for that call, so the clocks of all calls are paused.
func (ss *session) countQuestions(delta int) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.openQuestions += delta
	for _, c := range ss.calls {
		c.setPaused(ss.openQuestions > 0)
	}
}

// callTool also returns when the context ends while the SDK is blocked because the program does not read its input;
// returned is then false.
func (ss *session) callTool(ctx context.Context, params *mcp.CallToolParams) (result *mcp.CallToolResult, returned bool, err error) {
	type answer struct {
		result *mcp.CallToolResult
		err    error
	}
	done := make(chan answer, 1)
	ss.mu.Lock()
	if ss.closed {
		ss.mu.Unlock()
		return nil, false, io.EOF
	}
	ss.work.Go(func() {
		var a answer
		a.err = guard(func() (err error) { a.result, err = ss.conn.CallTool(ctx, params); return err })
		done <- a
	})
	ss.mu.Unlock()
	select {
	case a := <-done:
		return a.result, true, a.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(ss.s.m.limits.Terminate) // notifying the server takes a moment
	defer timer.Stop()
	select {
	case a := <-done:
		return a.result, true, a.err
	case <-timer.C:
		return nil, false, ctx.Err()
	}
}

func arguments(raw json.RawMessage) any {
	if len(raw) == 0 {
		return map[string]any{}
	}
	return raw
}

// failed classifies the error of a call. unreached means that the requests of the call prove that it did not reach the
// server. The error itself proves nothing: if the connection ends, the SDK returns the reason to all running calls.
func (ss *session) failed(ctx context.Context, err error, unreached bool) (tools.Output, error) {
	if wire, ok := serverError(err); ok && (!mayBeLocal(wire) || !ss.hasEnded()) {
		if wire.Code == codeOpenPage {
			return ss.openPages(ctx, wire.Data), nil
		}
		message := display.Shorten(ss.s.redact(text(wire.Message)), maxErrorText)
		return tools.Output{Content: chat.Blocks{chat.Text{Text: "The server refused the call: " + message}}, IsError: true}, nil
	}
	if ctx.Err() != nil {
		return tools.Output{}, fmt.Errorf("the call was stopped before its result came: %w", context.Cause(ctx))
	}
	if ss.life.Err() != nil && errors.Is(err, context.Canceled) {
		err = io.EOF // the session ended before the connection
	}
	message := ss.s.describeError(ss.endReason(err))
	reconnect := isDial(err) || errors.Is(err, errSignIn) || errors.Is(err, mcp.ErrSessionMissing)
	if reconnect {
		ss.drain(err)
	}
	var permanent *permanentError
	switch {
	case unreached && errors.Is(err, mcp.ErrSessionMissing):
		return tools.Output{}, errors.Join(notStarted(ss.s.name, "%s", message), errForgotten)
	case unreached:
		return tools.Output{}, notStarted(ss.s.name, "%s", message)
	case errors.As(err, &permanent):
		return tools.Output{}, chat.WrapError(chat.CodeUnavailable, "mcp.call", errEnded, "The server %s returned no result. %s", ss.s.name, message)
	case reconnect, isEnd(err), errors.Is(err, errFrame), errors.Is(err, errFlood), errors.Is(err, os.ErrDeadlineExceeded), isBroken(err), ss.hasEnded():
		return tools.Output{}, chat.WrapError(chat.CodeUnavailable, "mcp.call", errEnded, "The server %s ended while the tool ran. %s", ss.s.name, message)
	}
	return tools.Output{}, chat.WrapError(chat.CodeProvider, "mcp.call", tools.ErrUnreadable, "The server %s returned a result that cannot be read. %s", ss.s.name, message)
}

// errEnded is the error of calls that may have run.
var errEnded = errors.New("the connection to the server ended")

// isBroken reports whether an HTTP request got no complete response.
func isBroken(err error) bool {
	var request *url.Error
	return errors.As(err, &request) || errors.Is(err, io.ErrUnexpectedEOF)
}

// hasEnded reports whether the connection has ended, which may be noticed shortly after the end of a call.
func (ss *session) hasEnded() bool {
	if ss.life.Err() != nil {
		return true
	}
	done := make(chan struct{})
	go func() { _ = ss.conn.Wait(); close(done) }()
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// openPages asks the user to open pages that a server requires before it works.
func (ss *session) openPages(ctx context.Context, data json.RawMessage) tools.Output {
	var required struct {
		Elicitations []*mcp.ElicitParams `json:"elicitations"`
	}
	_ = json.Unmarshal(data, &required)
	message := "The server requires the person to visit a page first. The person was asked and did not open it."
	for i, p := range required.Elicitations {
		if i >= ss.s.m.limits.Questions || p == nil {
			break
		}
		p.Mode = ModeURL
		if r, err := ss.elicit(ctx, p); err == nil && r.Action == Accept {
			message = "The server requires the person to visit a page first. The person opened it. When the person is done there, make the call again."
		}
	}
	return tools.Output{Content: chat.Blocks{chat.Text{Text: message}}, IsError: true}
}

// elicit asks the user a question of the server.
func (ss *session) elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	s := ss.s
	if s.m.deps.Elicit == nil || p == nil || !s.beginQuestion() {
		return &mcp.ElicitResult{Action: Decline}, nil
	}
	defer s.endQuestion()
	q, err := s.questionOf(p)
	if err != nil {
		s.log.add(FromProgram, "It asked a question that cannot be shown: "+err.Error()+".")
		return &mcp.ElicitResult{Action: Decline}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.m.limits.Ask)
	defer cancel()
	stop := context.AfterFunc(ss.life, cancel)
	defer stop()
	ss.countQuestions(1)
	defer ss.countQuestions(-1)
	a, err := s.m.deps.Elicit.Elicit(ctx, q)
	if err != nil || a.Action != Accept {
		action := Decline
		if err == nil && a.Action == Cancel {
			action = Cancel
		}
		return &mcp.ElicitResult{Action: action}, nil
	}
	result := &mcp.ElicitResult{Action: Accept}
	if q.Mode == ModeForm {
		if result.Content, err = q.contentOf(a); err != nil {
			return &mcp.ElicitResult{Action: Cancel}, nil
		}
	}
	return result, nil
}
