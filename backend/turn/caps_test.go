package turn_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// Pinned facts and instructions over their caps are refused when they are added; a change that makes an oversized
// section smaller is accepted. If the section does not fit the limits of another model, sending fails with an error
// instead of leaving anything out silently.
func TestSectionsOverTheirCapAreRefused(t *testing.T) {
	w := newEnv(t)
	w.window = 10_000 // ceiling 8312, caps 665
	ctx := t.Context()
	fact := func(n int) string { return strings.TrimSpace(strings.Repeat("fact ", n)) }
	if err := w.engine.CheckPin(ctx, w.branch.ID, "", fact(500)); err != nil {
		t.Fatal(err)
	}
	pin, err := w.store.AddPin(ctx, w.branch.ID, fact(500), 500)
	if err != nil {
		t.Fatal(err)
	}
	err = w.engine.CheckPin(ctx, w.branch.ID, "", fact(200))
	if e := chat.AsError(err); chat.CodeOf(err) != chat.CodeOverBudget || !strings.Contains(e.Message, "702 tokens") || !strings.Contains(e.Message, "665") || !strings.Contains(e.Message, "Nothing was pinned.") || e.Hint == "" {
		t.Errorf("%v", err)
	}
	if err := w.engine.CheckPin(ctx, w.branch.ID, pin.ID, fact(600)); err != nil {
		t.Errorf("in its own place: %v", err)
	}
	if err := w.engine.CheckInstructions(ctx, w.session.ID, fact(665)); err != nil {
		t.Error(err)
	}
	if err := w.engine.CheckInstructions(ctx, w.session.ID, fact(666)); chat.CodeOf(err) != chat.CodeOverBudget || !strings.Contains(err.Error(), "Nothing was changed.") {
		t.Errorf("%v", err)
	}
	if err := w.engine.CheckCaps(ctx, w.session.ID); err != nil {
		t.Error(err)
	}

	w.window = 5000 // a smaller model
	if err := w.engine.CheckCaps(ctx, w.session.ID); chat.CodeOf(err) != chat.CodeOverBudget {
		t.Errorf("%v", err)
	}
	got := w.send("hello")
	if got.Phase != chat.PhaseFailed || got.Failure.Code != chat.CodeOverBudget || !strings.Contains(got.Failure.Message, "pinned facts take 501 tokens") || len(w.provider.requests()) != 0 {
		t.Errorf("%+v", got.Failure)
	}
	if err := w.engine.CheckPin(ctx, w.branch.ID, pin.ID, fact(450)); err != nil {
		t.Errorf("a shorter version is refused: %v", err)
	}
	if err := w.store.RemovePin(ctx, w.branch.ID, pin.ID); err != nil {
		t.Fatal(err)
	}
	w.is(w.send("hello"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
	w.clean()
}

// The date in a request is the time when its message was accepted. It is not in the cacheable prefix, and it is
// recorded, so that the context can be rebuilt byte for byte.
func TestNowIsPinned(t *testing.T) {
	w := newEnv(t)
	first := w.send("hello")
	second := w.send("again")
	for _, turn := range []chat.Turn{first, second} {
		m := w.manifest(turn.ID)
		if want := turn.CreatedAt.Local().Format("2 January 2006, 15:04"); !strings.Contains(m.Inputs.Now, want) {
			t.Errorf("%q, want %q", m.Inputs.Now, want)
		}
	}
	sent := w.provider.requests()
	texts := sentTexts(t, sent[1])
	if n := len(texts); !strings.HasSuffix(texts[n-2], "[Now: "+w.manifest(second.ID).Inputs.Now+"]\n</memory>\n\n") || texts[n-1] != "again" {
		t.Errorf("%q", texts[n-2:])
	}
	if strings.Contains(strings.Join(texts[:len(texts)-2], ""), "[Now: ") {
		t.Error("the prefix contains a date")
	}
	w.clean()
}
