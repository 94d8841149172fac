package store

import (
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

func TestKnown(t *testing.T) {
	f := newFixture(t)
	list := func(q chat.KnownQuery) ([]chat.Known, int) {
		t.Helper()
		page, total, err := f.Known(f.ctx, q)
		f.ok(err)
		return page, total
	}
	for _, kind := range chat.KnownKinds {
		if page, total := list(chat.KnownQuery{Kind: kind}); page == nil || len(page) != 0 || total != 0 {
			t.Errorf("%s: %v", kind, page)
		}
	}
	_, _, err := f.Known(f.ctx, chat.KnownQuery{Kind: "everything"})
	f.refused(err, chat.CodeInvalid)

	s, b := f.session("first")
	turn := f.full(b.ID, "Always answer in French. What is a pin?", "Une épingle.")
	pin, err := f.AddPin(f.ctx, b.ID, "I live in Bern", 4)
	f.ok(err)
	gone, err := f.AddPin(f.ctx, b.ID, "I live in Rome", 4)
	f.ok(err)
	f.ok(f.RemovePin(f.ctx, b.ID, gone.ID))
	f.ok(f.SetSessionSettings(f.ctx, s.ID, chat.SessionSettings{SystemPrompt: "Be brief."}))
	f.clock.Advance(time.Hour)
	later, lb := f.session("second")
	_, err = f.AddPin(f.ctx, lb.ID, "I have a cat", 4)
	f.ok(err)
	f.ok(f.ArchiveSession(f.ctx, later.ID, true))

	page, total := list(chat.KnownQuery{Kind: chat.KnownPin})
	if total != 2 || len(page) != 2 || page[0].SessionTitle != "second" || !page[0].Archived || page[0].TurnID != "" {
		t.Fatalf("%+v", page)
	}
	if k := page[1]; k.ID != string(pin.ID) || k.SessionID != s.ID || k.BranchID != b.ID || k.TurnID != turn.ID || k.TurnSeq != 1 || k.At.IsZero() || k.Text != "I live in Bern" {
		t.Errorf("%+v", k)
	}
	if page, total = list(chat.KnownQuery{Kind: chat.KnownPin, Text: "BERN"}); total != 1 || page[0].ID != string(pin.ID) {
		t.Errorf("%+v", page)
	}
	if page, total = list(chat.KnownQuery{Kind: chat.KnownPin, Offset: 1, Limit: 1}); total != 2 || len(page) != 1 || page[0].ID != string(pin.ID) {
		t.Errorf("%+v", page)
	}
	if page, _ = list(chat.KnownQuery{Kind: chat.KnownInstructions}); len(page) != 1 || page[0].Text != "Be brief." || page[0].ID != string(s.ID) || page[0].At.IsZero() {
		t.Errorf("%+v", page)
	}
	if page, _ = list(chat.KnownQuery{Kind: chat.KnownSuggestion}); len(page) != 1 || page[0].Text != "Always answer in French." || page[0].TurnID != turn.ID {
		t.Errorf("%+v", page)
	}
	f.ok(f.DismissSuggestion(f.ctx, b.ID, chat.SuggestionID(page[0].ID)))
	if page, _ = list(chat.KnownQuery{Kind: chat.KnownSuggestion}); len(page) != 0 {
		t.Errorf("%+v", page)
	}
	page, total = list(chat.KnownQuery{Kind: chat.KnownSummary})
	if total != 1 || len(page) != 1 || page[0].TurnID != turn.ID || page[0].Text == "" {
		t.Errorf("%+v", page)
	}
	if page, total = list(chat.KnownQuery{Kind: chat.KnownSummary, Offset: 1}); total != 1 || len(page) != 0 {
		t.Errorf("%+v", page)
	}
}

// A pin made from a suggestion names the turn in which the user wrote it, also after it was edited, and not the newest
// turn at that moment.
func TestAPinFromASuggestionNamesItsTurn(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	source := f.full(b.ID, "Always answer in French. What is a pin?", "Une épingle.")
	f.full(b.ID, "And a needle?", "Une aiguille.")
	offered, _, err := f.Known(f.ctx, chat.KnownQuery{Kind: chat.KnownSuggestion})
	f.ok(err)
	pin, err := f.AddPin(f.ctx, b.ID, offered[0].Text, 4)
	f.ok(err)
	f.ok(f.SuggestionPinned(f.ctx, b.ID, chat.SuggestionID(offered[0].ID), pin.ID))
	_, err = f.EditPin(f.ctx, b.ID, pin.ID, "Always answer in Italian.", 4)
	f.ok(err)
	page, _, err := f.Known(f.ctx, chat.KnownQuery{Kind: chat.KnownPin})
	f.ok(err)
	if len(page) != 1 || page[0].TurnID != source.ID || page[0].TurnSeq != 1 || page[0].Text != "Always answer in Italian." {
		t.Errorf("%+v, want turn %s", page, source.ID)
	}
}
