package turn

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/heap"
	"contextinfinity/backend/llm"
)

// join appends the blocks of a continuation to the previous ones. Interrupted text and its continuation become one
// block, so a split word is restored.
func join(base, next chat.Blocks) chat.Blocks {
	out := append(chat.Blocks{}, base...)
	if len(base) == 0 || len(next) == 0 {
		return append(out, next...)
	}
	last, lastOK := base[len(base)-1].(chat.Text)
	first, firstOK := next[0].(chat.Text)
	if !lastOK || !firstOK {
		return append(out, next...)
	}
	last.Text += first.Text
	last.Annotations = append(append(last.Annotations[:0:0], last.Annotations...), first.Annotations...)
	out[len(out)-1] = last
	return append(out, next[1:]...)
}

// blockOffset is the position of a continuation's block 0 in the joined answer.
func blockOffset(base chat.Blocks, firstKind llm.DeltaKind) int {
	if len(base) > 0 && firstKind == llm.DeltaText {
		if _, ok := base[len(base)-1].(chat.Text); ok {
			return len(base) - 1
		}
	}
	return len(base)
}

// replay decodes stored events with their provider's decoder: the result equals what was shown while they streamed.
// They are decoded in the mode in which they streamed, up to limit unless that is nil. Events of an unknown provider
// are only counted.
func (e *Engine) replay(provider string, mode llm.ToolsMode, usage account, limit *llm.Meter, each func(yield func(chat.RawEvent) error) error) (r replayed, err error) {
	var dec *guarded
	if p, ok := e.models.Provider(provider); ok {
		dec = decoderOf(p, mode)
		dec.account = usage
	}
	var loosen func() // set once the events are long
	defer func() {
		if loosen != nil {
			loosen()
		}
	}()
	read := 0 // bytes
	err = each(func(ev chat.RawEvent) error {
		if read += len(ev.Data); read > maxKept && loosen == nil {
			loosen = heap.Tighten()
		}
		var deltas []llm.Delta
		if dec != nil {
			deltas = dec.Decode(ev)
		}
		r.events++
		r.visible += int64(visibleBytes(deltas))
		if limit == nil {
			return nil
		}
		return limit.Add(ev, deltas, dec.parts())
	})
	if dec != nil {
		r.result = dec.Result()
	}
	if llm.IsTooLong(err) {
		r.tooLong, err = err, nil
	}
	return r, err
}

// replayed is the result of replaying events.
type replayed struct {
	result  llm.Result
	events  int
	visible int64 // bytes
	tooLong error // set if decoding stopped at the limit
}

// journalLimit returns how far a journal is read. One written under a higher limit than today's is read up to the
// default limit.
func (e *Engine) journalLimit(modelID string) *llm.Meter {
	m := e.meter(modelID)
	m.MaxBytes, m.MaxTokens = max(m.MaxBytes, llm.DefaultAnswerBytes), max(m.MaxTokens, llm.DefaultAnswerTokens)
	return m
}

// meter measures a model's answer.
func (e *Engine) meter(modelID string) *llm.Meter {
	s := e.settings()
	return &llm.Meter{
		MaxBytes: s.MaxAnswerBytes, MaxTokens: s.MaxAnswerTokens,
		Count: func(text string) int { return e.counter.Count(modelID, text) },
	}
}

// stepBlocks returns the blocks received in a step.
func (e *Engine) stepBlocks(ctx context.Context, s chat.Step) (chat.Blocks, error) {
	r, err := e.stepResult(ctx, s)
	return r.Blocks, err
}

func (e *Engine) stepResult(ctx context.Context, s chat.Step) (llm.Result, error) {
	r, err := e.replay(s.Provider, modeOf(s), account{}, nil, func(yield func(chat.RawEvent) error) error { return e.past.StepEvents(ctx, s.ID, yield) })
	return r.result, err
}

// Answer is a turn's answer: the final message, or what an incomplete, failed or running one had received by its last
// ended step.
func (e *Engine) Answer(ctx context.Context, t chat.Turn) (chat.Message, error) {
	if t.Assistant != nil {
		return *t.Assistant, nil
	}
	steps, err := e.past.Steps(ctx, t.ID)
	if err != nil || len(steps) == 0 {
		return chat.Message{Role: chat.RoleAssistant}, err
	}
	blocks, err := e.answerBefore(ctx, steps, steps[len(steps)-1].Index+1)
	return chat.Message{Role: chat.RoleAssistant, Blocks: blocks}, err
}

// usageOf sums the usage of a turn's ended steps and of its last one; nil: none was reported.
func usageOf(steps []chat.Step, last *chat.Usage) *chat.Usage {
	var sum chat.Usage
	found := false
	for _, s := range steps {
		if s.Usage != nil {
			sum, found = sum.Add(*s.Usage), true
		}
	}
	if last != nil {
		sum, found = sum.Add(*last), true
	}
	if !found {
		return nil
	}
	return &sum
}
