package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// TestTheRestOfABudgetGoesToTurnsAfterAMatch: an answer some turns after the only message that shares words with the
// question is packed if there is space, is not a hit, and displaces no match.
func TestTheRestOfABudgetGoesToTurnsAfterAMatch(t *testing.T) {
	m := newMemory()
	m.serving = false
	for i := range 40 {
		text := fmt.Sprintf("The weather of day %d.", i)
		switch i {
		case 10:
			text = "Our landlord sells the flat."
		case 18:
			text = "We leave in September."
		}
		m.add(line{seq: int64(2*i + 1), text: text})
	}
	const question = "When must we be out of the flat of the landlord?"
	pack := func(tokens int) []string {
		res := find(t, m.engine(), Query{Text: question, MaxTokens: tokens})
		out := lists.Map(res.Artifacts, func(a Artifact) string { return a.Text })
		if len(res.Hits) == 0 || slices.ContainsFunc(res.Hits, func(h Hit) bool { return strings.Contains(h.Text, "September") }) {
			t.Errorf("hits: %+v", res.Hits)
		}
		if res.Tokens > tokens {
			t.Errorf("%d of %d tokens", res.Tokens, tokens)
		}
		return out
	}
	contains := func(list []string, words string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, words) })
	}
	if large := pack(1500); !contains(large, "landlord") || !contains(large, "September") || !strings.Contains(large[0], "landlord") {
		t.Errorf("large budget: %q", large)
	}
	if small := pack(40); !contains(small, "landlord") || contains(small, "September") {
		t.Errorf("small budget: %q", small)
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

// TestAWeakMatchDoesNotReachFar: a message some turns after one that shares only a common word with the question is not
// packed, however much space there is.
func TestAWeakMatchDoesNotReachFar(t *testing.T) {
	m := newMemory()
	m.serving = false
	addBranch := func(branch chat.BranchID, at map[int]string) {
		for i := range 40 {
			text := fmt.Sprintf("The weather of day %d.", i)
			if replacement, ok := at[i]; ok {
				text = replacement
			}
			m.add(line{seq: int64(2*i + 1), branch: branch, text: text})
		}
	}
	addBranch("b", map[int]string{10: "Our landlord sells the flat and keeps the deposit.", 18: "We leave in September."})
	addBranch("c", map[int]string{10: "A flat tyre on the motorway cost the morning and most of the afternoon as well, since nobody came.", 18: "The cat is ill."})
	res := find(t, m.engine(), Query{Text: "Does the landlord keep the deposit for the flat?", Within: chat.Within{Scope: chat.ScopeAll}, MaxTokens: 3000})
	packed := lists.Map(res.Artifacts, func(a Artifact) string { return a.Text })
	all := strings.Join(packed, "\n")
	if !strings.Contains(all, "landlord") || !strings.Contains(all, "September") || !strings.Contains(all, "flat tyre") || strings.Contains(all, "cat is ill") {
		t.Errorf("packed: %q", packed)
	}
}
