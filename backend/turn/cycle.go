package turn

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// brought is what the steps of a turn before one of them brought.
type brought struct {
	base    chat.Blocks    // all of it, as it is shown: results are behind the calls of their step
	cycle   []chat.Message // for each step whose calls have their results: the answer, then the results
	partial chat.Blocks    // what came after the last of them, which a continuation continues from
	calls   bool           // tools were called
	paused  string         // the provider that paused the last answer, which partial ends with
	// response is the id that the provider gave the last answer of cycle.
	response string
}

// broughtBefore reads what the steps with a lower index brought. Of each index the attempt
// counts whose calls were recorded, else the newest that brought text: a retry that brought
// none does not take away what an earlier one did.
func (e *Engine) broughtBefore(ctx context.Context, steps []chat.Step, index int) (out brought, err error) {
	if len(steps) == 0 {
		return out, nil
	}
	batches, err := e.batchesByStep(ctx, steps[0].TurnID)
	if err != nil {
		return out, err
	}
	best, chosen, ids, paused := map[int]chat.Blocks{}, map[int]*chat.ToolBatch{}, map[int]string{}, map[int]string{}
	for _, s := range steps { // ordered by index, attempt
		b := batches[s.ID]
		if s.Index >= index || s.Outcome.Status == chat.StepRunning || chosen[s.Index] != nil && chosen[s.Index].State != chat.BatchAbandoned {
			continue
		}
		r, err := e.stepResult(ctx, s)
		if err != nil {
			return out, err
		}
		if b != nil || hasText(r.Blocks) || best[s.Index] == nil {
			best[s.Index], chosen[s.Index], ids[s.Index], paused[s.Index] = r.Blocks, b, r.ResponseID, pausedBy(s)
		}
	}
	for i := 0; i < index; i++ {
		if out.add(best[i], chosen[i]) {
			out.response = ids[i]
		}
		out.paused = paused[i]
	}
	return out, nil
}

// pausedBy is the provider that paused a step, if one did.
func pausedBy(s chat.Step) string {
	if s.Outcome.Status == chat.StepPaused && s.Outcome.Reason == llm.ReasonPauseTurn {
		return s.Provider
	}
	return ""
}

// add is the next step, with the batch of its calls if it has one. It reports that the
// calls have their results.
func (b *brought) add(blocks chat.Blocks, batch *chat.ToolBatch) bool {
	b.base = join(b.base, blocks)
	b.partial = join(b.partial, blocks)
	if batch == nil {
		return false
	}
	b.calls = true
	results := batch.Results()
	b.base = append(b.base, results...)
	if batch.State == chat.BatchAbandoned || !batch.Finished() {
		b.partial = append(b.partial, results...)
		return false
	}
	b.cycle = append(b.cycle, chat.Message{Role: chat.RoleAssistant, Blocks: b.partial}, chat.Message{Role: chat.RoleUser, Blocks: results})
	b.partial = nil
	return true
}

// into gives what was brought to an assembly. An answer that the same provider paused is its last
// message, from which it continues automatically.
func (b brought) into(in *prompt.Input) {
	in.Cycle = b.cycle
	answer := chat.Message{Role: chat.RoleAssistant, Blocks: b.partial}
	switch {
	case len(b.partial) == 0:
	case b.paused == in.Provider:
		in.Cycle = append(slices.Clip(b.cycle), answer)
	default:
		in.Partial = &answer
	}
}

// stands reports something that a person would miss: text, calls of tools, what a provider's
// own tools brought.
func (b brought) stands() bool { return b.calls || b.paused != "" || hasText(b.base) }

func (e *Engine) batchesByStep(ctx context.Context, turn chat.TurnID) (map[chat.StepID]*chat.ToolBatch, error) {
	list, err := e.batchesOf(ctx, turn)
	out := map[chat.StepID]*chat.ToolBatch{}
	for i := range list {
		out[list[i].StepID] = &list[i]
	}
	return out, err
}

func (e *Engine) batchesOf(ctx context.Context, turn chat.TurnID) ([]chat.ToolBatch, error) {
	all, err := e.toolCalls.ToolBatches(ctx, []chat.TurnID{turn})
	return all[turn], err
}

// answerBefore is the answer that steps with a lower index add up to.
func (e *Engine) answerBefore(ctx context.Context, steps []chat.Step, index int) (chat.Blocks, error) {
	b, err := e.broughtBefore(ctx, steps, index)
	return b.base, err
}
