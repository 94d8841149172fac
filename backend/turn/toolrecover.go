package turn

import (
	"context"
	"encoding/json"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// recoverCalls resolves the calls that were running when the program ended. The outcome of those with effects is
// unknown; the others run again when the turn continues.
func (e *Engine) recoverCalls(ctx context.Context, t chat.Turn) ([]chat.RecoveryItem, error) {
	b, _, err := e.openBatch(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	delete(e.unsaved, t.ID) // everything about it is recorded
	e.mu.Unlock()
	if b == nil {
		return nil, nil
	}
	own, err := e.isOwn(ctx, *b)
	if err != nil {
		return nil, err
	}
	unknown := 0
	for _, c := range b.Calls {
		switch {
		case c.State == chat.CallAllowed && own, c.State == chat.CallStarted && own && !c.Effects:
			continue
		case c.State != chat.CallAllowed && c.State != chat.CallStarted:
			continue
		}
		if err := e.putBack(ctx, *b, c); err != nil {
			return nil, err
		}
		if c.State == chat.CallStarted || c.Runs > 0 {
			unknown++
		}
	}
	if unknown == 0 {
		return nil, nil
	}
	return []chat.RecoveryItem{chat.RecoveredCalls(t, unknown)}, nil
}

// putBack lets the user decide about a call that would run, possibly again: one that may have run becomes unknown,
// the others need approval again.
func (e *Engine) putBack(ctx context.Context, b chat.ToolBatch, c chat.CallRecord) error {
	var err error
	if c.State == chat.CallStarted || c.Runs > 0 {
		err = e.toolCalls.EndCall(ctx, chat.CallEnd{Call: c.ID, State: c.State, Reason: chat.UnknownCrash})
	} else {
		err = e.toolCalls.DecideCall(ctx, chat.CallDecision{Call: c.ID, State: c.State, Definition: c.Definition})
	}
	e.changed(chat.ChangeCall, string(c.ID), b.SessionID)
	return err
}

// isOwn reports whether the calls were requested by this program: the journal of their step exists until its turn ends.
// Those of an imported session, or of restored data, were not decided here, and may have run since the backup: none
// of them runs without the user's approval.
func (e *Engine) isOwn(ctx context.Context, b chat.ToolBatch) (bool, error) {
	journals, err := e.journals.List()
	if err != nil || !slices.Contains(journals, b.StepID) {
		return false, err
	}
	restored, err := e.turns.WasRestored(ctx, b.StepID)
	return !restored, err
}

// propose records the calls of an answer that was complete when the program ended.
func (rec *recovery) propose(ctx context.Context, end ending) ([]chat.RecoveryItem, error) {
	offered, err := rec.offered(ctx)
	if err != nil {
		return nil, err
	}
	calls := proposals(rec.attempt.result.Blocks, offered)
	if _, err := rec.e.toolCalls.ProposeCalls(ctx, rec.turn.ID, *rec.stepEnd(end), calls); err != nil {
		return nil, err
	}
	return []chat.RecoveryItem{chat.RecoveredProposals(rec.turn, len(calls))}, nil
}

// offered returns the definitions in the open step's request.
func (rec *recovery) offered(ctx context.Context) ([]chat.ToolDefinition, error) {
	raw, err := rec.e.contexts.Manifest(ctx, rec.turn.ID)
	if err != nil || raw == nil {
		return nil, err
	}
	var m prompt.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, nil //nolint:nilerr // verify reports it; the calls then have no offered tool
	}
	return m.Inputs.Tools, nil
}
