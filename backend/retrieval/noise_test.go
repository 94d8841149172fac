package retrieval

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestNoiseIsNotPacked: what has next to nothing in common with the query is not packed, whatever remains of the budget.
func TestNoiseIsNotPacked(t *testing.T) {
	m := newMemory()
	for i := range 60 {
		text, role := fmt.Sprintf("%d boats of the harbour were painted. %s", i, strings.Repeat("They talked about the weather and the sails. ", 12)), chat.RoleAssistant
		switch i {
		case 10:
			text, role = "Dana is on call for the database this week.", chat.RoleUser
		case 20, 30, 50:
			text += "Then you call the harbour."
		}
		m.add(line{seq: int64(2*i + 1), role: role, text: text})
	}
	res := find(t, m.engine(), Query{Text: "Who is on call for the database this week?", MaxTokens: 6000})
	for _, a := range res.Artifacts {
		if a.Score < 0.1 {
			t.Errorf("packed with %.3f: %s", a.Score, a.Text)
		}
	}
	if len(res.Artifacts) == 0 || !strings.Contains(res.Artifacts[0].Text, "Dana") {
		t.Errorf("packed: %v", res.Artifacts)
	}
}

// TestShortLinesAreOneStep: in a chat between people, several short lines after a match count as one step, so the
// answer among them ranks before a passage that only shares a common word.
func TestShortLinesAreOneStep(t *testing.T) {
	near := func(text string) int {
		p := &pool{s: Measured()}
		for i := range 20 {
			p.units = append(p.units, unit{UnitRef: chat.UnitRef{Seq: int64(i), Speaker: "Priya", Tokens: len(text) / 4}, thread: "s"})
		}
		return len(p.neighboursOf(10, termDistance))
	}
	if short, long := near("not really, no"), near("This is a message of a length that people write when they have something to tell each other, with a reason."); short != 16 || long != 4 {
		t.Errorf("%d short lines and %d messages are neighbours", short, long)
	}
}
