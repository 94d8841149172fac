package turn

import (
	"context"
	"errors"

	"contextinfinity/backend/chat"
)

// Received is Answer, and for a turn whose last step is still open the content of its journal: a stream of another
// process, or one interrupted by a crash and not recovered yet. It changes nothing.
func (e *Engine) Received(ctx context.Context, t chat.Turn) (chat.Message, error) {
	if t.Assistant != nil {
		return *t.Assistant, nil
	}
	steps, err := e.past.Steps(ctx, t.ID)
	n := len(steps)
	if err != nil || n == 0 || steps[n-1].Outcome.Status != chat.StepRunning {
		return e.Answer(ctx, t)
	}
	blocks, err := e.receivedBlocks(ctx, steps, steps[n-1])
	return chat.Message{Role: chat.RoleAssistant, Blocks: blocks}, err
}

// receivedBlocks is the answer including what an open step has received. An attempt without text does not hide an
// earlier one's text; if none has text, its reasoning is all there is.
func (e *Engine) receivedBlocks(ctx context.Context, steps []chat.Step, open chat.Step) (chat.Blocks, error) {
	replay, err := e.replay(open.Provider, modeOf(open), account{}, e.journalLimit(open.ModelID), func(yield func(chat.RawEvent) error) error {
		_, err := e.journals.Read(open.ID, yield)
		return err
	})
	if err != nil {
		return nil, err
	}
	received := replay.result.Blocks
	if !hasText(received) {
		if earlier, err := e.answerBefore(ctx, steps, open.Index+1); err != nil || hasText(earlier) {
			return earlier, err
		}
	}
	base, err := e.answerBefore(ctx, steps, open.Index)
	return join(base, received), err
}

// journalEvents returns the first events of a step's journal, read on demand; nil for none.
func (e *Engine) journalEvents(step chat.StepID, events int) chat.EventSeq {
	if events == 0 {
		return nil
	}
	return func(yield func(chat.RawEvent, error) bool) {
		n := 0
		_, err := e.journals.Read(step, func(ev chat.RawEvent) error {
			if n++; n > events || !yield(ev, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(chat.RawEvent{}, err)
		}
	}
}

var errEnough = errors.New("enough events were read")
