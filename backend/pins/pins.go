// Package pins keeps the facts that every request of a branch carries word for word, and those that could be pinned.
// The window and the command line both do it through a Service.
package pins

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// Store keeps pins, and knows what could be pinned.
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

// Limits refuse a fact that leaves the branch's model no room. It is turn.Engine.
type Limits interface {
	CheckPin(ctx context.Context, branch chat.BranchID, replaces chat.PinID, text string) error
}

// Deps are what a Service is built from; all are required.
type Deps struct {
	Store   Store
	Limits  Limits
	Count   func(text string) int // tokens
	Publish func(chat.Change)
}

// Service pins facts.
type Service struct{ d Deps }

// New returns the service.
func New(d Deps) *Service { return &Service{d} }

// Pins are the pinned facts of a branch, in order.
func (s *Service) Pins(ctx context.Context, branch chat.BranchID) ([]chat.Pin, error) {
	return s.d.Store.Pins(ctx, branch)
}

// Add pins a fact: it is sent word for word with every request from now on.
//
// Errors: CodeInvalid for a fact without text, CodeOverBudget for one that leaves the model no room.
func (s *Service) Add(ctx context.Context, branch chat.BranchID, text string) (chat.Pin, error) {
	return s.put(ctx, branch, "", text, func(text string, tokens int) (chat.Pin, error) {
		return s.d.Store.AddPin(ctx, branch, text, tokens)
	})
}

// Edit makes a new version of a pinned fact; the old one is kept. Its errors are those of Add.
func (s *Service) Edit(ctx context.Context, branch chat.BranchID, pin chat.PinID, text string) (chat.Pin, error) {
	return s.put(ctx, branch, pin, text, func(text string, tokens int) (chat.Pin, error) {
		return s.d.Store.EditPin(ctx, branch, pin, text, tokens)
	})
}

func (s *Service) put(ctx context.Context, branch chat.BranchID, replaces chat.PinID, text string, put func(string, int) (chat.Pin, error)) (pin chat.Pin, err error) {
	return pin, s.change(ctx, branch, func() error {
		if text = strings.TrimSpace(text); text == "" {
			return chat.Errorf(chat.CodeInvalid, "pin", "A pinned fact needs some text; nothing was changed.")
		}
		if err := s.d.Limits.CheckPin(ctx, branch, replaces, text); err != nil {
			return err
		}
		pin, err = put(text, s.d.Count(text))
		return err
	})
}

// Remove unpins a fact on a branch; on one that inherited it, on that branch alone.
func (s *Service) Remove(ctx context.Context, branch chat.BranchID, pin chat.PinID) error {
	return s.change(ctx, branch, func() error { return s.d.Store.RemovePin(ctx, branch, pin) })
}

// Move puts a fact at a position, counted from 0.
func (s *Service) Move(ctx context.Context, branch chat.BranchID, pin chat.PinID, position int) error {
	return s.change(ctx, branch, func() error { return s.d.Store.MovePin(ctx, branch, pin, position) })
}

// change tells of the pins of a branch that are different now, unless the change fails.
func (s *Service) change(ctx context.Context, branch chat.BranchID, do func() error) error {
	b, err := s.d.Store.Branch(ctx, branch)
	if err == nil {
		err = do()
	}
	if err == nil {
		s.d.Publish(chat.Change{Kind: chat.ChangePins, ID: string(branch), Session: b.SessionID})
	}
	return err
}

// Suggested are the standing instructions in what the user said on a branch that are neither pinned nor dismissed,
// newest first.
func (s *Service) Suggested(ctx context.Context, branch chat.BranchID) ([]chat.PinSuggestion, error) {
	return s.d.Store.SuggestedPins(ctx, branch)
}

// Accept pins a suggestion, as it is or with the text changed; an empty text is the suggestion's own.
//
// Errors: CodeNotFound for one that is not suggested any more, and those of Add.
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
	return pin, s.change(ctx, branch, func() error { return s.d.Store.SuggestionPinned(ctx, branch, id, pin.ID) })
}

// Dismiss has a suggestion never offered again.
//
// Errors: CodeNotFound for one that is not suggested any more.
func (s *Service) Dismiss(ctx context.Context, branch chat.BranchID, id chat.SuggestionID) error {
	if _, err := s.suggestion(ctx, branch, id); err != nil {
		return err
	}
	return s.change(ctx, branch, func() error { return s.d.Store.DismissSuggestion(ctx, branch, id) })
}

func (s *Service) suggestion(ctx context.Context, branch chat.BranchID, id chat.SuggestionID) (chat.PinSuggestion, error) {
	offered, err := s.Suggested(ctx, branch)
	if err != nil {
		return chat.PinSuggestion{}, err
	}
	at := slices.IndexFunc(offered, func(p chat.PinSuggestion) bool { return p.ID == id })
	if at < 0 {
		return chat.PinSuggestion{}, chat.Errorf(chat.CodeNotFound, "pin.suggestion", "This suggestion was pinned or dismissed already.")
	}
	return offered[at], nil
}
