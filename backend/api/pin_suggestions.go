package api

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
)

// SuggestedPins returns the standing instructions among the user's messages on a branch that are neither pinned nor
// dismissed, newest first. A "pins" event announces changes.
func (s *Inspect) SuggestedPins(branchID string) ([]PinSuggestion, error) {
	found, err := s.c.Pins.Suggested(s.c.ctx(), chat.BranchID(branchID))
	if err != nil {
		return nil, err
	}
	out := make([]PinSuggestion, 0, len(found))
	for _, p := range found {
		out = append(out, PinSuggestion{
			ID: branchID + suggestionSep + string(p.ID), TurnID: string(p.TurnID), TurnSeq: p.TurnSeq, Text: p.Text,
		})
	}
	return out, nil
}

// suggestionSep separates the branch from the suggestion in an id.
const suggestionSep = "/"

// AcceptSuggestedPin pins a suggestion on the branch for which it was suggested. text replaces the suggested text
// unless it is empty.
func (s *Inspect) AcceptSuggestedPin(id, text string) (PinView, error) {
	return s.pin(branchOf(id), func(ctx context.Context, b chat.BranchID) (chat.Pin, error) {
		return s.c.Pins.Accept(ctx, b, suggestionOf(id), text)
	})
}

// DismissSuggestedPin dismisses a suggestion permanently.
func (s *Inspect) DismissSuggestedPin(id string) error {
	return s.c.Pins.Dismiss(s.c.ctx(), chat.BranchID(branchOf(id)), suggestionOf(id))
}

func branchOf(id string) string {
	branch, _, _ := strings.Cut(id, suggestionSep)
	return branch
}

func suggestionOf(id string) chat.SuggestionID {
	_, suggestion, _ := strings.Cut(id, suggestionSep)
	return chat.SuggestionID(suggestion)
}
