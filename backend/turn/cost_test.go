package turn_test

import (
	"testing"

	"contextinfinity/backend/chat"
)

// TestACostIsStoredWithItsAnswer: each step and the turn store their cost at the price of that time, and a turn of two
// steps the sum of both. Without a price nothing is stored.
func TestACostIsStoredWithItsAnswer(t *testing.T) {
	w := newEnv(t)
	source := chat.PriceConfigured
	w.cost = func(u chat.Usage) chat.Cost { return chat.Cost{USD: float64(u.InputTokens), Source: source} }
	usage := `{"t":"usage","s":"{\"input_tokens\":11,\"output_tokens\":3}"}`
	w.provider.script(call{events: []string{text("half"), usage, `{"t":"pause"}`}}, call{events: []string{text(" whole"), done, usage}})
	got := w.send("hi")
	stored, err := w.store.Turn(t.Context(), got.ID)
	if err != nil || stored.Usage == nil || stored.Usage.Cost != (chat.Cost{USD: 22, Source: source}) {
		t.Fatalf("%+v %v", stored.Usage, err)
	}
	steps, err := w.store.Steps(t.Context(), got.ID)
	if err != nil || len(steps) != 2 || steps[0].Usage.Cost.USD != 11 || steps[1].Usage.Cost.USD != 11 {
		t.Errorf("%+v %v", steps, err)
	}
	source = "" // a price is no longer known
	w.provider.script(call{events: []string{text("free"), done, usage}})
	if got := w.send("and now?"); got.Usage == nil || got.Usage.Cost.Known() {
		t.Errorf("%+v", got.Usage)
	}
	if damage, err := w.store.Verify(t.Context()); err != nil || len(damage) != 0 {
		t.Errorf("%v %v", damage, err)
	}
	w.clean()
}
