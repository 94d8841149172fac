package turn

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// earlierSteps is the result of a turn's earlier steps.
type earlierSteps struct {
	base    chat.Blocks    // everything, as shown: results follow the calls of their step
	cycle   []chat.Message // for each step whose calls have their results: the answer, then the results
	partial chat.Blocks    // what came after the last of them, to be continued
	calls   bool           // tools were called
	paused  string         // the provider that paused the last answer, at the end of partial
	// response is the provider's id of the last answer in cycle.
	response string
}

// readEarlier reads the results of the steps with a lower index. Of each index the attempt with recorded calls
// counts, otherwise the newest with text: a retry without text does not discard an earlier one's.
func (e *Engine) readEarlier(ctx context.Context, steps []chat.Step, index int) (out earlierSteps, err error) {
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

// add adds the next step, with the batch of its calls if it has one. It reports whether the calls have their
// results.
func (b *earlierSteps) add(blocks chat.Blocks, batch *chat.ToolBatch) bool {
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

// addTo adds the results to an assembly. An answer that the same provider paused is its last message, which it
// continues automatically.
func (b earlierSteps) addTo(in *prompt.Input) {
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

// hasContent reports content that a user would miss: text, tool calls, results of a provider's own tools.
func (b earlierSteps) hasContent() bool { return b.calls || b.paused != "" || hasText(b.base) }

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

// answerBefore is the joined answer of the steps with a lower index.
func (e *Engine) answerBefore(ctx context.Context, steps []chat.Step, index int) (chat.Blocks, error) {
	b, err := e.readEarlier(ctx, steps, index)
	return b.base, err
}
