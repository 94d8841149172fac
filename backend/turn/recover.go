package turn

import (
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/internal/panics"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/prompt"
)

// Recover resolves every abandoned turn from its journal (SPEC 5, 11; SRD 6.5): one left open by a crash, or by a run
// of this program that could not save its end. Only complete answers become final, and it is idempotent. Nothing is
// sent except messages queued in this run of the program. An unreadable turn is reported and left alone.
func (e *Engine) Recover(ctx context.Context) (chat.RecoveryReport, error) {
	report := chat.RecoveryReport{At: e.clock.Now()}
	turns, err := e.turns.OpenTurns(ctx)
	if err != nil {
		return report, err
	}
	for _, t := range turns {
		if t.Incomplete() {
			continue
		}
		u, wasUnsaved := e.unsavedTurn(t.ID)
		items, err := e.recoverIdle(ctx, t.ID)
		switch {
		case ctx.Err() != nil:
			return report, ctx.Err()
		case err != nil && u.write != nil: // its turn is marked, and it is retried
			e.log.Warn("a turn could not be resolved yet", "turn", t.ID, "err", err)
		case err != nil:
			items = []chat.RecoveryItem{chat.UnreadableTurn(t, err)}
		case wasUnsaved: // a run of this program was between two steps
			if _, err := e.continueTurn(ctx, t.ID); err != nil {
				e.log.Warn("a turn with tool calls could not continue", "turn", t.ID, "err", err)
			}
		}
		report.Items = append(report.Items, items...)
	}
	if n := e.pruneFinal(ctx); n > 0 {
		report.Items = append(report.Items, chat.RecoveredCount(chat.RecoveredPruned, n))
	}
	if turns, err = e.turns.OpenTurns(ctx); err != nil {
		return report, err
	}
	e.forget(turns)
	return report, e.continueQueues(ctx)
}

// recoverIdle resolves a turn from its current state, unless it is running or was resolved meanwhile.
func (e *Engine) recoverIdle(ctx context.Context, id chat.TurnID) (items []chat.RecoveryItem, err error) {
	e.startMu.Lock()
	defer e.startMu.Unlock()
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		e.log.Error("the recovery of a turn panicked", "turn", id, "err", d, "stack", string(stack))
		items, err = nil, d
	})
	if e.IsRunning(id) {
		return nil, nil
	}
	t, err := e.past.Turn(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case t.Unsent():
		return []chat.RecoveryItem{chat.RecoveredTurn(t, chat.RecoveredUnsent, 0)}, nil
	case t.Phase != chat.PhaseResponding || t.Incomplete():
		return nil, nil
	}
	if u, ok := e.unsavedTurn(id); ok && u.write != nil {
		items, err = e.writeAgain(ctx, t, u)
	} else {
		items, err = e.recoverTurn(ctx, t)
	}
	if err == nil {
		e.changed(chat.ChangeTurn, string(id), t.SessionID)
		e.changed(chat.ChangeSessions, string(t.SessionID), t.SessionID)
	}
	return items, err
}

// recoverTurn resolves one turn found Responding without an outcome.
func (e *Engine) recoverTurn(ctx context.Context, t chat.Turn) ([]chat.RecoveryItem, error) {
	steps, err := e.past.Steps(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if suspended, err := e.suspended(ctx, t); err != nil {
		return nil, err
	} else if suspended {
		return e.recoverCalls(ctx, t)
	}
	rec := recovery{e: e, turn: t, steps: steps}
	if n := len(steps); n > 0 && steps[n-1].Outcome.Status == chat.StepRunning {
		rec.open = &steps[n-1]
	}
	if err := rec.read(ctx); err != nil {
		return nil, err
	}
	items, err := rec.resolve(ctx)
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.addUnsaved(t.ID, rec.toUnsaved(err))
	}
	return items, err
}

// recovery is the state of one turn after a crash.
type recovery struct {
	e     *Engine
	turn  chat.Turn
	steps []chat.Step
	open  *chat.Step // the step that was streaming, if any

	journal journal.Replay
	attempt attempt
	base    chat.Blocks
	visible int64
}

func (rec *recovery) read(ctx context.Context) error {
	before := 0
	if rec.open != nil {
		if err := rec.decode(ctx); err != nil {
			return err
		}
		before = rec.open.Index
	} else {
		rec.attempt = attempt{number: MaxAttempts, err: errCrashed}
	}
	var err error
	if rec.base, err = rec.e.answerBefore(ctx, rec.steps, before); err != nil {
		return err
	}
	all, err := rec.e.readEarlier(ctx, rec.steps, len(rec.steps)+1)
	if err != nil {
		return err
	}
	rec.attempt.earlier = all.hasContent()
	return nil
}

// decode replays the journal, one event at a time, and counts the visible bytes like the window.
func (rec *recovery) decode(ctx context.Context) error {
	r, err := rec.e.replay(rec.open.Provider, modeOf(*rec.open), rec.account(ctx), rec.e.journalLimit(rec.open.ModelID), func(yield func(chat.RawEvent) error) (err error) {
		rec.journal, err = rec.e.journals.Read(rec.open.ID, yield)
		return err
	})
	if err != nil {
		return err
	}
	rec.visible = r.visible
	rec.attempt = attempt{
		number: MaxAttempts, events: r.events, result: r.result, err: errCrashed, mode: modeOf(*rec.open), moreSteps: rec.open.Index+1 < rec.e.maxSteps(),
	}
	if r.tooLong != nil {
		rec.attempt.err = r.tooLong
		return nil
	}
	rec.attempt.stopped = rec.journal.End == journal.EndStopped
	if rec.journal.End == journal.EndError {
		rec.attempt.err = chat.Errorf(errorCode(rec.journal.EndReason), "turn.recover",
			"The stream had ended with an error when the program ended. The partial answer is kept.").WithHint("continue, retry, keep or discard it")
	}
	// If the provider's own end is in the journal, the answer is complete, even if the process died before it wrote the
	// journal's end entry.
	if rec.attempt.result.Terminal && rec.journal.End != journal.EndError {
		rec.attempt.err = nil
	}
	return nil
}

// account is the account that the call had while it streamed; zero if its model is no longer configured.
func (rec *recovery) account(ctx context.Context) account {
	m, err := rec.e.models.Resolve(ctx, rec.turn.Model)
	if err != nil || m.Endpoint.ModelID != rec.open.ModelID || m.Endpoint.Provider != rec.turn.Provider {
		return account{}
	}
	var sent prompt.Manifest
	raw, err := rec.e.contexts.Manifest(ctx, rec.turn.ID)
	if err != nil || raw == nil || json.Unmarshal(raw, &sent) != nil {
		return accountOf(m, 0)
	}
	return accountOf(m, sent.TotalTokens)
}

// events returns the decoded events, read from the journal again.
func (rec *recovery) events() chat.EventSeq {
	return rec.e.journalEvents(rec.open.ID, rec.attempt.events)
}

// Not CodeUnavailable: nothing is wrong with the server.
var errCrashed = chat.Errorf(chat.CodeIncomplete, "turn.recover",
	"The program ended while the answer was arriving. The partial answer is kept.").WithHint("continue, retry, keep or discard it")

var errPaused = chat.Errorf(chat.CodeUnavailable, "turn.recover",
	"The program ended while the provider had paused the answer. The partial answer is kept.").WithHint("continue, retry, keep or discard it")

func errorCode(reason string) chat.Code {
	if reason == "" {
		return chat.CodeUnavailable
	}
	return chat.Code(reason)
}

func (rec *recovery) resolve(ctx context.Context) ([]chat.RecoveryItem, error) {
	end := judge(rec.attempt)
	if rec.attempt.err != nil && end.verdict == verdictFailed {
		said := chat.Say("The program ended before an answer arrived. Your message is saved.")
		end.failure = chat.NewFailure(end.failure.Code, said, chat.Say("retry"))
	}
	var item chat.RecoveryItem
	var err error
	switch end.verdict {
	case verdictTools:
		items, err := rec.propose(ctx, end)
		return append(items, rec.dropped()...), err
	case verdictFinal:
		item, err = rec.finalize(ctx, end)
	case verdictPaused:
		end.failure = failureOf(errPaused)
		item, err = rec.interrupt(ctx, end)
	case verdictIncomplete:
		item, err = rec.interrupt(ctx, end)
	default:
		item, err = rec.fail(ctx, end)
	}
	if err != nil {
		return nil, err
	}
	if err := faults.Point("recover.settled"); err != nil {
		return nil, err
	}
	return append([]chat.RecoveryItem{item}, rec.dropped()...), nil
}

func (rec *recovery) stepEnd(end ending) *chat.StepEnd {
	if rec.open == nil {
		return nil
	}
	res := rec.attempt.result
	return &chat.StepEnd{
		StepID: rec.open.ID, Outcome: end.step, Items: res.Items, Usage: res.Usage,
		DisplayedBytes: rec.visible, DurableBytes: rec.visible, Events: rec.events(),
	}
}

func (rec *recovery) finalize(ctx context.Context, end ending) (chat.RecoveryItem, error) {
	blocks := join(rec.base, rec.attempt.result.Blocks)
	if !substantial(rec.attempt.result.Blocks) && rec.attempt.earlier {
		all, err := rec.e.answerBefore(ctx, rec.steps, len(rec.steps)+1)
		if err != nil {
			return chat.RecoveryItem{}, err
		}
		blocks = all
	}
	t, err := rec.e.turns.Finalize(ctx, chat.Finalization{
		TurnID: rec.turn.ID, Step: rec.stepEnd(end), Outcome: end.outcome,
		Message: chat.Message{Role: chat.RoleAssistant, Blocks: blocks},
		Usage:   usageOf(rec.steps, rec.attempt.result.Usage),
	})
	if err != nil {
		return chat.RecoveryItem{}, err
	}
	rec.e.pruneAll(rec.steps)
	return chat.RecoveredTurn(t, chat.RecoveredCompleted, rec.visible), nil
}

func (rec *recovery) interrupt(ctx context.Context, end ending) (chat.RecoveryItem, error) {
	t, err := rec.e.turns.Interrupt(ctx, chat.Interruption{
		TurnID: rec.turn.ID, Step: rec.stepEnd(end), Failure: end.failure,
		Usage: usageOf(rec.steps, rec.attempt.result.Usage),
	})
	return chat.RecoveredTurn(t, chat.RecoveredIncomplete, rec.visible), err
}

func (rec *recovery) fail(ctx context.Context, end ending) (chat.RecoveryItem, error) {
	t, err := rec.e.turns.FailTurn(ctx, chat.TurnFailure{
		TurnID: rec.turn.ID, Step: rec.stepEnd(end), Outcome: chat.OutcomeFailed, Failure: end.failure,
	})
	if err == nil {
		rec.e.pruneAll(rec.steps)
	}
	return chat.RecoveredTurn(t, chat.RecoveredFailed, 0), err
}

// dropped returns a report about journal lines that could not be used.
func (rec *recovery) dropped() []chat.RecoveryItem {
	j := rec.journal
	if !j.TornTail && j.BadLine == 0 {
		return nil
	}
	return []chat.RecoveryItem{chat.DiscardedLines(rec.turn, j.DroppedBytes, j.BadLine)}
}

// pruneFinal deletes journals of final turns, left by a crash after TX-A. It returns how many.
func (e *Engine) pruneFinal(ctx context.Context) int {
	ids, err := e.journals.List()
	if err != nil {
		e.log.Warn("journals could not be listed", "err", err)
		return 0
	}
	n := 0
	for _, id := range ids {
		if e.isPrunable(ctx, id) && e.prune(id) {
			n++
		}
	}
	return n
}

func (e *Engine) isPrunable(ctx context.Context, id chat.StepID) bool {
	s, err := e.past.StepByID(ctx, id)
	if err != nil || s.Outcome.Status == chat.StepRunning {
		return false
	}
	t, err := e.past.Turn(ctx, s.TurnID)
	return err == nil && !e.IsRunning(t.ID) && (t.Phase.Finalized() || t.Phase == chat.PhaseFailed)
}
