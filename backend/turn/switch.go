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
	before, old, err := e.Preview(ctx, branch, from, chat.UserText(" "))
	if err != nil && chat.CodeOf(err) != chat.CodeOverBudget {
		return s, err
	}
	after, budget, err := e.Preview(ctx, branch, to, chat.UserText(" "))
	if err != nil && chat.CodeOf(err) != chat.CodeOverBudget {
		return s, err
	}
	s.OldTokens, s.NewTokens, s.Refused = before.Tokens(), after.Tokens(), err
	if before.Valid() && after.Valid() {
		s.Adaptation = prompt.Adapt(before.Manifest(), after.Manifest())
		return s, nil
	}
	// A request that does not fit has no cut to compare.
	s.Adaptation = prompt.Adapt(prompt.Manifest{Budget: old}, prompt.Manifest{Budget: budget})
	return s, nil
}
