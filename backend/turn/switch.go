package turn

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// Switch is what sending a conversation to another model would change.
type Switch struct {
	prompt.Adaptation
	OldTokens, NewTokens int
	// Refused says why the conversation cannot fit the other model.
	Refused error
}

// String describes it in a sentence or two.
func (s Switch) String() string {
	if s.Refused != nil {
		return chat.AsError(s.Refused).Message
	}
	return s.Adaptation.String()
}

// PreviewSwitch compares the next requests of a branch to two models; an empty name is the session's model. Nothing
// is sent and no model is called.
func (e *Engine) PreviewSwitch(ctx context.Context, branch chat.BranchID, from, to string) (Switch, error) {
	var s Switch
	before, _, refused := e.Preview(ctx, branch, from, chat.UserText(" "))
	if refused != nil && chat.CodeOf(refused) != chat.CodeOverBudget {
		return s, refused
	}
	after, _, err := e.Preview(ctx, branch, to, chat.UserText(" "))
	if err != nil && chat.CodeOf(err) != chat.CodeOverBudget {
		return s, err
	}
	s.OldTokens, s.NewTokens, s.Refused = prompt.UsageOf(before.Manifest()).Used, prompt.UsageOf(after.Manifest()).Used, err
	if before.Valid() && after.Valid() {
		s.Adaptation = prompt.Adapt(before.Manifest(), after.Manifest())
		return s, nil
	}
	// A request that does not fit has no cut to compare.
	s.Adaptation = prompt.AdaptLimits(limitOf(before, refused), limitOf(after, err))
	return s, nil
}

// limitOf returns the working set of a context, also of one that does not fit.
func limitOf(p prompt.PreparedContext, err error) int {
	if st, ok := prompt.StatusOfError(err); ok {
		return st.Budget
	}
	return p.Manifest().WorkingSet()
}
