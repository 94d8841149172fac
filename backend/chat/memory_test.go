package chat

import "testing"

// TestSaid: a unit's vector is that of its own words, with the names that belong to them.
func TestSaid(t *testing.T) {
	for text, want := range map[string]struct {
		own  string
		said string
	}{
		"[2 May 2026] user: Thanks. My pup chewed the sofa.":    {"My pup chewed the sofa.", "My pup chewed the sofa."},
		"[2 May 2026] assistant: what: now? Water it.":          {"Water it.", "Water it."},
		"[2 May 2026] Caroline: Who did? I adopted a pup.":      {"I adopted a pup.", "Caroline: I adopted a pup."},
		"[2 May 2026] plan.md, Roof: Seal it before the winter": {"Seal it before the winter", "plan.md, Roof: Seal it before the winter"},
		"all of it": {"", "all of it"},
	} {
		if got := (UnitText{Text: text, Own: len(want.own)}).Said(); got != want.said {
			t.Errorf("%q says %q, want %q", text, got, want.said)
		}
	}
	if got := (UnitText{Text: "x: é", Own: 1}).Said(); got != "x: " { // the length is that of other bytes
		t.Errorf("%q", got)
	}
}
