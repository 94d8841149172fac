package turn

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// page is how many turns are read at once while looking for the newest
// originals that fit.
const page = 64

// assemble gathers the committed state, pins, pending and newest turns of the
// branch, and has them put together. base is the partial answer of a turn that
// is to be continued.
func (e *Engine) assemble(ctx context.Context, t chat.Turn, m Model, base chat.Blocks) (prompt.PreparedContext, error) {
	in, err := e.contextInput(ctx, t.BranchID, t.Seq, m)
	if err != nil {
		return prompt.PreparedContext{}, err
	}
	in.Current = t.User
	if len(base) > 0 {
		in.Partial = &chat.Message{Role: chat.RoleAssistant, Blocks: base}
	}
	return prompt.Assemble(in)
}

// Preview assembles what the branch's next request would hold with the given
// message, for the meter.
func (e *Engine) Preview(ctx context.Context, branch chat.BranchID, model string, current chat.Message) (prompt.Manifest, error) {
	m, err := e.modelFor(ctx, branch, model)
	if err != nil {
		return prompt.Manifest{}, err
	}
	in, err := e.contextInput(ctx, branch, 0, m)
	if err != nil {
		return prompt.Manifest{}, err
	}
	in.Current = current
	c, err := prompt.Assemble(in)
	if err != nil {
		return prompt.Manifest{Budget: prompt.NewBudget(m.Limits), Model: m.Endpoint.Name}, err
	}
	return c.Manifest(), nil
}

// contextInput reads everything of the lineage before turn_seq seq (0: all).
func (e *Engine) contextInput(ctx context.Context, branch chat.BranchID, seq int64, m Model) (prompt.Input, error) {
	in := prompt.Input{
		Model: m.Endpoint.Name, Provider: m.Endpoint.Provider, Limits: m.Limits,
		Count: func(s string) int { return e.counter.Count(m.Endpoint.ModelID, s) },
	}
	b, err := e.store.Branch(ctx, branch)
	if err != nil {
		return in, err
	}
	s, err := e.store.Session(ctx, b.SessionID)
	if err != nil {
		return in, err
	}
	if in.System = s.SystemPrompt; in.System == "" {
		in.System = e.settings().System
	}
	if in.Head, err = e.store.State(ctx, b.HeadState); err != nil {
		return in, err
	}
	if in.Pins, err = e.store.Pins(ctx, branch); err != nil {
		return in, err
	}
	if in.Pending, err = e.store.PendingTurns(ctx, branch); err != nil {
		return in, err
	}
	in.Pending = before(in.Pending, seq)
	in.Originals, err = e.newestOriginals(ctx, branch, seq, in)
	return in, err
}

// newestOriginals reads committed turns, newest page first, until they cannot
// all fit: the assembler takes the run that does.
func (e *Engine) newestOriginals(ctx context.Context, branch chat.BranchID, seq int64, in prompt.Input) ([]chat.Turn, error) {
	room := prompt.NewBudget(in.Limits).Ceiling
	var out []chat.Turn
	to := seq - 1
	if seq == 0 {
		to = 0
	}
	for {
		turns, err := e.store.Lineage(ctx, chat.LineageQuery{Branch: branch, ToSeq: to, Limit: page, Newest: true})
		if err != nil {
			return nil, err
		}
		var committed []chat.Turn
		for _, t := range turns {
			if t.Phase.Finalized() && !t.Pending() {
				committed = append(committed, t)
				room -= in.Count(t.User.RenderedText())
				if t.Assistant != nil {
					room -= in.Count(t.Assistant.RenderedText())
				}
			}
		}
		out = append(committed, out...)
		if len(turns) < page || room <= 0 || turns[0].Seq <= 1 {
			return out, nil
		}
		to = turns[0].Seq - 1
	}
}

func before(turns []chat.Turn, seq int64) []chat.Turn {
	if seq == 0 {
		return turns
	}
	out := turns[:0:0]
	for _, t := range turns {
		if t.Seq < seq {
			out = append(out, t)
		}
	}
	return out
}
