package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/internal/panics"
	"contextinfinity/backend/internal/scrub"
	"contextinfinity/backend/tools"
)

const (
	defaultCallTimeout = time.Minute
	// callGrace is how long a source has to return after its call was cancelled. Then it is abandoned.
	callGrace = 5 * time.Second
	// callProgressEvery is the minimum time between progress reports to the window.
	callProgressEvery = 250 * time.Millisecond
	// retryPause is the pause before the second try of a call that never reached its tool.
	retryPause = 500 * time.Millisecond
	// maxResult is the maximum stored size of a result, in bytes.
	maxResult = 32 << 20
)

// Causes for cancelling a running call.
var (
	errCallCancelled = errors.New("the call was cancelled by the user")
	errCallTimeout   = errors.New("the call took too long")
)

// runningCall is a call that runs in this process.
type runningCall struct {
	cancel   context.CancelCauseFunc
	mu       sync.Mutex
	progress tools.Progress
	reported time.Time
}

// unrecorded is an ended call whose end could not be saved.
type unrecorded struct {
	err  error
	turn chat.TurnID
	e    *Engine
	ends []chat.CallEnd
}

func (u *unrecorded) Error() string { return u.err.Error() }
func (u *unrecorded) Unwrap() error { return u.err }

// and combines two unrecorded ends; u may be nil.
func (u *unrecorded) and(other *unrecorded) *unrecorded {
	if u == nil {
		return other
	}
	u.ends = append(u.ends, other.ends...)
	return u
}

// write saves the ends again.
func (u *unrecorded) write(ctx context.Context) (chat.Turn, error) {
	for len(u.ends) > 0 {
		if err := u.e.toolCalls.EndCall(ctx, u.ends[0]); err != nil {
			return chat.Turn{}, err
		}
		u.ends = u.ends[1:]
	}
	return u.e.past.Turn(ctx, u.turn)
}

// execute runs one call: it is durably recorded as started before its source is called, and its end before anything
// else uses it. The error is from the database.
func (e *Engine) execute(ctx context.Context, b chat.ToolBatch, c chat.CallRecord) error {
	if may, err := e.mayExecute(ctx, b, c); err != nil || !may {
		return err
	}
	defer e.approve(c.ID, false)
	def, src, refusal := e.runnable(c)
	if refusal != "" {
		return e.refuse(ctx, b, c, refusal)
	}
	if allowed, err := e.stillAllowed(ctx, b, c, def); err != nil || !allowed {
		return err
	}
	arguments, redactions := e.redactArguments(c.Arguments)
	effects := c.Effects || def.Effects
	if c.State == chat.CallStarted && effects { // when it started, its effects were not known
		err := e.toolCalls.EndCall(ctx, chat.CallEnd{Call: c.ID, State: chat.CallStarted, Reason: chat.UnknownCrash})
		e.changed(chat.ChangeCall, string(c.ID), b.SessionID)
		return err
	}
	for try := 1; ; try++ {
		if err := e.toolCalls.StartCall(ctx, c.ID, redactions); err != nil {
			return err
		}
		if err := faults.Point("tool.started"); err != nil {
			return err
		}
		end, err := e.runCall(ctx, b, c, src, arguments, effects)
		if errors.Is(err, tools.ErrNotStarted) && !c.Effects && try == 1 && context.Cause(ctx) == nil {
			clock.Sleep(ctx, retryPause)
			continue
		}
		if err := faults.Point("tool.returned"); err != nil {
			return err
		}
		if err := e.toolCalls.EndCall(context.WithoutCancel(ctx), end); err != nil {
			return &unrecorded{err: err, turn: b.TurnID, e: e, ends: []chat.CallEnd{end}}
		}
		e.changed(chat.ChangeCall, string(c.ID), b.SessionID)
		return nil
	}
}

// mayExecute refuses a call that was requested elsewhere and that was not allowed here since the program started,
// whatever its records say, because an import can contain any record. The user decides.
func (e *Engine) mayExecute(ctx context.Context, b chat.ToolBatch, c chat.CallRecord) (bool, error) {
	e.mu.Lock()
	approved := e.approved[c.ID]
	e.mu.Unlock()
	if approved {
		return true, nil
	}
	if own, err := e.isOwn(ctx, b); err != nil || own {
		return own, err
	}
	return false, e.putBack(ctx, b, c)
}

// runnable is a call's current tool; refusal says why it cannot run.
func (e *Engine) runnable(c chat.CallRecord) (def chat.ToolDefinition, src tools.Source, refusal string) {
	def, src, ok := e.definition(c.Source, c.Tool)
	switch {
	case !ok:
		return def, src, unavailableToolText(c.Name)
	case def.Hash() != c.Definition:
		return def, src, changedToolText(c.Name)
	}
	return def, src, ""
}

// stillAllowed checks, right before a call starts, whether its permission still applies: it may have been revoked, or
// the tool forbidden, since the decision. A forbidden call is denied; one without permission needs approval again.
func (e *Engine) stillAllowed(ctx context.Context, b chat.ToolBatch, c chat.CallRecord, def chat.ToolDefinition) (bool, error) {
	now, err := e.tools.Decision(ctx, b.SessionID, def)
	if err != nil {
		return false, err
	}
	forbidden := now == chat.DecisionNever || now == chat.DecisionDeny
	if !forbidden && (!c.Decision.Lasts() || now.Allows()) {
		return true, nil
	}
	switch {
	case c.State == chat.CallStarted && forbidden: // it has no effects, and a crash interrupted it
		err = e.toolCalls.EndCall(ctx, chat.CallEnd{Call: c.ID, State: c.State, Result: errorResult(deniedText)})
	case c.State == chat.CallStarted:
		err = e.toolCalls.EndCall(ctx, chat.CallEnd{Call: c.ID, State: c.State, Reason: chat.UnknownCrash})
	case forbidden:
		err = e.toolCalls.DecideCall(ctx, chat.CallDecision{Call: c.ID, State: c.State, Decision: now, Definition: c.Definition, Result: errorResult(deniedText)})
	default:
		err = e.toolCalls.DecideCall(ctx, chat.CallDecision{Call: c.ID, State: c.State, Definition: c.Definition})
	}
	e.changed(chat.ChangeCall, string(c.ID), b.SessionID)
	return false, err
}

// refuse ends a call that cannot run after all. A call without effects that a crash interrupted has already started.
func (e *Engine) refuse(ctx context.Context, b chat.ToolBatch, c chat.CallRecord, reason string) error {
	var err error
	if c.State == chat.CallStarted {
		err = e.toolCalls.EndCall(ctx, chat.CallEnd{Call: c.ID, Result: errorResult(reason)})
	} else {
		err = e.toolCalls.DecideCall(ctx, chat.CallDecision{
			Call: c.ID, State: c.State, Decision: chat.DecisionNotRun, Definition: c.Definition, Result: errorResult(reason),
		})
	}
	e.changed(chat.ChangeCall, string(c.ID), b.SessionID)
	return err
}

// redactArguments removes secrets from a tool's arguments, as from prompts.
func (e *Engine) redactArguments(raw json.RawMessage) (json.RawMessage, []chat.CallRedaction) {
	if e.redact == nil {
		return raw, nil
	}
	var found []chat.CallRedaction
	return scrub.JSON(raw, func(text string) string {
		clean, rules := e.redact(text)
		for _, r := range rules {
			found = append(found, chat.CallRedaction{Rule: r.Rule, Bytes: r.Bytes})
		}
		return clean
	}), found
}

// runCall calls the source and determines how the call ended. The error is the source's.
func (e *Engine) runCall(ctx context.Context, b chat.ToolBatch, c chat.CallRecord, src tools.Source, arguments json.RawMessage, effects bool) (chat.CallEnd, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	live := &runningCall{cancel: cancel}
	call := tools.Call{
		ID: c.ID, Session: b.SessionID, Branch: b.BranchID, Turn: b.TurnID, Tool: c.Tool, Arguments: arguments, Definition: c.Definition,
		Progress: func(p tools.Progress) { e.progressed(b, c.ID, live, p) },
	}
	limit := e.callLimit(src, call)
	clock := tools.StartClock(limit, tools.MaxPause, func() { cancel(errCallTimeout) })
	defer clock.Stop()
	call.Hold = clock.Hold
	e.mu.Lock()
	e.calls[c.ID] = live
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.calls, c.ID)
		e.mu.Unlock()
	}()
	e.changed(chat.ChangeCall, string(c.ID), b.SessionID)
	out, err := e.ask(ctx, src, call)
	return endOf(c.ID, out, err, context.Cause(ctx), effects, limit), err
}

// callLimit is the time limit of a call: the settings', or its own if that is longer. A source may end its calls
// earlier.
func (e *Engine) callLimit(src tools.Source, c tools.Call) time.Duration {
	limit := e.settings().CallTimeout
	if limit <= 0 {
		limit = defaultCallTimeout
	}
	if own, ok := src.(tools.TimeLimited); ok {
		limit = max(limit, own.CallLimit(c))
	}
	return limit
}

// ask calls the source in a separate goroutine: one that does not return after cancellation is abandoned, and a panic
// in it fails only this call.
func (e *Engine) ask(ctx context.Context, src tools.Source, c tools.Call) (tools.Output, error) {
	type answer struct {
		out tools.Output
		err error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() { done <- a }()
		defer panics.Recover(func(d *chat.Error, stack []byte) {
			e.log.Error("a tool panicked", "source", src.Name(), "tool", c.Tool, "err", d, "stack", string(stack))
			a = answer{err: d}
		})
		a.out, a.err = src.Call(ctx, c)
	}()
	select {
	case a := <-done:
		return a.out, a.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(callGrace)
	defer timer.Stop()
	select {
	case a := <-done:
		return a.out, a.err
	case <-timer.C:
		e.log.Warn("a tool did not end when it was cancelled", "source", src.Name(), "tool", c.Tool)
		return tools.Output{}, context.Cause(ctx)
	}
}

// endOf determines how a call ended. Without a readable result, the outcome of a call with effects is unknown.
func endOf(id chat.ToolCallID, out tools.Output, err, cause error, effects bool, limit time.Duration) chat.CallEnd {
	if err == nil {
		return chat.CallEnd{Call: id, Result: storedResult(out), Recalled: out.Recalled}
	}
	if errors.Is(err, tools.ErrNotStarted) {
		return chat.CallEnd{Call: id, Result: errorResult("Not run: the tool could not be reached. " + errorMessage(err))}
	}
	reason := chat.UnknownEnded
	message := "The tool's server ended, or the connection to it: " + errorMessage(err)
	switch {
	case errors.Is(cause, errCallTimeout):
		reason, message = chat.UnknownTimeout, fmt.Sprintf("The tool did not answer within %s.", limit)
	case errors.Is(cause, errClosing):
		reason, message = chat.UnknownCrash, "The program was closed while the tool ran."
	case cause != nil:
		reason, message = chat.UnknownCancelled, "The call was cancelled while the tool ran."
	case errors.Is(err, tools.ErrUnreadable):
		reason, message = chat.UnknownUnreadable, "The tool's answer cannot be read: "+errorMessage(err)
	case errors.Is(err, context.DeadlineExceeded):
		reason, message = chat.UnknownTimeout, "The tool did not answer in time."
	}
	if effects {
		return chat.CallEnd{Call: id, Reason: reason}
	}
	return chat.CallEnd{Call: id, Result: errorResult(message)}
}

// errorMessage is an error's message for the model.
func errorMessage(err error) string {
	const maxLength = 2000
	s := chat.AsError(err).Message
	if s == "" {
		s = err.Error()
	}
	return display.Shorten(s, maxLength)
}

// storedResult is a result in stored form: texts and images, within limits.
func storedResult(out tools.Output) *chat.ToolResult {
	r := &chat.ToolResult{IsError: out.IsError, Content: chat.Blocks{}}
	space, omitted := maxResult, 0
	for _, b := range out.Content {
		size := 0
		switch b := b.(type) {
		case chat.Text:
			size = len(b.Text)
		case chat.Image:
			size = len(b.Source)
		default:
			omitted++
			continue
		}
		if size > space {
			omitted++
			continue
		}
		space -= size
		r.Content = append(r.Content, b)
	}
	if omitted > 0 {
		r.Content = append(r.Content, chat.Text{Text: fmt.Sprintf("[%d parts of the result were not kept: they are too large, or neither text nor image.]", omitted)})
	}
	return r
}

func (e *Engine) progressed(b chat.ToolBatch, id chat.ToolCallID, live *runningCall, p tools.Progress) {
	const maxLength = 500
	p.Message = display.Shorten(p.Message, maxLength)
	live.mu.Lock()
	live.progress = p
	notify := time.Since(live.reported) >= callProgressEvery
	if notify {
		live.reported = time.Now()
	}
	live.mu.Unlock()
	if notify {
		e.changed(chat.ChangeCall, string(id), b.SessionID)
	}
}

// CallProgress is the progress of a running call in this process.
func (e *Engine) CallProgress(id chat.ToolCallID) (tools.Progress, bool) {
	e.mu.Lock()
	live := e.calls[id]
	e.mu.Unlock()
	if live == nil {
		return tools.Progress{}, false
	}
	live.mu.Lock()
	defer live.mu.Unlock()
	return live.progress, true
}

// CancelCall cancels a running call. If it has effects, its outcome is then unknown.
func (e *Engine) CancelCall(_ context.Context, id chat.ToolCallID) error {
	e.mu.Lock()
	live := e.calls[id]
	e.mu.Unlock()
	if live == nil {
		return chat.Errorf(chat.CodeConflict, "tool.cancel", "This tool call is not running.").WithHint("deny a waiting call, or stop the answer")
	}
	live.cancel(errCallCancelled)
	return nil
}
