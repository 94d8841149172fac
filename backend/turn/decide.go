package turn

import (
	"cmp"
	"context"

	"contextinfinity/backend/chat"
)

// Stop stops a running turn: the partial answer becomes the answer, marked as stopped. It returns when that is durable.
func (e *Engine) Stop(ctx context.Context, id chat.TurnID) (chat.Turn, error) {
	e.mu.Lock()
	r := e.runs[id]
	e.mu.Unlock()
	if r == nil {
		t, err := e.past.Turn(ctx, id)
		if err == nil && !t.Phase.Finalized() && t.Phase != chat.PhaseFailed {
			err = e.refuseForeign(ctx, t, "turn.stop")
		}
		if _, isUnsaved := e.unsavedTurn(id); err == nil && isUnsaved { // otherwise calls that have ended would become unknown
			t, err = e.recoveredTurn(ctx, id, "turn.stop")
		}
		if err != nil {
			return t, err
		}
		if suspended, err := e.suspended(ctx, t); err != nil || !suspended {
			return t, err
		}
		return e.resolveSuspended(ctx, t, chat.OutcomeStopped)
	}
	r.cancel(errStopped)
	t, err := (&Handle{Turn: chat.Turn{ID: id}, run: r}).Wait(ctx) // r.turn belongs to the run until it is done
	if err != nil || !r.suspended {
		return t, err
	}
	return e.Stop(ctx, id) // the run had ended at calls that wait for a decision
}

// Keep makes an incomplete answer final. A complete one that only could not be saved yet gets its real outcome.
func (e *Engine) Keep(ctx context.Context, id chat.TurnID) (chat.Turn, error) {
	if u, ok := e.unsavedTurn(id); ok && u.Complete {
		t, err := e.recoveredTurn(ctx, id, "turn.keep")
		if err != nil || t.Phase.Finalized() {
			return e.decided(ctx, t, err)
		}
	}
	t, suspended, err := e.openTurn(ctx, id, "turn.keep")
	if err != nil {
		return t, err
	}
	if suspended {
		return e.resolveSuspended(ctx, t, chat.OutcomeKept)
	}
	if !t.Incomplete() && !t.Unsent() {
		return t, alreadyResolved(t, "turn.keep")
	}
	if !t.Incomplete() {
		return t, chat.Errorf(chat.CodeConflict, "turn.keep", "This turn has no partial answer to keep.").WithHint("send or discard it")
	}
	answer, err := e.Answer(ctx, t)
	if err != nil {
		return t, err
	}
	t, err = e.turns.Finalize(ctx, chat.Finalization{
		TurnID: id, Message: answer, Outcome: chat.OutcomeKept, Usage: t.Usage,
	})
	return e.decided(ctx, t, err)
}

// Discard ends an incomplete, unsent or failed turn without an answer. Its text can still be read.
func (e *Engine) Discard(ctx context.Context, id chat.TurnID) (chat.Turn, error) {
	t, suspended, err := e.openTurn(ctx, id, "turn.discard")
	if err != nil {
		return t, err
	}
	if failed := t.Phase == chat.PhaseFailed && t.Outcome == chat.OutcomeFailed; !suspended && !failed && !t.Incomplete() && !t.Unsent() {
		return t, alreadyResolved(t, "turn.discard")
	}
	if err := e.refuseForeign(ctx, t, "turn.discard"); err != nil {
		return t, err
	}
	f := t.Failure
	if f == nil {
		f = &chat.Failure{Code: chat.CodeCancelled, Message: "Discarded. The message and any partial answer can still be read."}
	}
	t, err = e.turns.FailTurn(ctx, chat.TurnFailure{TurnID: id, Outcome: chat.OutcomeDiscarded, Failure: f})
	return e.decided(ctx, t, err)
}

// Continue asks the model to continue. An incomplete answer continues as a new step of the same turn; a final but
// truncated one (CutShort) never changes, so the rest is requested with a new message.
func (e *Engine) Continue(ctx context.Context, id chat.TurnID, model string) (*Handle, error) {
	t, suspended, err := e.openTurn(ctx, id, "turn.continue")
	if err != nil {
		return nil, err
	}
	switch {
	case suspended:
		return e.continueCalls(ctx, t, model)
	case t.Incomplete():
		return e.resume(ctx, t, model, 1)
	case CutShort(t):
		return e.askForRest(ctx, t, model)
	}
	return nil, chat.Errorf(chat.CodeConflict, "turn.continue", "This turn has no unfinished answer to continue.")
}

// CutShort reports whether an answer is final but ended before the model was done.
func CutShort(t chat.Turn) bool {
	return t.Outcome == chat.OutcomeStopped || t.Outcome == chat.OutcomeKept || t.Outcome == chat.OutcomeTruncated
}

// restMessage asks for the rest of an answer.
const restMessage = "Please continue exactly where you stopped."

func (e *Engine) askForRest(ctx context.Context, t chat.Turn, model string) (*Handle, error) {
	last, ok, err := e.past.LastTurn(ctx, t.BranchID)
	if err != nil {
		return nil, err
	}
	if !ok || last.ID != t.ID {
		return nil, chat.Errorf(chat.CodeConflict, "turn.continue", "The conversation has continued since this answer.").
			WithHint("fork from it, and ask there")
	}
	return e.Send(ctx, Message{Branch: t.BranchID, Content: chat.UserText(restMessage), Model: e.orModel(model, t)})
}

// Retry runs a turn again. An incomplete turn gets a new attempt, and the old one is kept; a failed one becomes a new
// turn (retry_of); a final one is answered again on a fork, so that nothing is overwritten; an unsent one is sent.
func (e *Engine) Retry(ctx context.Context, id chat.TurnID, model string) (*Handle, error) {
	t, suspended, err := e.openTurn(ctx, id, "turn.retry")
	if err != nil {
		return nil, err
	}
	switch {
	case t.User.RenderedText() == chat.DeletedMark:
		return nil, chat.Errorf(chat.CodeConflict, "turn.retry", "The content of this turn was permanently deleted; there is nothing to send again.")
	case suspended:
		return e.retryCalls(ctx, t, model)
	case t.Incomplete():
		return e.resume(ctx, t, model, 0)
	case t.Unsent():
		return e.SendUnsent(ctx, id, model)
	case t.Phase == chat.PhaseFailed:
		return e.Send(ctx, Message{Branch: t.BranchID, Content: t.User, Model: e.orModel(model, t), RetryOf: t.ID})
	}
	if _, err := e.modelFor(ctx, t.BranchID, e.orModel(model, t)); err != nil {
		return nil, err // before a branch is created needlessly
	}
	branch, err := e.branches.Before(ctx, t.ID, "", true)
	if err != nil {
		return nil, err
	}
	return e.Send(ctx, Message{Branch: branch.ID, Content: t.User, Model: e.orModel(model, t), RetryOf: t.ID})
}

// SendUnsent sends a turn that was accepted but never answered.
func (e *Engine) SendUnsent(ctx context.Context, id chat.TurnID, model string) (*Handle, error) {
	t, err := e.undecided(ctx, id, "turn.send_unsent")
	if err != nil {
		return nil, err
	}
	if !t.Unsent() {
		return nil, chat.Errorf(chat.CodeConflict, "turn.send_unsent", "This turn was already sent.")
	}
	m, err := e.modelFor(ctx, t.BranchID, e.orModel(model, t))
	if err != nil {
		return nil, err
	}
	return e.start(t, m, 0)
}

// resume starts another attempt (advance 0) or the next step (advance 1) of an incomplete turn.
func (e *Engine) resume(ctx context.Context, t chat.Turn, model string, advance int) (*Handle, error) {
	m, steps, err := e.modelAndSteps(ctx, t, model)
	if err != nil {
		return nil, err
	}
	index := 0
	if len(steps) > 0 {
		index = steps[len(steps)-1].Index + advance
	}
	e.startMu.RLock()
	defer e.startMu.RUnlock()
	if err := e.turns.Resume(ctx, t.ID); err != nil {
		return nil, err
	}
	t.Outcome, t.Failure = chat.OutcomeNone, nil
	return e.start(t, m, index)
}

// modelAndSteps returns the named model, or by default that of the turn, and the steps that the turn has.
func (e *Engine) modelAndSteps(ctx context.Context, t chat.Turn, model string) (Model, []chat.Step, error) {
	m, err := e.modelFor(ctx, t.BranchID, e.orModel(model, t))
	if err != nil {
		return m, nil, err
	}
	steps, err := e.past.Steps(ctx, t.ID)
	return m, steps, err
}

func (e *Engine) orModel(name string, t chat.Turn) string {
	return cmp.Or(name, t.Model)
}

// recoveredTurn returns a turn without a run. A turn that a run of this process could not save, or that a crash
// interrupted, is first recovered from its journal.
func (e *Engine) recoveredTurn(ctx context.Context, id chat.TurnID, op string) (chat.Turn, error) {
	if e.IsRunning(id) {
		return chat.Turn{}, chat.Errorf(chat.CodeBusy, op, "This turn is still running.").WithHint("stop it first")
	}
	t, err := e.past.Turn(ctx, id)
	if err != nil {
		return t, err
	}
	if open := !t.Phase.Finalized() && t.Phase != chat.PhaseFailed; open {
		if err := e.refuseForeign(ctx, t, op); err != nil {
			return t, err
		}
	}
	if t.Phase == chat.PhaseResponding && !t.Incomplete() {
		if _, err := e.recoverIdle(ctx, id); err != nil {
			return t, err
		}
		e.continueQueue(ctx, t.BranchID, t.SessionID)
		return e.past.Turn(ctx, id)
	}
	return t, nil
}

// refuseForeign refuses to change a turn of another device.
func (e *Engine) refuseForeign(ctx context.Context, t chat.Turn, op string) error {
	if elsewhere, err := e.turns.FinishedElsewhere(ctx, t.ID); err != nil || !elsewhere {
		return err
	}
	return chat.Errorf(chat.CodeConflict, op, "Turn %d was begun on another machine, and is finished there. It was not changed.", t.Seq).
		WithHint("export the session there and import it here once the turn is finished; or send a message, which goes on from the turn before it")
}

// openTurn is recoveredTurn, and reports whether the turn is between two steps.
func (e *Engine) openTurn(ctx context.Context, id chat.TurnID, op string) (chat.Turn, bool, error) {
	t, err := e.recoveredTurn(ctx, id, op)
	if err != nil {
		return t, false, err
	}
	suspended, err := e.suspended(ctx, t)
	return t, suspended, err
}

// continueCalls continues a turn that is between two steps and waits for no decision.
func (e *Engine) continueCalls(ctx context.Context, t chat.Turn, model string) (*Handle, error) {
	b, err := e.decidedBatch(ctx, t)
	if err != nil {
		return nil, err
	}
	if b != nil && len(b.Waiting()) > 0 {
		return nil, chat.Errorf(chat.CodeConflict, "turn.continue", "Turn %d has tool calls that wait for your decision.", t.Seq).
			WithHint("decide about them, stop the answer, or discard the turn")
	}
	return e.resumeCalls(ctx, t, model)
}

// retryCalls repeats the step whose calls wait, as long as none of them has run. If all have their results, the next
// step is requested.
func (e *Engine) retryCalls(ctx context.Context, t chat.Turn, model string) (*Handle, error) {
	open, _, err := e.openBatch(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if open == nil || open.Finished() {
		return e.resumeCalls(ctx, t, model)
	}
	m, steps, err := e.modelAndSteps(ctx, t, model)
	if err != nil {
		return nil, err
	}
	e.startMu.RLock()
	defer e.startMu.RUnlock()
	if e.IsRunning(t.ID) {
		return nil, chat.Errorf(chat.CodeBusy, "turn.retry", "This turn is running again.").WithHint("stop it first")
	}
	if err := e.toolCalls.AbandonBatches(ctx, t.ID); err != nil {
		return nil, err
	}
	return e.start(t, m, steps[len(steps)-1].Index)
}

// undecided is recoveredTurn for decisions that require an open turn.
func (e *Engine) undecided(ctx context.Context, id chat.TurnID, op string) (chat.Turn, error) {
	t, err := e.recoveredTurn(ctx, id, op)
	if err != nil {
		return t, err
	}
	if !t.Incomplete() && !t.Unsent() {
		return t, alreadyResolved(t, op)
	}
	return t, nil
}

func alreadyResolved(t chat.Turn, op string) error {
	return chat.Errorf(chat.CodeConflict, op, "This turn is already resolved (%s).", t.Phase)
}

// decided notifies the window and deletes journals that are no longer needed. Messages queued behind the turn are
// held, or sent if its answer is complete after all.
func (e *Engine) decided(ctx context.Context, t chat.Turn, err error) (chat.Turn, error) {
	if err != nil {
		return t, err
	}
	if steps, serr := e.past.Steps(ctx, t.ID); serr == nil {
		e.pruneAll(steps)
	}
	e.changed(chat.ChangeTurn, string(t.ID), t.SessionID)
	e.changed(chat.ChangeSessions, string(t.SessionID), t.SessionID)
	e.changed(chat.ChangeJobs, "", t.SessionID)
	e.continueQueue(ctx, t.BranchID, t.SessionID)
	return t, nil
}
