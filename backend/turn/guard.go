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
	broken  *chat.Error
	account account
}

// account says which reported usage of a call is possible, and what it costs.
type account struct {
	maxTokens int                        // of the input or output of a call; 0: unknown
	cost      func(chat.Usage) chat.Cost // nil: unknown
}

// usage is the plausible part of the reported usage, with its cost at the current price.
func (a account) usage(reported *chat.Usage) *chat.Usage {
	u := reported.Checked(a.maxTokens)
	if u == nil || a.cost == nil {
		return u
	}
	priced := *u
	priced.Cost = a.cost(priced)
	return &priced
}

func decoderOf(p llm.Provider, mode llm.ToolsMode) *guarded {
	return &guarded{Decoder: p.NewDecoder(mode)}
}

// newDecoder decodes the answer of the run's model. Its usage is accepted up to the window, or twice our own count if
// that is more, because the window of an unknown model is a guess.
func (r *run) newDecoder() *guarded {
	d := decoderOf(r.model.Provider, r.model.Endpoint.ToolsMode)
	d.account = accountOf(r.model, r.context.Tokens())
	return d
}

// accountOf is the account of a call with an input of this many tokens.
func accountOf(m Model, sent int) account {
	return account{maxTokens: max(m.Limits.ContextLimit, 2*sent), cost: m.Cost}
}

// Decode implements llm.Decoder.
func (g *guarded) Decode(ev chat.RawEvent) (deltas []llm.Delta) {
	if g.broken != nil {
		return nil
	}
	defer panics.Recover(func(d *chat.Error, _ []byte) { g.broken, deltas = d, nil })
	return g.Decoder.Decode(ev)
}

// parts is Parts; 0 for a nil decoder.
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
	r.Usage = g.account.usage(r.Usage)
	return r
}

// endPanicked ends the turn of a run that panicked with the journal's content. If even that fails, the reconciler
// resolves the turn.
func (r *run) endPanicked(d *chat.Error, stack []byte) {
	r.e.log.Error("a turn panicked", "turn", r.turn.ID, "err", d, "stack", string(stack))
	r.endErr = d
	r.closeResources(d)
	defer panics.Recover(func(d *chat.Error, stack []byte) {
		r.e.log.Error("a turn panicked while it was being closed", "turn", r.turn.ID, "err", d, "stack", string(stack))
	})
	if t, err := r.e.endCrashed(context.Background(), r.turn.ID, d); err == nil {
		r.turn, r.endErr = t, nil
	}
}

// closeResources closes the run's resources.
func (r *run) closeResources(d *chat.Error) {
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
			Failure: chat.NewFailure(cause.Code, chat.Say("%s Your message is saved.", cause.Said()), chat.Say("retry")),
		})
	case t.Phase == chat.PhaseResponding && !t.Incomplete():
		if _, err := e.recoverTurn(ctx, t); err != nil {
			return t, err
		}
	}
	return e.past.Turn(ctx, id)
}
