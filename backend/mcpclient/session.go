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
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/panics"
	"contextinfinity/backend/internal/scrub"
	"contextinfinity/backend/tools"
)

// session is a ready connection, and what the server last offered on it.
type session struct {
	s     *server
	conn  *mcp.ClientSession
	child *child // nil: a remote server
	idle  func() // closes idle connections

	life context.Context // ends with the session
	end  context.CancelFunc
	work sync.WaitGroup
	lost chan error // why it cannot continue, if the connection itself does not end

	listing sync.Mutex // lists are read one at a time

	mu       sync.Mutex
	closed   bool
	offer    offer
	debounce *time.Timer
	ready    bool // its tools are offered
	stale    bool // a change was announced before it was ready
	calls    map[string]*call
	nextCall int
	traffic  *traffic
	asking   int   // open questions to the user: the clocks of all calls are paused meanwhile
	leaving  error // why no further call is started; the session ends after the running ones
	prompts  int
	things   int // resources and templates
}

// offer is the tools that a server offers.
type offer struct {
	tools    []chat.ToolDefinition
	problems []tools.Problem
}

// call is a running call.
type call struct {
	mu       sync.Mutex
	progress func(tools.Progress)
	last     time.Time

	hold    func() (release func()) // pauses its clock; nil: it has none
	release func()                  // set while it is paused, see session.asking
}

// open connects to a server. After a failure everything is closed again.
func (s *server) open(ctx context.Context, in *signIn) (_ *session, err error) {
	ss := &session{s: s, calls: map[string]*call{}, idle: func() {}, lost: make(chan error, 1)}
	ss.life, ss.end = context.WithCancel(context.Background())
	ss.traffic = &traffic{
		now: s.m.deps.Now, changed: ss.changed, flooded: ss.breakOff,
		dropped: func() { s.log.add(FromProgram, "It sends more notices than can be handled: some are left out.") },
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
		return nil, ss.because(err)
	}
	found, err := ss.list(ctx)
	if err != nil {
		return nil, ss.because(err)
	}
	ss.offer = found
	return ss, nil
}

// connect also returns when the context ends while the transport is still blocked.
func connect(ctx context.Context, client *mcp.Client, t mcp.Transport) (*mcp.ClientSession, error) {
	var conn *mcp.ClientSession
	err := guard(func() (err error) { conn, err = client.Connect(ctx, t, nil); return err })
	if err == nil && conn.InitializeResult() == nil {
		err = errors.New("the server did not say what it is")
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
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { ss.logged(r.Params) },
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

// because prefers the reason for the program's end to the connection's error.
func (ss *session) because(err error) error {
	if ss.child == nil || !isEnd(err) {
		return err
	}
	if failed := ss.child.filter.failure(); errors.Is(failed, errFrame) || errors.Is(failed, errFlood) {
		return failed
	}
	ss.child.ended(100 * time.Millisecond) // the end of its output is noticed first
	if why := ss.child.why(); why != "" {
		return &endedError{why, err}
	}
	return err
}

// isEnd reports an error that only says that the connection ended.
func isEnd(err error) bool {
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) || errors.Is(err, syscall.EPIPE)
}

// endedError is of a program that ended.
type endedError struct {
	words string
	err   error
}

func (e *endedError) Error() string { return e.words }
func (e *endedError) Unwrap() error { return e.err }

// list requests the tools, with limits on pages, number and time.
func (ss *session) list(ctx context.Context) (offer, error) {
	caps := ss.conn.InitializeResult().Capabilities
	if caps == nil || caps.Tools == nil {
		return offer{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, ss.s.m.limits.List)
	defer cancel()
	c := &collector{s: ss.s, count: map[string]int{}}
	complete, err := pages(ss.s.m.limits.Pages, func(cursor string) (string, error) {
		r, err := ss.conn.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, t := range r.Tools {
			c.add(t)
		}
		return r.NextCursor, nil
	}, func() bool { return len(c.out.tools) >= ss.s.m.limits.Tools })
	if err != nil {
		return offer{}, fmt.Errorf("its list of tools: %w", err)
	}
	switch {
	case !complete:
		c.problem("", "Its list of tools does not end: the first %d are offered.", len(c.out.tools))
	case c.left > 0:
		c.problem("", "It has more than %d tools: %d of them are left out.", ss.s.m.limits.Tools, c.left)
	}
	return c.out, nil
}

// pages follows the cursors of a list up to a limit. complete: it reached the end.
func pages(most int, page func(cursor string) (next string, err error), full func() bool) (complete bool, err error) {
	cursor := ""
	for range most {
		next, err := page(cursor)
		if err != nil {
			return false, err
		}
		if next == "" {
			return true, nil
		}
		if full() || next == cursor {
			return false, nil
		}
		cursor = next
	}
	return false, nil
}

// collector checks the tools that a server offers.
type collector struct {
	s     *server
	out   offer
	count map[string]int // occurrences of each name
	bytes int
	left  int // tools beyond the limit
}

// maxProblems limits the unusable tools that are named.
const maxProblems = 50

func (c *collector) problem(subject, format string, args ...any) {
	if len(c.out.problems) < maxProblems {
		c.out.problems = append(c.out.problems, tools.Problem{Source: c.s.name, Tool: display.Shorten(clean(subject), 100), Message: c.s.redact(fmt.Sprintf(format, args...))})
	}
}

func (c *collector) add(t *mcp.Tool) {
	limits := c.s.m.limits
	name := t.Name
	if name == "" || len(name) > 256 || clean(name) != name {
		c.problem(name, "It has a name that cannot be used.")
		return
	}
	c.count[name]++
	switch n := c.count[name]; {
	case n == 2:
		c.refuse(name)
		return
	case n > 2:
		return
	case len(c.out.tools) >= limits.Tools:
		c.left++
		return
	}
	d, problem := c.definition(t)
	size := sizeOf(d)
	switch {
	case problem != "":
		c.problem(name, "%s", problem)
	case len(d.Description) > limits.Description || len(d.Title) > 1000:
		c.problem(name, "Its description is longer than %d KiB.", limits.Description>>10)
	case len(d.Schema) > limits.Schema || len(d.Annotations) > limits.Schema:
		c.problem(name, "Its schema is larger than %d KiB.", limits.Schema>>10)
	case c.bytes+size > limits.Definitions:
		c.problem(name, "All its definitions together are larger than %d KiB.", limits.Definitions>>10)
	default:
		c.bytes += size
		c.out.tools = append(c.out.tools, d)
	}
}

// refuse removes a tool whose name is duplicated.
func (c *collector) refuse(name string) {
	c.problem(name, "The server offers several tools of this name, so it is not clear which one would run. None of them is offered.")
	c.out.tools = slices.DeleteFunc(c.out.tools, func(d chat.ToolDefinition) bool {
		same := d.Tool == name
		if same {
			c.bytes -= sizeOf(d)
		}
		return same
	})
}

func sizeOf(d chat.ToolDefinition) int {
	return len(d.Description) + len(d.Schema) + len(d.Annotations) + len(d.Title)
}

func (c *collector) definition(t *mcp.Tool) (d chat.ToolDefinition, problem string) {
	d = chat.ToolDefinition{Source: c.s.name, Tool: t.Name, Title: c.s.redact(text(t.Title)), Description: c.s.redact(text(t.Description)), Effects: true}
	schema, ok := t.InputSchema.(map[string]any)
	if !ok {
		return d, "It has no schema for its arguments, or one that is not an object."
	}
	if kind, said := schema["type"]; said && kind != "object" {
		return d, "Its arguments are not an object."
	}
	var err error
	if d.Schema, err = chat.MarshalJSON(schema); err != nil {
		return d, "Its schema cannot be read."
	}
	d.Schema = scrub.JSON(d.Schema, c.s.plainRedact)
	if t.Annotations != nil {
		if d.Title == "" {
			d.Title = c.s.redact(text(t.Annotations.Title))
		}
		if d.Annotations, err = chat.MarshalJSON(t.Annotations); err != nil {
			return d, "Its annotations cannot be read."
		}
		d.Annotations = scrub.JSON(d.Annotations, c.s.plainRedact)
	}
	return d, ""
}

// changed lists the tools again, once for several announced changes.
func (ss *session) changed() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.closed || ss.debounce != nil {
		return
	}
	ss.debounce = time.AfterFunc(ss.s.m.limits.Debounce, func() {
		ss.mu.Lock()
		if ss.closed {
			ss.mu.Unlock()
			return
		}
		ss.debounce = nil // a later announcement may not be covered by the list below
		ss.work.Add(1)
		ss.mu.Unlock()
		defer ss.work.Done()
		ss.relist()
	})
}

// relist requests the tools again. If that fails, none are offered, because the earlier definitions may be outdated.
func (ss *session) relist() {
	ss.listing.Lock()
	defer ss.listing.Unlock()
	ss.mu.Lock()
	ss.stale = !ss.ready
	wait := ss.stale
	ss.mu.Unlock()
	if wait {
		return // done once the session is ready
	}
	found, err := ss.list(ss.life)
	if err != nil {
		if ss.life.Err() != nil {
			return
		}
		why := "It said that its tools changed, and they could not be read: " + ss.s.wordsOf(err)
		ss.s.log.add(FromProgram, why)
		found = offer{problems: []tools.Problem{{Source: ss.s.name, Message: why}}}
	}
	ss.mu.Lock()
	same := sameTools(ss.offer.tools, found.tools) && len(ss.offer.problems) == len(found.problems)
	ss.offer = found
	ss.mu.Unlock()
	if !same {
		ss.s.log.add(FromProgram, fmt.Sprintf("Its tools changed: it offers %d now.", len(found.tools)))
		ss.s.m.changed(ss.s.name)
	}
}

// nowReady handles a change announced before the session was ready.
func (ss *session) nowReady() {
	ss.mu.Lock()
	ss.ready = true
	stale := ss.stale
	ss.mu.Unlock()
	if stale {
		ss.changed()
	}
}

func sameTools(a, b []chat.ToolDefinition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Hash() != b[i].Hash() {
			return false
		}
	}
	return true
}

func (ss *session) offered() offer {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.offer
}

//lint:ignore SA1019 see clientOptions
func (ss *session) logged(p *mcp.LoggingMessageParams) {
	if p == nil {
		return
	}
	said, ok := p.Data.(string)
	if !ok {
		raw, _ := json.Marshal(p.Data)
		said = string(raw)
	}
	ss.s.log.add(FromServer, string(p.Level)+": "+display.Shorten(said, logLine))
}

// progressEvery is the minimum time between progress reports.
const progressEvery = 100 * time.Millisecond

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

// report passes progress on, but not after the call has returned.
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
	c, token, err := ss.enter(tc)
	if err != nil {
		return tools.Output{}, err
	}
	defer ss.leaveCall(c, token)
	params := &mcp.CallToolParams{Name: tc.Tool, Arguments: arguments(tc.Arguments)}
	params.SetProgressToken(token)
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ss.life, cancel)()
	running, sent := withAttempt(running)
	result, returned, err := ss.callTool(running, params)
	if err != nil {
		return ss.failed(ctx, err, returned && ss.child == nil && sent.neverReached())
	}
	out := tools.Output{Content: ss.s.redacted(blocksOf(result.Content)), IsError: result.IsError}
	if !says(result.Content, result.StructuredContent) {
		out.Content = append(out.Content, ss.s.structured(result.StructuredContent)...)
	}
	return out, nil
}

// enter registers a running call. The server may have restarted since the call was allowed, so it checks this
// connection's definitions: a tool with another definition is not called.
func (ss *session) enter(tc tools.Call) (c *call, token string, err error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if why := ss.leaving; why != nil {
		return nil, "", notStarted(ss.s.name, "%s", ss.s.wordsOf(why))
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
	if ss.asking > 0 {
		c.held(true)
	}
	return c, token, nil
}

func (ss *session) leaveCall(c *call, token string) {
	ss.mu.Lock()
	delete(ss.calls, token)
	c.held(false)
	ss.leaveIfIdle()
	ss.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.progress = nil
}

// held pauses or continues the clock of a call. It is called with the session's mu held.
func (c *call) held(yes bool) {
	switch {
	case yes && c.hold != nil && c.release == nil:
		c.release = c.hold()
	case !yes && c.release != nil:
		c.release()
		c.release = nil
	}
}

// ask counts an open question to the user. It is unknown which call it belongs to, and others may wait for that one,
// so all clocks are paused.
func (ss *session) ask(by int) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.asking += by
	for _, c := range ss.calls {
		c.held(ss.asking > 0)
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

// leave ends the session after the running calls, which need not fail like the refused one.
func (ss *session) leave(why error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.leaving == nil {
		ss.leaving = why
	}
	ss.leaveIfIdle()
}

// breakOff ends the session now, because the connection would not end by itself.
func (ss *session) breakOff(why error) {
	select {
	case ss.lost <- why:
	default:
	}
}

// leaveIfIdle is called with mu held.
func (ss *session) leaveIfIdle() {
	if ss.leaving == nil || len(ss.calls) > 0 {
		return
	}
	ss.breakOff(ss.leaving) // the server is connected again, or waits for the user to sign in
}

// failed classifies the error of a call. unreached: its own requests prove that it did not reach the server. The
// error itself proves nothing: the SDK returns the reason for the connection's end to all running calls.
func (ss *session) failed(ctx context.Context, err error, unreached bool) (tools.Output, error) {
	if wire, ok := answered(err); ok && (!mayBeOurs(wire) || !ss.gone()) {
		if wire.Code == codeOpenPage {
			return ss.openPages(ctx, wire.Data), nil
		}
		words := display.Shorten(ss.s.redact(text(wire.Message)), longestWords)
		return tools.Output{Content: chat.Blocks{chat.Text{Text: "The server refused the call: " + words}}, IsError: true}, nil
	}
	if ctx.Err() != nil {
		return tools.Output{}, fmt.Errorf("the call was ended before its result came: %w", context.Cause(ctx))
	}
	if ss.life.Err() != nil && errors.Is(err, context.Canceled) {
		err = io.EOF // the session ended before the connection
	}
	words := ss.s.wordsOf(ss.because(err))
	anew := isDial(err) || errors.Is(err, errSignIn) || errors.Is(err, mcp.ErrSessionMissing)
	if anew {
		ss.leave(err)
	}
	var permanent *permanentError
	switch {
	case unreached:
		return tools.Output{}, notStarted(ss.s.name, "%s", words)
	case errors.As(err, &permanent):
		return tools.Output{}, chat.WrapError(chat.CodeUnavailable, "mcp.call", errEnded, fmt.Sprintf("The server %s gave no result. %s", ss.s.name, words))
	case anew, isEnd(err), errors.Is(err, errFrame), errors.Is(err, errFlood), errors.Is(err, os.ErrDeadlineExceeded), isBroken(err), ss.gone():
		return tools.Output{}, chat.WrapError(chat.CodeUnavailable, "mcp.call", errEnded, fmt.Sprintf("The server %s ended while the tool ran. %s", ss.s.name, words))
	}
	return tools.Output{}, chat.WrapError(chat.CodeProvider, "mcp.call", tools.ErrUnreadable, fmt.Sprintf("The server %s returned a result that cannot be read. %s", ss.s.name, words))
}

// errEnded is for calls that may have run.
var errEnded = errors.New("the connection to the server ended")

// isBroken reports an HTTP request without a response.
func isBroken(err error) bool {
	var request *url.Error
	return errors.As(err, &request) || errors.Is(err, io.ErrUnexpectedEOF)
}

// gone reports that the connection has ended, which may be noticed shortly after a call's end.
func (ss *session) gone() bool {
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
	var wants struct {
		Elicitations []*mcp.ElicitParams `json:"elicitations"`
	}
	_ = json.Unmarshal(data, &wants)
	said := "The server wants a page to be visited before this works. The person was asked and did not open it."
	for i, p := range wants.Elicitations {
		if i >= ss.s.m.limits.Questions || p == nil {
			break
		}
		p.Mode = ModeURL
		if r, err := ss.elicit(ctx, p); err == nil && r.Action == Accept {
			said = "The server wanted a page to be visited before this works. The person opened it: when that is done, the call can be made again."
		}
	}
	return tools.Output{Content: chat.Blocks{chat.Text{Text: said}}, IsError: true}
}

// elicit asks the user a question of the server.
func (ss *session) elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	s := ss.s
	if s.m.deps.Elicit == nil || p == nil || !s.begin() {
		return &mcp.ElicitResult{Action: Decline}, nil
	}
	defer s.finish()
	q, err := s.questionOf(p)
	if err != nil {
		s.log.add(FromProgram, "It asked a question that cannot be shown: "+err.Error()+".")
		return &mcp.ElicitResult{Action: Decline}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.m.limits.Ask)
	defer cancel()
	stop := context.AfterFunc(ss.life, cancel)
	defer stop()
	ss.ask(1)
	defer ss.ask(-1)
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

// wait returns when the connection or ctx has ended.
func (ss *session) wait(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- ss.conn.Wait() }()
	select {
	case err := <-done:
		return ss.because(err)
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
