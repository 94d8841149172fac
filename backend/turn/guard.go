package turn

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/panics"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/llm"
)

// guarded is a decoder whose panics end the answer but not the program. What was decoded before is kept, with the
// same result in live streaming, recovery and replay.
type guarded struct {
	llm.Decoder
	broken *chat.Error
	// most is the maximum number of tokens of the call, in or out; 0: unknown.
	most int
}

func decoderOf(p llm.Provider, mode llm.ToolsMode) *guarded {
	return &guarded{Decoder: p.NewDecoder(mode)}
}

// newDecoder decodes the answer of the run's model. Its usage is accepted up to the window, or twice our own count if
// that is more, because the window of an unknown model is a guess.
func (r *run) newDecoder() *guarded {
	d := decoderOf(r.model.Provider, r.model.Endpoint.ToolsMode)
	d.most = mostTokens(r.model, r.context.Tokens())
	return d
}

// mostTokens is the maximum number of tokens of a call of a model, in or out.
func mostTokens(m Model, sent int) int { return max(m.Limits.ContextLimit, 2*sent) }

// Decode implements llm.Decoder.
func (g *guarded) Decode(ev chat.RawEvent) (deltas []llm.Delta) {
	if g.broken != nil {
		return nil
	}
	defer panics.Recover(func(d *chat.Error, _ []byte) { g.broken, deltas = d, nil })
	return g.Decoder.Decode(ev)
}

// parts is Parts, or 0 without a decoder.
func (g *guarded) parts() int {
	if g == nil {
		return 0
	}
	return g.Parts()
}

// Result implements llm.Decoder.
func (g *guarded) Result() (r llm.Result) {
	defer func() {
		if g.broken != nil {
			r.Terminal, r.Status, r.Err = true, chat.StepFailed, &llm.Error{Code: chat.CodeInternal, Err: g.broken}
		}
	}()
	defer panics.Recover(func(d *chat.Error, _ []byte) { g.broken, r = d, llm.Result{} })
	r = g.Decoder.Result()
	r.Usage = r.Usage.Checked(g.most)
	return r
}

// died ends the turn of a run that panicked with the journal's content. If even that fails, the reconciler settles
// the turn.
func (r *run) died(d *chat.Error, stack []byte) {
	r.e.log.Error("a turn panicked", "turn", r.turn.ID, "err", d, "stack", string(stack))
	r.settleErr = d
	r.letGo(d)
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		r.e.log.Error("a turn panicked while it was closed", "turn", r.turn.ID, "err", d, "stack", string(stack))
	})
	if t, err := r.e.endCrashed(context.Background(), r.turn.ID, d); err == nil {
		r.turn, r.settleErr = t, nil
	}
}

// letGo closes the run's resources.
func (r *run) letGo(d *chat.Error) {
	defer panics.Recover(func(*chat.Error, []byte) {}) // reported already
	if r.writer == nil {
		return
	}
	r.progress.end()
	p, err := r.writer.End(journal.EndError, string(d.Code))
	if err != nil {
		r.e.log.Error("the stream journal could not be sealed", "step", r.step.ID, "err", err)
	}
	if r.emitter != nil {
		r.emitter.finish(p.DurableSeq, p.Durable)
	}
}

// endCrashed ends a turn whose run panicked.
func (e *Engine) endCrashed(ctx context.Context, id chat.TurnID, cause *chat.Error) (chat.Turn, error) {
	t, err := e.past.Turn(ctx, id)
	switch {
	case err != nil:
		return t, err
	case t.Unsent():
		return e.turns.FailTurn(ctx, chat.TurnFailure{
			TurnID: id, Outcome: chat.OutcomeFailed,
			Failure: &chat.Failure{Code: cause.Code, Message: cause.Message + " Your message is saved.", Hint: "retry"},
		})
	case t.Phase == chat.PhaseResponding && !t.Incomplete():
		if _, err := e.recoverTurn(ctx, t); err != nil {
			return t, err
		}
	}
	return e.past.Turn(ctx, id)
}
