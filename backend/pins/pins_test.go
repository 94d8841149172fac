package pins

import (
	"context"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
)

// fakeStore is a store with one suggestion on one branch that records the calls.
type fakeStore struct {
	Store
	calls []string
}

func (k *fakeStore) Branch(_ context.Context, id chat.BranchID) (chat.Branch, error) {
	if id != "b" {
		return chat.Branch{}, chat.Errorf(chat.CodeNotFound, "test", "no branch")
	}
	return chat.Branch{ID: id, SessionID: "s"}, nil
}

func (k *fakeStore) AddPin(_ context.Context, _ chat.BranchID, text string, tokens int) (chat.Pin, error) {
	k.calls = append(k.calls, "add "+text)
	return chat.Pin{ID: "p", Text: text, Tokens: tokens}, nil
}

func (k *fakeStore) EditPin(_ context.Context, _ chat.BranchID, pin chat.PinID, text string, tokens int) (chat.Pin, error) {
	k.calls = append(k.calls, "edit "+string(pin)+" "+text)
	return chat.Pin{ID: "q", Text: text, Tokens: tokens}, nil
}

func (k *fakeStore) SuggestedPins(context.Context, chat.BranchID) ([]chat.PinSuggestion, error) {
	return []chat.PinSuggestion{{ID: "g", Text: "Always answer in verse."}}, nil
}

func (k *fakeStore) SuggestionPinned(_ context.Context, _ chat.BranchID, id chat.SuggestionID, pin chat.PinID) error {
	k.calls = append(k.calls, "accepted "+string(id)+" as "+string(pin))
	return nil
}

func (k *fakeStore) DismissSuggestion(_ context.Context, _ chat.BranchID, id chat.SuggestionID) error {
	k.calls = append(k.calls, "dismissed "+string(id))
	return nil
}

// CheckPin allows 30 bytes.
func (k *fakeStore) CheckPin(_ context.Context, _ chat.BranchID, _ chat.PinID, text string) error {
	if len(text) > 30 {
		return chat.Errorf(chat.CodeOverBudget, "test", "too long")
	}
	return nil
}

// Each change follows its rule and is published; a failed one changes nothing and is not published.
func TestChanges(t *testing.T) {
	const published = "published s b"
	for name, c := range map[string]struct {
		do   func(context.Context, *Service) (chat.Pin, error)
		want []string
		code chat.Code
	}{
		"add":     {func(ctx context.Context, s *Service) (chat.Pin, error) { return s.Add(ctx, "b", " a fact\n") }, []string{"add a fact", published}, ""},
		"no text": {func(ctx context.Context, s *Service) (chat.Pin, error) { return s.Add(ctx, "b", " \n") }, nil, chat.CodeInvalid},
		"too long": {func(ctx context.Context, s *Service) (chat.Pin, error) {
			return s.Add(ctx, "b", "a fact that is far longer than the limit allows")
		}, nil, chat.CodeOverBudget},
		"no branch": {func(ctx context.Context, s *Service) (chat.Pin, error) { return s.Add(ctx, "c", "a fact") }, nil, chat.CodeNotFound},
		"edit":      {func(ctx context.Context, s *Service) (chat.Pin, error) { return s.Edit(ctx, "b", "p", "another") }, []string{"edit p another", published}, ""},
		"accept": {
			func(ctx context.Context, s *Service) (chat.Pin, error) { return s.Accept(ctx, "b", "g", " ") },
			[]string{"add Always answer in verse.", published, "accepted g as p", published},
			"",
		},
		"accept changed": {
			func(ctx context.Context, s *Service) (chat.Pin, error) { return s.Accept(ctx, "b", "g", "In verse.") },
			[]string{"add In verse.", published, "accepted g as p", published},
			"",
		},
		"accept an unknown one":  {func(ctx context.Context, s *Service) (chat.Pin, error) { return s.Accept(ctx, "b", "h", "") }, nil, chat.CodeNotFound},
		"dismiss":                {func(ctx context.Context, s *Service) (chat.Pin, error) { return chat.Pin{}, s.Dismiss(ctx, "b", "g") }, []string{"dismissed g", published}, ""},
		"dismiss an unknown one": {func(ctx context.Context, s *Service) (chat.Pin, error) { return chat.Pin{}, s.Dismiss(ctx, "b", "h") }, nil, chat.CodeNotFound},
	} {
		k := &fakeStore{}
		s := New(Deps{Store: k, Limits: k, Count: func(text string) int { return len(text) }, Publish: func(ch chat.Change) {
			k.calls = append(k.calls, "published "+string(ch.Session)+" "+ch.ID)
		}})
		pin, err := c.do(t.Context(), s)
		if !slices.Equal(k.calls, c.want) {
			t.Errorf("%s: did %q, not %q", name, k.calls, c.want)
		}
		if (err != nil) != (c.code != "") || err != nil && chat.CodeOf(err) != c.code {
			t.Errorf("%s: %v, not %s", name, err, c.code)
		}
		if pin.Tokens != len(pin.Text) {
			t.Errorf("%s: %d tokens of %q", name, pin.Tokens, pin.Text)
		}
	}
}
