package turn

import (
	"context"

	"contextinfinity/backend/chat"
)

// Received is Answer, and for a turn whose last step is still open what its
// journal holds: of a stream of another process, or of one that a crash cut off
// and no start has recovered yet. It changes nothing.
func (e *Engine) Received(ctx context.Context, t chat.Turn) (chat.Message, error) {
	if t.Assistant != nil {
		return *t.Assistant, nil
	}
	steps, err := e.store.Steps(ctx, t.ID)
	n := len(steps)
	if err != nil || n == 0 || steps[n-1].Outcome.Status != chat.StepRunning {
		return e.Answer(ctx, t)
	}
	blocks, err := e.journalled(ctx, steps, steps[n-1])
	return chat.Message{Role: chat.RoleAssistant, Blocks: blocks}, err
}

// journalled is the answer with what an open step has received. An attempt that
// brought no text yet does not hide what an earlier one did; where none did, its reasoning
// is all there is.
func (e *Engine) journalled(ctx context.Context, steps []chat.Step, open chat.Step) (chat.Blocks, error) {
	replay, err := e.journals.Replay(open.ID)
	if err != nil {
		return nil, err
	}
	received := e.replay(open.Provider, replay.Events).Blocks
	if !hasText(received) {
		if earlier, err := e.answerBefore(ctx, steps, open.Index+1); err != nil || hasText(earlier) {
			return earlier, err
		}
	}
	base, err := e.answerBefore(ctx, steps, open.Index)
	return join(base, received), err
}
