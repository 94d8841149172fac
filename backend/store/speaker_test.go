package store

import (
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/search"
)

func TestSpeakerIn(t *testing.T) {
	for indexed, want := range map[string]string{
		"[2 May 2026] Ann Lee: hello: there": "Ann Lee",
		"[2 May 2026] Ann, Plans: hello":     "Ann",
		"[2 May 2026] user, Plans: hello":    "",
		"[2 May 2026] user: hello":           "",
		"[2 May 2026] assistant: hello":      "",
		"hello":                              "",
		"[2 May 2026] no colon":              "",
		"":                                   "",
	} {
		if got := search.SpeakerIn(indexed); got != want {
			t.Errorf("%q: %q, want %q", indexed, got, want)
		}
	}
}

// TestSpeakersReachRankingAndPrompt: the author of a message in a group chat reaches ranking and the prompt.
func TestSpeakersReachRankingAndPrompt(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.committed(b.ID, "zebra question", "zebra answer")
	i := f.indexing(turn.ID, chat.IndexOK)
	i.Chunks[0].Units[0].Text = "[2 May 2026] Ann: zebra question"
	i.Chunks[1].Units[0].Text = "[2 May 2026] assistant: zebra answer"
	f.ok(f.Index(f.ctx, i))
	hits, err := f.SearchUnits(f.ctx, []string{"zebra"}, chat.Within{Branch: b.ID}, 5)
	f.ok(err)
	ns := lists.Map(hits, func(h chat.UnitScore) int64 { return h.N })
	units, err := f.Units(f.ctx, chat.Within{Branch: b.ID}, ns)
	f.ok(err)
	who := map[chat.Role]string{}
	for _, u := range units {
		who[u.Role] = u.Speaker
	}
	if len(who) != 2 || who[chat.RoleUser] != "Ann" || who[chat.RoleAssistant] != "" {
		t.Errorf("%v", who)
	}
	if units, tokens, err := f.UnitTotals(f.ctx); err != nil || units != 2 || tokens <= 0 {
		t.Errorf("%d units, %d tokens, %v", units, tokens, err)
	}
	if n, err := f.UnitCount(f.ctx); err != nil || n != 2 {
		t.Errorf("%d units, %v", n, err)
	}
}
