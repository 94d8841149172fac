package turn

import (
	"context"
	"errors"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// maxShrinks is how often a context is made smaller after the provider refused its size; shrinkBy is the factor each
// time, if the provider does not name its limit (SPEC 6).
const (
	maxShrinks = 3
	shrinkBy   = 0.9
)

// sizeMargin is the share of a limit named by the provider that is used, because the difference between its count and
// ours varies with the text.
const sizeMargin = 0.97

func tooLarge(err error) bool {
	var le *llm.Error
	return errors.As(err, &le) && le.ContextTooLarge()
}

// nextSize is the size, by our count, of the next context after one of this size was refused. It is always smaller.
func nextSize(refused int, cause error) int {
	next := int(float64(refused) * shrinkBy)
	var le *llm.Error
	if !errors.As(cause, &le) || le.SizeLimit <= 0 {
		return next
	}
	switch {
	case le.SizeCounted > le.SizeLimit:
		next = int(float64(refused) * float64(le.SizeLimit) / float64(le.SizeCounted) * sizeMargin)
	case float64(le.SizeLimit)*sizeMargin < float64(next): // the provider only names its limit, and may count more than we do
		next = int(float64(le.SizeLimit) * sizeMargin)
	}
	return next
}

// shrink ends an attempt that was refused for its size and assembles again: the context must become smaller than the
// refused one, whatever its ceiling was. Memory is selected again for the space that is left.
func (r *run) shrink(ctx context.Context) state {
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	m := r.context.Manifest()
	r.refusal, r.memory = r.end.failure, memorySelection{}
	next := nextSize(m.TotalTokens, r.end.cause)
	steps, _ := m.Said()
	r.refused = append(steps, chat.Say("the provider refused this request of %d tokens for its size: the next one has at most %d", m.TotalTokens, next))
	r.reduce = float64(next) / float64(prompt.NewBudget(m.Limits, m.Policy, m.Budget.Calibration).Ceiling)
	r.shrunk++
	return r.prepare
}

// unshrinkable says that a request refused for its size cannot be made smaller: the provider's message, then the
// obstacle.
func (r *run) unshrinkable(err error) error {
	if r.refusal == nil || chat.CodeOf(err) != chat.CodeOverBudget {
		return err
	}
	e := chat.AsError(err)
	return chat.WrapError(chat.CodeTooLarge, "turn.shrink", err, "%s Nothing more can be removed from it: %s", r.refusal.Said(), e.Said()).WithHint("%s", e.Advised())
}
