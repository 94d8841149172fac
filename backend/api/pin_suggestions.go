package api

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
)

// SuggestedPins are the standing instructions in what the user said on a branch that are
// neither pinned nor dismissed, newest first. A "pins" event tells when they changed.
func (s *Inspect) SuggestedPins(branchID string) ([]PinSuggestion, error) {
	if err := s.c.ready(); err != nil {
		return nil, err
	}
	found, err := s.c.Store.SuggestedPins(s.c.ctx(), chat.BranchID(branchID))
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

// suggestionSep parts the branch from the suggestion in an id.
const suggestionSep = "/"

// AcceptSuggestedPin pins a suggestion on the branch it was offered on, as it is or with
// the text changed; an empty text is the suggestion's own.
func (s *Inspect) AcceptSuggestedPin(id, text string) (PinView, error) {
	if err := s.c.ready(); err != nil {
		return PinView{}, err
	}
	branch, suggested, err := s.suggestion(s.c.ctx(), id)
	if err != nil {
		return PinView{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = suggested.Text
	}
	pin, err := s.AddPin(string(branch), text)
	if err != nil {
		return pin, err
	}
	return pin, s.settled(branch, suggested, s.c.Store.SuggestionPinned(s.c.ctx(), branch, suggested.ID, chat.PinID(pin.ID)))
}

// DismissSuggestedPin has a suggestion never offered again.
func (s *Inspect) DismissSuggestedPin(id string) error {
	if err := s.c.ready(); err != nil {
		return err
	}
	branch, suggested, err := s.suggestion(s.c.ctx(), id)
	if err != nil {
		return err
	}
	return s.settled(branch, suggested, s.c.Store.DismissSuggestion(s.c.ctx(), branch, suggested.ID))
}

// suggestion finds what is offered under an id.
func (s *Inspect) suggestion(ctx context.Context, id string) (chat.BranchID, chat.PinSuggestion, error) {
	branch, want, _ := strings.Cut(id, suggestionSep)
	offered, err := s.c.Store.SuggestedPins(ctx, chat.BranchID(branch))
	if err != nil {
		return "", chat.PinSuggestion{}, err
	}
	for _, p := range offered {
		if string(p.ID) == want {
			return chat.BranchID(branch), p, nil
		}
	}
	return "", chat.PinSuggestion{}, chat.Errorf(chat.CodeNotFound, "pin.suggestion", "This suggestion was pinned or dismissed already.")
}

// settled tells the window that a suggestion is offered no more.
func (s *Inspect) settled(branch chat.BranchID, p chat.PinSuggestion, err error) error {
	if err == nil {
		s.c.Hub.Change(chat.Change{Kind: chat.ChangePins, ID: string(branch), Session: p.SessionID})
	}
	return err
}
