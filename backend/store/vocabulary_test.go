package store

import (
	"testing"

	"contextinfinity/backend/chat"
)

func TestVocabulary(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "Fahim repaired the freezers, Fahim and Farah", "fine: four freezers")
	f.full(b.ID, "Fahim sleeps; Федор too", "我爱猫")
	for term, want := range map[string]map[string]int{
		"Faheem":     {"fahim": 2, "farah": 1, "freezer": 2, "fine": 1, "four": 1},
		"Fahimmmm":   {"fahim": 2, "farah": 1, "freezer": 2},
		"Федoр":      {"федор": 1},
		"freezers'":  {"fahim": 2, "farah": 1, "freezer": 2, "four": 1}, // ranked by the length of the stem
		"zebra":      {},
		"two words":  {},
		"我爱":         {},
		"":           {},
		`" OR fahim`: {},
	} {
		form, known, err := f.Vocabulary(f.ctx, term, 1, 3)
		f.ok(err)
		got := map[string]int{}
		for _, k := range known {
			got[k.Term] = k.Units
		}
		for w, n := range want {
			if got[w] != n {
				t.Errorf("%q (%s): %q in %d units, want %d", term, form, w, got[w], n)
			}
		}
		if len(want) == 0 && len(got) != 0 || len(form) > 20 {
			t.Errorf("%q (%s): %v", term, form, got)
		}
	}
	if _, known, err := f.Vocabulary(f.ctx, "Fahimm", 2, 3); err != nil || len(known) != 2 {
		t.Errorf("%v %v: want those that begin with fa", known, err)
	}
	if form, known, err := f.Vocabulary(f.ctx, "Freezers", 1, 0); err != nil || form != "freezer" || len(known) != 1 || known[0] != (chat.TermCount{Term: "freezer", Units: 2}) {
		t.Errorf("%q %v %v", form, known, err)
	}
}
