package turn

import (
	"context"
	"fmt"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/journal"
)

// Recover settles every turn that a crash left open, from its journal (SPEC 5,
// 11; SRD 6.5). Nothing is sent, nothing becomes final but an answer whose end
// the journal holds, and doing it again changes nothing. A turn that cannot be
// read is reported and left alone.
func (e *Engine) Recover(ctx context.Context) (chat.RecoveryReport, error) {
	report := chat.RecoveryReport{At: e.clock.Now()}
	turns, err := e.store.UnfinishedTurns(ctx)
	if err != nil {
		return report, err
	}
	for _, t := range turns {
		switch {
		case e.IsRunning(t.ID) || t.Incomplete():
		case t.Unsent():
			report.Items = append(report.Items, itemFor(t, chat.RecoveredUnsent, 0,
				"The message was saved but not sent. Send it or discard it."))
		default:
			// A run may have ended since the turns were listed.
			now, err := e.store.Turn(ctx, t.ID)
			if err == nil && (now.Phase != chat.PhaseResponding || now.Incomplete()) {
				continue
			}
			items, err := e.recoverTurn(ctx, t)
			if err != nil {
				items = []chat.RecoveryItem{itemFor(t, chat.RecoveredUnreadable, 0, "This turn could not be recovered and was left as it is: "+err.Error())}
			}
			report.Items = append(report.Items, items...)
		}
	}
	e.pruneSettled(ctx)
	return report, e.releaseDrafts(ctx)
}

// releaseDrafts turns messages that were queued behind a turn of an earlier run
// into plain drafts: nothing is sent by itself after a restart.
func (e *Engine) releaseDrafts(ctx context.Context) error {
	queued, err := e.store.QueuedDrafts(ctx)
	if err != nil {
		return err
	}
	for _, d := range queued {
		last, ok, err := e.store.LastTurn(ctx, d.BranchID)
		if err != nil {
			return err
		}
		if ok && e.IsRunning(last.ID) {
			continue
		}
		b, err := e.store.Branch(ctx, d.BranchID)
		if err != nil {
			return err
		}
		e.sendQueued(ctx, d.BranchID, b.SessionID, false)
	}
	return nil
}

// recoverTurn settles one turn found Responding without an outcome.
func (e *Engine) recoverTurn(ctx context.Context, t chat.Turn) ([]chat.RecoveryItem, error) {
	steps, err := e.store.Steps(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	rec := recovery{e: e, turn: t, steps: steps}
	if n := len(steps); n > 0 && steps[n-1].Outcome.Status == chat.StepRunning {
		rec.open = &steps[n-1]
	}
	if err := rec.read(ctx); err != nil {
		return nil, err
	}
	return rec.settle(ctx)
}

// recovery is what is known of one turn after a crash.
type recovery struct {
	e     *Engine
	turn  chat.Turn
	steps []chat.Step
	open  *chat.Step // the step that streamed, if any

	journal journal.Replay
	attempt attempt
	base    chat.Blocks
	visible int64
}

func (rec *recovery) read(ctx context.Context) error {
	before := 0
	if rec.open != nil {
		replay, err := rec.e.journals.Replay(rec.open.ID)
		if err != nil {
			return err
		}
		rec.journal, before = replay, rec.open.Index
	}
	var err error
	if rec.base, err = rec.e.answerBefore(ctx, rec.steps, before); err != nil {
		return err
	}
	all, err := rec.e.answerBefore(ctx, rec.steps, len(rec.steps)+1)
	if err != nil {
		return err
	}
	rec.decode()
	rec.attempt.earlier = hasText(all)
	return nil
}

// decode replays the journal and counts the visible bytes as the window did.
func (rec *recovery) decode() {
	rec.attempt = attempt{number: MaxAttempts, events: len(rec.journal.Events)}
	rec.attempt.err = errCrashed
	if rec.open == nil {
		return
	}
	p, ok := rec.e.models.Provider(rec.open.Provider)
	if !ok {
		return
	}
	dec := p.NewDecoder(rec.e.toolsMode())
	for _, ev := range rec.journal.Events {
		rec.visible += int64(visibleBytes(dec.Decode(ev)))
	}
	rec.attempt.result = dec.Result()
	rec.attempt.stopped = rec.journal.End == journal.EndStopped
	if rec.journal.End == journal.EndError {
		rec.attempt.err = chat.Errorf(errorCode(rec.journal.EndReason), "turn.recover",
			"The stream had ended with an error when the program ended. What had arrived is kept.").WithHint("continue, retry, keep or discard it")
	}
	// The provider's own end is in the journal: the answer is whole, even if the
	// process died before it wrote its done entry.
	if rec.attempt.result.Terminal && rec.journal.End != journal.EndError {
		rec.attempt.err = nil
	}
}

var errCrashed = chat.Errorf(chat.CodeUnavailable, "turn.recover",
	"The program ended while the answer arrived. What had arrived is kept.").WithHint("continue, retry, keep or discard it")

func errorCode(reason string) chat.Code {
	if reason == "" {
		return chat.CodeUnavailable
	}
	return chat.Code(reason)
}

func (rec *recovery) settle(ctx context.Context) ([]chat.RecoveryItem, error) {
	end := judge(rec.attempt)
	if rec.attempt.err != nil && end.verdict == verdictFailed {
		end.failure.Message = "The program ended before an answer arrived. Your message is saved."
		end.failure.Hint = "retry"
	}
	var item chat.RecoveryItem
	var err error
	switch end.verdict {
	case verdictFinal:
		item, err = rec.finalize(ctx, end)
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
		DisplayedBytes: rec.visible, DurableBytes: rec.visible, Events: rec.journal.Events,
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
	t, err := rec.e.store.Finalize(ctx, chat.Finalization{
		TurnID: rec.turn.ID, Step: rec.stepEnd(end), Outcome: end.outcome,
		Message: chat.Message{Role: chat.RoleAssistant, Blocks: blocks},
		Usage:   usageOf(rec.steps, rec.attempt.result.Usage),
	})
	if err != nil {
		return chat.RecoveryItem{}, err
	}
	rec.e.pruneAll(rec.steps)
	return itemFor(t, chat.RecoveredCompleted, rec.visible, "The whole answer had arrived; it is now final."), nil
}

func (rec *recovery) interrupt(ctx context.Context, end ending) (chat.RecoveryItem, error) {
	t, err := rec.e.store.Interrupt(ctx, chat.Interruption{
		TurnID: rec.turn.ID, Step: rec.stepEnd(end), Failure: end.failure,
		Usage: usageOf(rec.steps, rec.attempt.result.Usage),
	})
	return itemFor(t, chat.RecoveredIncomplete, rec.visible,
		fmt.Sprintf("%d bytes of an unfinished answer were recovered.", rec.visible)), err
}

func (rec *recovery) fail(ctx context.Context, end ending) (chat.RecoveryItem, error) {
	t, err := rec.e.store.FailTurn(ctx, chat.TurnFailure{
		TurnID: rec.turn.ID, Step: rec.stepEnd(end), Outcome: chat.OutcomeFailed, Failure: end.failure,
	})
	return itemFor(t, chat.RecoveredFailed, 0, "Nothing had arrived. The message is saved."), err
}

// dropped reports journal lines that could not be used.
func (rec *recovery) dropped() []chat.RecoveryItem {
	j := rec.journal
	if !j.TornTail && j.BadLine == 0 {
		return nil
	}
	msg := "The last line of the journal was torn and is not used; it had not been called durable."
	if j.BadLine != 0 {
		msg = fmt.Sprintf("The journal is unreadable from line %d on; what stands before it is used and the file is left as it is.", j.BadLine)
	}
	return []chat.RecoveryItem{itemFor(rec.turn, chat.RecoveredDiscarded, j.DroppedBytes, msg)}
}

// pruneSettled removes journals whose turn is final: a crash between TX-A and
// the removal left them.
func (e *Engine) pruneSettled(ctx context.Context) {
	ids, err := e.journals.List()
	if err != nil {
		e.log.Warn("journals could not be listed", "err", err)
		return
	}
	for _, id := range ids {
		if e.stepSettled(ctx, id) {
			e.prune(id)
		}
	}
}

func (e *Engine) stepSettled(ctx context.Context, id chat.StepID) bool {
	s, err := e.store.StepByID(ctx, id)
	if err != nil || s.Outcome.Status == chat.StepRunning {
		return false
	}
	t, err := e.store.Turn(ctx, s.TurnID)
	return err == nil && (t.Phase.Finalized() || t.Phase == chat.PhaseFailed)
}

func itemFor(t chat.Turn, kind chat.RecoveryKind, bytes int64, msg string) chat.RecoveryItem {
	return chat.RecoveryItem{Kind: kind, SessionID: t.SessionID, TurnID: t.ID, TurnSeq: t.Seq, Bytes: bytes, Message: msg}
}
