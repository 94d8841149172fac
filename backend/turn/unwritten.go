package turn

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
)

// Remains is what there is of a turn whose end could not be written.
type Remains struct {
	Live    // as it was shown last; zero where nothing had streamed
	Failure *chat.Failure
	// Whole: the answer had come to its end and becomes final by itself as soon as the
	// database takes it. There is nothing to decide.
	Whole bool
}

// unwritten is a turn that stays open in the database because its end could not be
// written to it.
type unwritten struct {
	Remains
	// write writes what the run would have written, and nothing else: its metrics and
	// its own words are in no journal. nil: only the journal tells.
	write func(context.Context) (chat.Turn, error)
	steps []chat.Step // whose journals go once it is final
}

// Unsettled is how many turns this program left open because their end could not be
// written: a full disk, say. The reconciler settles them.
func (e *Engine) Unsettled() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.unsettled)
}

// Left receives when there is one more of them.
func (e *Engine) Left() <-chan struct{} { return e.leaving }

// left notes how a run left its turn. What follows it is the run's until afterRun.
func (e *Engine) left(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.runs, r.turn.ID)
	e.following[r.turn.BranchID]++
	if _, known := e.unsettled[r.turn.ID]; r.settleErr != nil && (r.again != nil || !known) {
		e.leaveOpen(r.turn.ID, r.remains())
	}
}

// leaveOpen notes a turn whose end could not be written. e.mu is held.
func (e *Engine) leaveOpen(id chat.TurnID, u unwritten) {
	_, known := e.unsettled[id]
	if e.unsettled[id] = u; known {
		return
	}
	select {
	case e.leaving <- struct{}{}:
	default:
	}
}

func (r *run) remains() unwritten {
	u := unwritten{write: r.again, steps: append(slices.Clone(r.closed), r.step)}
	u.Failure = r.end.failure
	u.Live, _ = r.live()
	u.Whole = r.again != nil && r.end.verdict == verdictFinal
	if u.Failure == nil {
		u.Failure = failureOf(r.settleErr)
	}
	return u
}

// remains is what a recovery found of a turn that it could not write.
func (rec *recovery) remains(err error) unwritten {
	u := unwritten{}
	u.Blocks = join(rec.base, rec.attempt.result.Blocks)
	u.Frame.Displayed, u.Frame.Durable = rec.visible, rec.visible
	u.Failure = failureOf(err)
	u.Whole = judge(rec.attempt).verdict == verdictFinal
	return u
}

// Remains returns what was left of a turn that is open in the database and that nobody
// runs, until it is settled: what was shown of it stays in sight.
func (e *Engine) Remains(t chat.Turn) (Remains, bool) {
	if t.Phase != chat.PhaseResponding || t.Incomplete() || e.IsRunning(t.ID) {
		return Remains{}, false
	}
	u, ok := e.unwritten(t.ID)
	return u.Remains, ok
}

func (e *Engine) unwritten(id chat.TurnID) (unwritten, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	u, ok := e.unsettled[id]
	return u, ok
}

// forget keeps of the unsettled turns those that are open in the database.
func (e *Engine) forget(open []chat.Turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.unsettled {
		still := slices.ContainsFunc(open, func(t chat.Turn) bool { return t.ID == id && !t.Unsent() && !t.Incomplete() })
		if !still {
			delete(e.unsettled, id)
		}
	}
}

// writeAgain writes the end of a turn as its run would have. The database may refuse it
// for what it is, and not for the disk: then the journal decides.
func (e *Engine) writeAgain(ctx context.Context, t chat.Turn, u unwritten) ([]chat.RecoveryItem, error) {
	settled, err := u.write(ctx)
	switch chat.CodeOf(err) {
	case "":
	case chat.CodeConflict, chat.CodeInvalid, chat.CodeNotFound:
		e.log.Error("the end of a turn was refused; its journal is read", "turn", t.ID, "err", err)
		return e.recoverTurn(ctx, t)
	default:
		return nil, err
	}
	if err := faults.Point("recover.settled"); err != nil {
		return nil, err
	}
	kind := chat.RecoveredIncomplete
	switch {
	case settled.Phase.Finalized():
		kind = chat.RecoveredCompleted
	case settled.Phase == chat.PhaseFailed:
		kind = chat.RecoveredFailed
	}
	if kind != chat.RecoveredIncomplete {
		e.pruneAll(u.steps)
	}
	return []chat.RecoveryItem{chat.RecoveredTurn(settled, kind, u.Frame.Displayed)}, nil
}
