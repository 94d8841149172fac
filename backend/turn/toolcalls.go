package turn

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// suspended reports whether a turn is between two steps without a run: its tool calls wait for the user, or it waits to
// be continued.
func (e *Engine) suspended(ctx context.Context, t chat.Turn) (bool, error) {
	if t.Phase != chat.PhaseResponding || t.Outcome != chat.OutcomeNone || e.IsRunning(t.ID) {
		return false, nil
	}
	steps, err := e.past.Steps(ctx, t.ID)
	if err != nil || len(steps) == 0 {
		return false, err
	}
	last := steps[len(steps)-1]
	if last.Outcome.Status == chat.StepRunning {
		return false, nil
	}
	batches, err := e.batchesByStep(ctx, t.ID)
	b := batches[last.ID]
	return b != nil && b.State != chat.BatchAbandoned, err
}

// WaitingFor returns the calls of a turn that wait for the user; none if it does not wait.
func (e *Engine) WaitingFor(ctx context.Context, t chat.Turn) ([]chat.CallRecord, error) {
	suspended, err := e.suspended(ctx, t)
	if err != nil || !suspended {
		return nil, err
	}
	if elsewhere, err := e.turns.FinishedElsewhere(ctx, t.ID); err != nil || elsewhere {
		return nil, err
	}
	b, _, err := e.openBatch(ctx, t.ID)
	if err != nil || b == nil {
		return nil, err
	}
	return b.Waiting(), nil
}

// Follow returns a handle of a running turn: a turn that continues after a decision has a new run.
func (e *Engine) Follow(id chat.TurnID) (*Handle, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.runs[id]
	if r == nil {
		return nil, false
	}
	return &Handle{Turn: r.accepted, run: r}, true
}

// callIn is a call with its batch, if it is in the given state, and not of another device.
func (e *Engine) callIn(ctx context.Context, id chat.ToolCallID, want chat.ToolCallState, op string) (chat.ToolBatch, chat.CallRecord, error) {
	b, err := e.toolCalls.CallBatch(ctx, id)
	if err != nil {
		return b, chat.CallRecord{}, err
	}
	t, err := e.past.Turn(ctx, b.TurnID)
	if err == nil {
		err = e.refuseForeign(ctx, t, op)
	}
	if err != nil {
		return b, chat.CallRecord{}, err
	}
	var call chat.CallRecord
	for _, c := range b.Calls {
		if c.ID == id {
			call = c
		}
	}
	switch {
	case b.State != chat.BatchOpen:
		return b, call, chat.Errorf(chat.CodeConflict, op, "The tool call is part of an answer that has ended.")
	case call.State == want:
		return b, call, nil
	case want == chat.CallUnknown:
		return b, call, chat.Errorf(chat.CodeConflict, op, "The outcome of this tool call is known: it is %s.", call.State)
	case call.State == chat.CallUnknown:
		return b, call, chat.Errorf(chat.CodeConflict, op, "This tool call was started before, and its outcome is unknown.").
			WithHint("enter its result, run it again, or tell the model that it is unknown")
	}
	return b, call, chat.Errorf(chat.CodeConflict, op, "This tool call has already been decided: it is %s.", call.State)
}

// DecideCall records the user's decision about a call. When no call of its turn waits any more, the turn continues
// automatically.
func (e *Engine) DecideCall(ctx context.Context, c CallChoice) error {
	const op = "tool.decide"
	b, call, err := e.callIn(ctx, c.Call, chat.CallProposed, op)
	if err != nil {
		return err
	}
	d, err := e.decision(call, c, op)
	if err != nil {
		return err
	}
	var remembered error
	if c.Decision.Allows() && c.Decision.Lasts() { // before the call can start, which checks the permission
		remembered = e.remember(ctx, b, call, c, d.Definition)
		if !e.needsNoApproval(ctx, b, call) {
			d.Decision = chat.DecisionOnce // this call is allowed in any case
		}
	}
	if err := e.decideHere(ctx, d); err != nil && !(c.Decision.Allows() && c.Decision.Lasts() && e.isAllowed(ctx, c.Call)) {
		return err
	}
	e.changed(chat.ChangeCall, string(c.Call), b.SessionID)
	if !c.Decision.Allows() {
		remembered = e.remember(ctx, b, call, c, d.Definition)
	}
	if _, err := e.continueTurn(ctx, b.TurnID); err != nil {
		return err
	}
	return remembered
}

// isAllowed reports whether a call was allowed meanwhile: a turn that had not checked its permissions yet found the
// permission that was just stored.
func (e *Engine) isAllowed(ctx context.Context, id chat.ToolCallID) bool {
	b, err := e.toolCalls.CallBatch(ctx, id)
	return err == nil && slices.ContainsFunc(b.Calls, func(c chat.CallRecord) bool { return c.ID == id && c.Decision.Allows() })
}

// decideHere records a decision that the user made in this process.
func (e *Engine) decideHere(ctx context.Context, d chat.CallDecision) error {
	e.approve(d.Call, d.Decision.Allows()) // before the call is stored as allowed
	err := e.toolCalls.DecideCall(ctx, d)
	if err != nil {
		e.approve(d.Call, false)
	}
	return err
}

func (e *Engine) approve(call chat.ToolCallID, yes bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if yes {
		e.approved[call] = true
	} else {
		delete(e.approved, call)
	}
}

// decision checks a choice against the tool's current definition.
func (e *Engine) decision(call chat.CallRecord, c CallChoice, op string) (chat.CallDecision, error) {
	d := chat.CallDecision{Call: call.ID, State: chat.CallProposed, Decision: c.Decision, Definition: call.Definition}
	def, _, exists := e.definition(call.Source, call.Tool)
	if exists {
		d.Definition = def.Hash()
	}
	switch c.Decision {
	case chat.DecisionDeny, chat.DecisionNever:
		d.Result = errorResult(deniedText)
		if c.Decision == chat.DecisionNever && call.Source == "" {
			return d, chat.Errorf(chat.CodeInvalid, op, "There is no tool of that name.").WithHint("deny the call")
		}
	case chat.DecisionOnce, chat.DecisionSession, chat.DecisionAlways:
		if !exists {
			return d, chat.Errorf(chat.CodeConflict, op, "The tool %s is not available any more.", call.Name).WithHint("deny the call")
		}
		if c.Hash != d.Definition {
			return d, definitionChanged(call, op)
		}
	default:
		return d, chat.Errorf(chat.CodeInvalid, op, "%q is not a decision about a tool call.", c.Decision)
	}
	if c.Hash != "" && exists && c.Hash != d.Definition {
		return d, definitionChanged(call, op)
	}
	return d, nil
}

func definitionChanged(call chat.CallRecord, op string) error {
	return chat.Errorf(chat.CodeConflict, op, "The definition of the tool %s changed, so nothing was decided.", call.Name).
		WithHint("review it again, then decide")
}

// remember stores a decision for later calls.
func (e *Engine) remember(ctx context.Context, b chat.ToolBatch, call chat.CallRecord, c CallChoice, hash string) error {
	if !c.Decision.Lasts() {
		return nil
	}
	p := chat.ToolPermission{Source: call.Source, Tool: call.Tool, Decision: c.Decision, Definition: hash, CreatedAt: e.clock.Now()}
	if c.Server {
		p.Tool, p.Definition = "", ""
	}
	if c.Decision == chat.DecisionSession {
		p.Session = b.SessionID
	}
	if err := e.tools.Permit(ctx, p); err != nil {
		return chat.WrapError(chat.CodeOf(err), "tool.remember", err, "The call was decided, but the decision could not be stored for later calls: %s", chat.AsError(err).Said())
	}
	e.changed(chat.ChangeTools, "", b.SessionID)
	return nil
}

// needsNoApproval reports whether a call's tool may run without approval.
func (e *Engine) needsNoApproval(ctx context.Context, b chat.ToolBatch, call chat.CallRecord) bool {
	def, _, exists := e.definition(call.Source, call.Tool)
	if !exists {
		return false
	}
	decision, err := e.tools.Decision(ctx, b.SessionID, def)
	return err == nil && decision.Allows()
}

// ResolveCall applies the user's resolution of a call with an unknown outcome.
func (e *Engine) ResolveCall(ctx context.Context, c CallResolution) error {
	const op = "tool.resolve"
	b, call, err := e.callIn(ctx, c.Call, chat.CallUnknown, op)
	if err != nil {
		return err
	}
	end := chat.CallEnd{Call: c.Call, State: chat.CallUnknown}
	switch c.As {
	case chat.ResolveEnter:
		if strings.TrimSpace(c.Text) == "" {
			return chat.Errorf(chat.CodeInvalid, op, "The result is empty.").WithHint("enter what the tool did, as you found it")
		}
		end.Result = &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: c.Text}}, IsError: c.IsError}
	case chat.ResolveTell:
		end.Result = errorResult(chat.UnknownOutcome)
	case chat.ResolveRerun:
		if err := e.mayRerun(ctx, b, call, c.Hash, op); err != nil {
			return err
		}
		err = e.decideHere(ctx, chat.CallDecision{
			Call: c.Call, State: chat.CallUnknown, Decision: chat.DecisionOnce, Definition: call.Definition,
		})
	default:
		return chat.Errorf(chat.CodeInvalid, op, "%q is not a decision about a call whose outcome is unknown.", c.As)
	}
	if end.Result != nil {
		err = e.toolCalls.EndCall(ctx, end)
	}
	if err != nil {
		return err
	}
	e.changed(chat.ChangeCall, string(c.Call), b.SessionID)
	_, err = e.continueTurn(ctx, b.TurnID)
	return err
}

// mayRerun refuses to repeat a call if its tool's definition differs from the shown one or is not accepted, or if the
// tool was forbidden since: a restarted server may have another definition.
func (e *Engine) mayRerun(ctx context.Context, b chat.ToolBatch, call chat.CallRecord, shown, op string) error {
	const hint = "enter its result, or tell the model that it is unknown"
	def, _, exists := e.definition(call.Source, call.Tool)
	if !exists {
		return chat.Errorf(chat.CodeConflict, op, "The tool %s is not available, so it cannot run again. Nothing was decided.", call.Name).WithHint(hint)
	}
	hash := def.Hash()
	if hash != call.Definition || shown != "" && shown != hash {
		return chat.Errorf(chat.CodeConflict, op, "The definition of the tool %s changed since the call, so it is not run again. Nothing was decided.", call.Name).WithHint(hint)
	}
	decision, err := e.tools.Decision(ctx, b.SessionID, def)
	if err != nil {
		return err
	}
	if decision == chat.DecisionNever {
		return chat.Errorf(chat.CodeConflict, op, "You forbade the tool %s, so it is not run again. Nothing was decided.", call.Name).
			WithHint("allow the tool again first; or " + hint)
	}
	offered, err := e.offered(ctx, b.SessionID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(offered, func(d chat.ToolDefinition) bool {
		return d.Source == call.Source && d.Tool == call.Tool && d.Hash() == hash
	}) {
		return chat.Errorf(chat.CodeConflict, op, "The definition of the tool %s is not accepted, so it is not run again. Nothing was decided.", call.Name).
			WithHint("accept it first; or " + hint)
	}
	return nil
}

// continueTurn continues a turn between two steps, if possible, and reports whether it did. The run that it starts may
// have ended when it returns.
func (e *Engine) continueTurn(ctx context.Context, id chat.TurnID) (started bool, err error) {
	t, err := e.past.Turn(ctx, id)
	if err != nil {
		return false, err
	}
	suspended, err := e.suspended(ctx, t)
	if err != nil || !suspended {
		return false, err // a run that is about to end checks again
	}
	b, err := e.decidedBatch(ctx, t)
	if err != nil {
		return false, err
	}
	e.changed(chat.ChangeTurn, string(id), t.SessionID)
	if b != nil && !b.Finished() && len(nextCalls(*b, false)) == 0 {
		return false, nil
	}
	_, err = e.resumeCalls(ctx, t, "")
	if chat.CodeOf(err) == chat.CodeBusy { // another decision was faster
		return false, nil
	}
	return err == nil, err
}

// decidedBatch is the open batch of a turn without a run, after policy has decided what it can; nil for none. It
// waits briefly for servers to start.
func (e *Engine) decidedBatch(ctx context.Context, t chat.Turn) (*chat.ToolBatch, error) {
	b, n, err := e.openBatch(ctx, t.ID)
	if err != nil || b == nil || b.Finished() {
		return b, err
	}
	if e.tools != nil {
		if _, err := e.tools.Offer(ctx, t.SessionID); err != nil {
			return b, err
		}
	}
	changed, err := e.decideByPolicy(ctx, *b, n, false)
	if err == nil && changed {
		b, _, err = e.openBatch(ctx, t.ID)
	}
	return b, err
}

// resumeCalls starts a run of a turn that is between two steps.
func (e *Engine) resumeCalls(ctx context.Context, t chat.Turn, model string) (*Handle, error) {
	m, steps, err := e.modelAndSteps(ctx, t, model)
	if err != nil {
		return nil, err
	}
	e.startMu.RLock()
	defer e.startMu.RUnlock()
	return e.startAt(t, m, steps[len(steps)-1].Index, (*run).calls)
}

// ResumeTools continues the turns that an earlier process left between two steps, unless they wait for the user, and
// returns how many continue. It is for a long-running process: a short-lived one would interrupt the calls again.
func (e *Engine) ResumeTools(ctx context.Context) (int, error) {
	turns, err := e.turns.OpenTurns(ctx)
	n := 0
	for _, t := range turns {
		if ok, err := e.resumable(ctx, t); err != nil || !ok {
			continue
		}
		started, err := e.continueTurn(ctx, t.ID)
		if err != nil {
			e.log.Warn("a turn with tool calls could not continue", "turn", t.ID, "err", err)
		}
		if started {
			n++
		}
	}
	return n, err
}

// resumable reports whether a turn is between two steps, and this program requested its last calls.
func (e *Engine) resumable(ctx context.Context, t chat.Turn) (bool, error) {
	suspended, err := e.suspended(ctx, t)
	if err != nil || !suspended {
		return false, err
	}
	list, err := e.batchesOf(ctx, t.ID)
	if err != nil || len(list) == 0 {
		return false, err
	}
	return e.isOwn(ctx, list[len(list)-1])
}

// finalizeOpen makes what a turn between two steps has so far its answer. Calls without a result get one, in the same
// transaction.
func (e *Engine) finalizeOpen(ctx context.Context, id chat.TurnID, outcome chat.Outcome, m chat.TurnMetrics) (chat.Turn, error) {
	steps, err := e.past.Steps(ctx, id)
	if err != nil {
		return chat.Turn{}, err
	}
	open, _, err := e.openBatch(ctx, id)
	if err != nil {
		return chat.Turn{}, err
	}
	ends := endsOfUnanswered(open)
	b, err := e.readEarlier(ctx, steps, steps[len(steps)-1].Index+1)
	if err != nil {
		return chat.Turn{}, err
	}
	if open != nil { // it is the last one, and its results are at the end
		answered := withEnds(*open, ends)
		b.base = append(b.base[:len(b.base)-len(open.Results())], answered.Results()...)
	}
	return e.turns.Finalize(ctx, chat.Finalization{
		TurnID: id, Message: chat.Message{Role: chat.RoleAssistant, Blocks: b.base}, Outcome: outcome,
		Usage: usageOf(steps, nil), Metrics: m, Unanswered: ends,
	})
}

// resolveSuspended ends a turn between two steps, at the user's request.
func (e *Engine) resolveSuspended(ctx context.Context, t chat.Turn, outcome chat.Outcome) (chat.Turn, error) {
	t, err := e.endSuspended(ctx, t, outcome)
	return e.decided(ctx, t, err)
}

func (e *Engine) endSuspended(ctx context.Context, t chat.Turn, outcome chat.Outcome) (chat.Turn, error) {
	e.startMu.RLock()
	defer e.startMu.RUnlock()
	if e.IsRunning(t.ID) {
		return t, chat.Errorf(chat.CodeBusy, "turn.stop", "This turn is running again.").WithHint("stop it again")
	}
	return e.finalizeOpen(ctx, t.ID, outcome, chat.TurnMetrics{})
}

// RecoveredBatches returns the open batches with the model's text before the calls.
func (e *Engine) RecoveredBatches(ctx context.Context) ([]chat.RecoveredToolBatch, error) {
	turns, err := e.turns.OpenTurns(ctx)
	if err != nil {
		return nil, err
	}
	var out []chat.RecoveredToolBatch
	for _, t := range turns {
		b, _, err := e.openBatch(ctx, t.ID)
		if err != nil {
			return out, err
		}
		if b == nil {
			continue
		}
		s, err := e.past.StepByID(ctx, b.StepID)
		if err != nil {
			return out, err
		}
		blocks, err := e.stepBlocks(ctx, s)
		if err != nil {
			return out, err
		}
		out = append(out, chat.RecoveredToolBatch{
			BatchID: b.ID, SessionID: b.SessionID, TurnID: b.TurnID, ModelName: s.ModelID,
			AssistantText: blocks.RenderedText(), Calls: b.Calls, Results: b.Results(),
		})
	}
	return out, nil
}

// waitsForDecision is the error for a message after a turn whose tool calls wait.
func waitsForDecision(t chat.Turn) error {
	return chat.Errorf(chat.CodeBusy, "turn.send", "Turn %d has tool calls that wait for your decision.", t.Seq).
		WithHint("decide about them, stop the answer, or discard the turn")
}

// withoutTools is an endpoint for requests without tools.
func withoutTools(ep llm.Endpoint) llm.Endpoint {
	if ep.ToolsMode == llm.ToolsEnabled {
		ep.ToolsMode = llm.ToolsDisabled
	}
	return ep
}
