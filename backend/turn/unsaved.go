package turn

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
)

// UnsavedEnd is the content of a turn whose end could not be saved.
type UnsavedEnd struct {
	Live    // as last shown; zero if nothing was streamed
	Failure *chat.Failure
	// Complete: the answer was complete and becomes final automatically as soon as it can be saved. Nothing has to be
	// decided.
	Complete bool
}

// unsaved is a turn that stays open in the database because its end could not be saved.
type unsaved struct {
	UnsavedEnd
	// write saves what the run would have saved: its metrics and messages are in no journal. nil: only the journal
	// has the content.
	write func(context.Context) (chat.Turn, error)
	steps []chat.Step // their journals are deleted once the turn is final
}

// Unsaved returns how many turns this program left open because their end could not be saved, for example on a full
// disk. The reconciler tries to save them again.
func (e *Engine) Unsaved() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.unsaved)
}

// UnsavedAdded receives a signal when there is another unsaved turn.
func (e *Engine) UnsavedAdded() <-chan struct{} { return e.unsavedAdded }

// unregister removes a run, and records its turn as unsaved if its end could not be saved. The queue stays claimed
// until afterRun has ended.
func (e *Engine) unregister(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.runs, r.turn.ID)
	e.addClaim(r.turn.BranchID)
	if _, exists := e.unsaved[r.turn.ID]; r.endErr != nil && (r.retrySave != nil || !exists) {
		e.addUnsaved(r.turn.ID, r.toUnsaved())
	}
}

// addUnsaved records a turn whose end could not be saved. e.mu is held.
func (e *Engine) addUnsaved(id chat.TurnID, u unsaved) {
	_, exists := e.unsaved[id]
	if e.unsaved[id] = u; exists {
		return
	}
	select {
	case e.unsavedAdded <- struct{}{}:
	default:
	}
}

// toUnsaved describes a turn whose end the run could not save.
func (r *run) toUnsaved() unsaved {
	u := unsaved{write: r.retrySave, steps: append(slices.Clone(r.closed), r.step)}
	u.Failure = r.end.failure
	u.Live, _ = r.live()
	u.Complete = r.retrySave != nil && r.end.verdict == verdictFinal
	if u.Failure == nil {
		u.Failure = failureOf(r.endErr)
	}
	return u
}

// toUnsaved describes a turn whose end the recovery could not save.
func (rec *recovery) toUnsaved(err error) unsaved {
	u := unsaved{}
	u.Blocks = join(rec.base, rec.attempt.result.Blocks)
	u.Frame.Displayed, u.Frame.Durable = rec.visible, rec.visible
	u.Failure = failureOf(err)
	u.Complete = judge(rec.attempt).verdict == verdictFinal
	return u
}

// UnsavedEnd returns the content of a turn that is open in the database without a run, until it is resolved, so that
// it stays visible.
func (e *Engine) UnsavedEnd(t chat.Turn) (UnsavedEnd, bool) {
	if t.Phase != chat.PhaseResponding || t.Incomplete() || e.IsRunning(t.ID) {
		return UnsavedEnd{}, false
	}
	u, ok := e.unsavedTurn(t.ID)
	return u.UnsavedEnd, ok
}

func (e *Engine) unsavedTurn(id chat.TurnID) (unsaved, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	u, ok := e.unsaved[id]
	return u, ok
}

// forget keeps only the unsaved turns that are still open in the database.
func (e *Engine) forget(open []chat.Turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.unsaved {
		still := slices.ContainsFunc(open, func(t chat.Turn) bool { return t.ID == id && !t.Unsent() && !t.Incomplete() })
		if !still {
			delete(e.unsaved, id)
		}
	}
}

// writeAgain saves the end of a turn as its run would have. If the database refuses it for a reason other than the
// disk, the turn is recovered from its journal.
func (e *Engine) writeAgain(ctx context.Context, t chat.Turn, u unsaved) ([]chat.RecoveryItem, error) {
	saved, err := u.write(ctx)
	switch chat.CodeOf(err) {
	case "":
	case chat.CodeConflict, chat.CodeInvalid, chat.CodeNotFound:
		e.log.Error("could not save the end of a turn; recovering it from the journal", "turn", t.ID, "err", err)
		return e.recoverTurn(ctx, t)
	default:
		return nil, err
	}
	if err := faults.Point("recover.settled"); err != nil {
		return nil, err
	}
	if saved.Phase == chat.PhaseResponding && !saved.Incomplete() {
		e.mu.Lock()
		delete(e.unsaved, t.ID)
		e.mu.Unlock()
		return e.recoverTurn(ctx, saved)
	}
	kind := chat.RecoveredIncomplete
	switch {
	case saved.Phase.Finalized():
		kind = chat.RecoveredCompleted
	case saved.Phase == chat.PhaseFailed:
		kind = chat.RecoveredFailed
	}
	if kind != chat.RecoveredIncomplete {
		e.pruneAll(u.steps)
	}
	return []chat.RecoveryItem{chat.RecoveredTurn(saved, kind, u.Frame.Displayed)}, nil
}
