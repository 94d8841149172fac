package turn

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
)

// continuePaused sends a paused answer back unchanged, in the turn's next step.
func (r *run) continuePaused(ctx context.Context) state {
	r.observeUsage(r.decoder.Result().Usage)
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	r.stream.end()
	r.number, r.shrunk, r.refusal = 0, 0, nil
	r.index++
	return r.prepare
}

// endWithoutStream ends a run that was cancelled while no stream was open.
func (r *run) endWithoutStream(cause error) state {
	if r.step.Outcome.Status != chat.StepRunning {
		r.step = chat.Step{}
	}
	r.end = judge(attempt{err: cause, number: r.number, earlier: r.earlier})
	switch r.end.verdict {
	case verdictFinal:
		if r.earlierSteps.calls {
			return r.stopCalls
		}
		// Stopped before a retry or continuation began: the earlier state is restored.
		r.end.verdict, r.end.failure = verdictIncomplete, failureOf(errStoppedEarly)
		return r.interrupt
	case verdictIncomplete:
		return r.interrupt
	}
	return r.fail
}

// failWith ends a run because of an error in this program: over budget, a full disk. If the run was cancelled, the
// cause of that is used instead of err.
func (r *run) failWith(ctx context.Context, err error) state {
	if cause := context.Cause(ctx); cause != nil {
		return r.endWithoutStream(cause)
	}
	r.end = judge(attempt{err: err, number: MaxAttempts, earlier: r.earlier})
	r.end.failure.Attempts = r.number
	if r.earlier {
		return r.interrupt
	}
	return r.fail
}

// finalize is TX-A. Responding -> ResponseFinalized. The journal is deleted only when the transaction is durable.
func (r *run) finalize(context.Context) state {
	res := r.decoder.Result()
	r.metrics.Attempts = r.number
	message := chat.Message{Role: chat.RoleAssistant, Blocks: join(r.base, res.Blocks)}
	if !substantial(res.Blocks) && r.earlier {
		message = r.fallbackMessage()
	}
	r.observeUsage(res.Usage)
	end := r.stepEnd()
	end.DurableBytes = end.DisplayedBytes // made durable by this transaction, whatever the journal's state
	f := chat.Finalization{
		TurnID: r.turn.ID, Step: end, Message: message, Outcome: r.end.outcome,
		Usage: usageOf(r.closed, res.Usage), Metrics: r.metrics,
	}
	r.saveEnd(func(ctx context.Context) (chat.Turn, error) { return r.e.turns.Finalize(ctx, f) })
	return nil
}

// observeUsage compares our count of the input with the provider's.
func (r *run) observeUsage(u *chat.Usage) {
	// If the count is far below ours, the server cut the prompt, so it is not used.
	if u == nil || u.InputTokens == 0 || u.InputTokens < r.context.Tokens()/2 {
		return
	}
	ep := r.model.Endpoint
	if err := r.e.contexts.ObserveCalibration(context.Background(), ep.Provider, ep.ModelID, r.context.Tokens(), u.InputTokens); err != nil {
		r.e.log.Warn("the provider's token count could not be used for calibration", "err", err)
	}
}

// fallbackMessage is the result of earlier attempts, for a stopped or empty retry, which must not replace it.
func (r *run) fallbackMessage() chat.Message {
	m, err := r.e.Answer(context.Background(), r.turn)
	if err != nil {
		r.e.log.Error("an earlier answer could not be read", "turn", r.turn.ID, "err", err)
	}
	return m
}

// interrupt leaves the turn Responding and incomplete.
func (r *run) interrupt(context.Context) state {
	end := r.stepEnd()
	var usage *chat.Usage
	if end != nil {
		usage = end.Usage
	}
	i := chat.Interruption{TurnID: r.turn.ID, Step: end, Failure: r.end.failure, Usage: usageOf(r.closed, usage)}
	r.saveEnd(func(ctx context.Context) (chat.Turn, error) { return r.e.turns.Interrupt(ctx, i) })
	return nil
}

// fail ends the turn as failed. Its message stays stored.
func (r *run) fail(context.Context) state {
	r.metrics.Attempts = r.number
	f := chat.TurnFailure{TurnID: r.turn.ID, Step: r.stepEnd(), Outcome: chat.OutcomeFailed, Failure: r.end.failure, Metrics: r.metrics}
	r.saveEnd(func(ctx context.Context) (chat.Turn, error) { return r.e.turns.FailTurn(ctx, f) })
	return nil
}

// saveEnd saves how the turn ended and reads the turn back. If the end cannot be saved (a full disk), the turn stays
// as it was and its journal is kept. The reconciler, and the next decision about the turn, try again; the next start
// recovers the turn from its journal.
func (r *run) saveEnd(end func(context.Context) (chat.Turn, error)) {
	t, err := end(context.Background())
	if err != nil {
		r.endErr, r.retrySave = err, end
		r.e.log.Error("the end of a turn could not be saved; this will be retried", "turn", r.turn.ID, "err", err)
		return
	}
	r.turn = t
	if faults.Point("turn.settled") != nil {
		return
	}
	if t.Phase.Finalized() || t.Phase == chat.PhaseFailed {
		r.e.pruneAll(r.closed)
		r.e.prune(r.step.ID)
	}
}

func (r *run) clearEmitter() {
	r.closed = append(r.closed, r.step)
	r.step, r.writer = chat.Step{}, nil // ended in the database; it must not be ended again
	r.mu.Lock()
	r.emitter = nil
	r.mu.Unlock()
}

// prune deletes the journal of a step whose events are in the database, and reports whether it is deleted.
func (e *Engine) prune(id chat.StepID) bool {
	if id == "" {
		return false
	}
	if err := e.journals.Prune(id); err != nil {
		e.log.Warn("a journal could not be removed", "step", id, "err", err)
		return false
	}
	return faults.Point("turn.pruned") == nil
}

func (e *Engine) pruneAll(steps []chat.Step) {
	for _, s := range steps {
		e.prune(s.ID)
	}
}
