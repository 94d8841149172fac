// Package pins manages pinned facts, which every request of a branch contains word for word, and suggestions of facts
// to pin. The window and the command line both use its Service.
package pins

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// Store stores pins and suggestions.
type Store interface {
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	Pins(context.Context, chat.BranchID) ([]chat.Pin, error)
	AddPin(ctx context.Context, branch chat.BranchID, text string, tokens int) (chat.Pin, error)
	EditPin(ctx context.Context, branch chat.BranchID, pin chat.PinID, text string, tokens int) (chat.Pin, error)
	RemovePin(context.Context, chat.BranchID, chat.PinID) error
	MovePin(ctx context.Context, branch chat.BranchID, pin chat.PinID, position int) error
	SuggestedPins(context.Context, chat.BranchID) ([]chat.PinSuggestion, error)
	SuggestionPinned(context.Context, chat.BranchID, chat.SuggestionID, chat.PinID) error
	DismissSuggestion(context.Context, chat.BranchID, chat.SuggestionID) error
}

// Limits rejects a fact that leaves the branch's model too little room. It is turn.Engine.
type Limits interface {
	CheckPin(ctx context.Context, branch chat.BranchID, replaces chat.PinID, text string) error
}

// Deps are the dependencies of a Service; all are required.
type Deps struct {
	Store  Store
	Limits Limits
	// Own returns the branch to which this device writes in place of another device's (branches.Service).
	Own     func(context.Context, chat.BranchID) (chat.BranchID, error)
	Count   func(text string) int // tokens
	Publish func(chat.Change)
}

// Service manages pins.
type Service struct{ d Deps }

// New returns the service.
func New(d Deps) *Service { return &Service{d} }

// Pins returns the pinned facts of a branch, in order.
func (s *Service) Pins(ctx context.Context, branch chat.BranchID) ([]chat.Pin, error) {
	return s.d.Store.Pins(ctx, branch)
}

// Add pins a fact: every request contains it word for word from now on.
//
// Errors: CodeInvalid for a fact without text, CodeOverBudget for one that leaves the model too little room.
func (s *Service) Add(ctx context.Context, branch chat.BranchID, text string) (chat.Pin, error) {
	return s.put(ctx, branch, "", text, func(branch chat.BranchID, text string, tokens int) (chat.Pin, error) {
		return s.d.Store.AddPin(ctx, branch, text, tokens)
	})
}

// Edit creates a new version of a pinned fact; the old version is kept. Its errors are those of Add.
func (s *Service) Edit(ctx context.Context, branch chat.BranchID, pin chat.PinID, text string) (chat.Pin, error) {
	return s.put(ctx, branch, pin, text, func(branch chat.BranchID, text string, tokens int) (chat.Pin, error) {
		return s.d.Store.EditPin(ctx, branch, pin, text, tokens)
	})
}

func (s *Service) put(
	ctx context.Context, branch chat.BranchID, replaces chat.PinID, text string,
	store func(chat.BranchID, string, int) (chat.Pin, error),
) (pin chat.Pin, err error) {
	return pin, s.change(ctx, branch, func(own chat.BranchID) error {
		if text = strings.TrimSpace(text); text == "" {
			return chat.Errorf(chat.CodeInvalid, "pin", "A pinned fact needs some text; nothing was changed.")
		}
		if err := s.d.Limits.CheckPin(ctx, branch, replaces, text); err != nil {
			return err
		}
		pin, err = store(own, text, s.d.Count(text))
		return err
	})
}

// Remove removes a fact from a branch. Other branches that inherited the fact keep it.
func (s *Service) Remove(ctx context.Context, branch chat.BranchID, pin chat.PinID) error {
	return s.change(ctx, branch, func(own chat.BranchID) error { return s.d.Store.RemovePin(ctx, own, pin) })
}

// Move moves a fact to a position, counted from 0.
func (s *Service) Move(ctx context.Context, branch chat.BranchID, pin chat.PinID, position int) error {
	return s.change(ctx, branch, func(own chat.BranchID) error { return s.d.Store.MovePin(ctx, own, pin, position) })
}

// change runs do on the branch to which this device writes and, if it succeeds, publishes that its pins have changed.
func (s *Service) change(ctx context.Context, branch chat.BranchID, do func(own chat.BranchID) error) error {
	b, err := s.d.Store.Branch(ctx, branch)
	if err == nil && b.Elsewhere {
		branch, err = s.d.Own(ctx, branch)
	}
	if err == nil {
		err = do(branch)
	}
	if err == nil {
		s.d.Publish(chat.Change{Kind: chat.ChangePins, ID: string(branch), Session: b.SessionID})
	}
	return err
}

// Suggested returns the standing instructions among the user's messages on a branch that are neither pinned nor
// dismissed, newest first.
func (s *Service) Suggested(ctx context.Context, branch chat.BranchID) ([]chat.PinSuggestion, error) {
	return s.d.Store.SuggestedPins(ctx, branch)
}

// Accept pins a suggestion. text replaces the suggested text unless it is empty.
//
// Errors: CodeNotFound if it is no longer suggested, and those of Add.
func (s *Service) Accept(ctx context.Context, branch chat.BranchID, id chat.SuggestionID, text string) (chat.Pin, error) {
	suggested, err := s.suggestion(ctx, branch, id)
	if err != nil {
		return chat.Pin{}, err
	}
	if strings.TrimSpace(text) == "" {
		text = suggested.Text
	}
	pin, err := s.Add(ctx, branch, text)
	if err != nil {
		return pin, err
	}
	return pin, s.change(ctx, branch, func(chat.BranchID) error { return s.d.Store.SuggestionPinned(ctx, branch, id, pin.ID) })
}

// Dismiss removes a suggestion permanently.
//
// Errors: CodeNotFound if it is no longer suggested.
func (s *Service) Dismiss(ctx context.Context, branch chat.BranchID, id chat.SuggestionID) error {
	if _, err := s.suggestion(ctx, branch, id); err != nil {
		return err
	}
	return s.change(ctx, branch, func(chat.BranchID) error { return s.d.Store.DismissSuggestion(ctx, branch, id) })
}

func (s *Service) suggestion(ctx context.Context, branch chat.BranchID, id chat.SuggestionID) (chat.PinSuggestion, error) {
	offered, err := s.Suggested(ctx, branch)
	if err != nil {
		return chat.PinSuggestion{}, err
	}
	i := slices.IndexFunc(offered, func(p chat.PinSuggestion) bool { return p.ID == id })
	if i < 0 {
		return chat.PinSuggestion{}, chat.Errorf(chat.CodeNotFound, "pin.suggestion", "This suggestion was pinned or dismissed already.")
	}
	return offered[i], nil
}
