package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func plainProfile(change ...func(*Settings)) func(*Settings) {
	return func(s *Settings) {
		s.SRD, s.Recency, s.MMR = true, 0.1, true // SRD 8.2
		for _, f := range change {
			f(s)
		}
	}
}

// facts are statements of a person, each with a question about it in that person's own words.
var facts = [][2]string{
	{"We moved the nightly backup to Rotterdam because Dublin ran out of space.", "Where does the nightly backup go?"},
	{"Ines approved the budget of 41000 euros on Tuesday.", "How large is the budget that Ines approved?"},
	{"The gateway rejects tokens older than ninety seconds.", "When does the gateway reject tokens?"},
	{"My sister plays the cello in Leipzig.", "Which instrument does my sister play?"},
	{"Please never deploy on Fridays after lunch.", "May we deploy on Fridays?"},
	{"The parser chokes on semicolons inside quoted fields.", "What does the parser choke on with quoted fields?"},
	{"Our landlord wants the deposit before the first of March.", "When does the landlord want the deposit?"},
	{"Version 7 of the schema dropped the column legacy_id.", "Which column did the schema drop?"},
	{"I am allergic to hazelnuts but walnuts are fine.", "What am I allergic to?"},
	{"The retention period of audit logs is eleven months.", "How long is the retention of audit logs?"},
	{"Tomas keeps the spare key under the blue flowerpot.", "Where does Tomas keep the spare key?"},
	{"Invoices above 900 euros need two signatures.", "Which invoices need two signatures?"},
	{"Die Seriennummer der Pumpe lautet 88-1203.", "Seriennummern der Pumpen"},
	{"The choir rehearses in the old tram depot.", "Where does the choir rehearse?"},
	{"Cache entries expire after 15 minutes unless pinned.", "When do cache entries expire?"},
}

// smallTalk returns one of many sentences that have little in common.
func smallTalk(n int) string {
	pick := func(step int, list ...string) string { return list[n*step%len(list)] }
	return pick(1, "This morning", "Later", "In the end", "Between two calls", "As usual", "After lunch", "On the train") + " " +
		pick(3, "the painter", "our neighbour", "a tall stranger", "the new intern", "everybody", "the cat", "Bela", "no committee", "the weather") + " " +
		pick(5, "ignored", "admired", "rewrote", "borrowed", "misplaced", "photographed", "explained", "watered", "folded", "whistled at", "outlived") + " " +
		pick(7, "seven umbrellas", "that old piano", "the chess club", "a jar of honey", "half of the slides", "the ferns", "a crooked bicycle", "the lighthouse",
			"some thunder", "the menu", "two oranges", "a map of Iceland", "the elevator") + "."
}

// workday is a conversation that contains the facts, far apart.
func workday() *memory {
	m := newMemory()
	for i, fact := range facts {
		seq := int64(4*i + 1)
		m.add(line{seq: seq, text: fact[0]}, line{seq: seq, role: chat.RoleAssistant, text: "Noted, I will keep that in mind."})
		for j := range int64(3) {
			m.add(line{seq: seq + j + 1, text: smallTalk(7*i + int(j))}, line{seq: seq + j + 1, role: chat.RoleAssistant, text: smallTalk(5*i + int(j) + 40)})
		}
	}
	return m
}

// TestPlainProfileRecalls: the facts are packed with the built-in embedder and the defaults of SRD 8.2.
func TestPlainProfileRecalls(t *testing.T) {
	e, found := workday().engine(plainProfile()), 0
	for _, fact := range facts {
		res := find(t, e, Query{Text: fact[1], Within: chat.Within{Branch: "b"}, MaxTokens: 6000})
		if len(res.Artifacts) == 0 || len(res.Artifacts) > 6 || len(res.Hits) > 6 {
			t.Errorf("%q: %d artifacts, %d hits", fact[1], len(res.Artifacts), len(res.Hits))
		}
		if slices.ContainsFunc(res.Artifacts, func(a Artifact) bool { return strings.Contains(a.Text, fact[0]) }) {
			found++
		}
	}
	if found < len(facts)-1 {
		t.Errorf("%d of %d facts were packed", found, len(facts))
	}
}

// TestPlainProfileKeepsToItsNumbers: each setting of SRD 8.2 has its effect.
func TestPlainProfileKeepsToItsNumbers(t *testing.T) {
	m := newMemory()
	for i := range 40 {
		m.add(line{seq: int64(i + 1), text: fmt.Sprintf("Harbour report %d: calm sea and quiet docks.", i)})
	}
	ask := func(query string, change func(*Settings)) Result {
		return find(t, m.engine(plainProfile(change)), Query{Text: query, Within: chat.Within{Branch: "b"}, MaxTokens: 6000})
	}
	first := func(r Result) string { return r.Hits[0].Text }
	if r := ask("harbour report", func(s *Settings) { s.TopK, s.Overfetch = 3, 10 }); len(r.Artifacts) != 3 || r.Candidates != 10 {
		t.Errorf("%d packed of %d candidates, want 3 of 10", len(r.Artifacts), r.Candidates)
	}
	candidates := func(recency float64) func(*Settings) {
		return func(s *Settings) { s.Overfetch, s.MMR, s.Recency, s.VectorWeight = 40, false, recency, 0 }
	}
	if got := first(ask("harbour report", candidates(0.5))); !strings.Contains(got, "report 39") {
		t.Errorf("the newest of equal ones must be first, not %q", got)
	}
	if got := ask("harbour report 3", candidates(0.1)); !strings.Contains(first(got), "report 3:") || got.Hits[0].Score > 1.1 {
		t.Errorf("a small boost outweighs the best match: %+v", got.Hits[0])
	}
	// A form that no word matches is found by its vector, above the threshold.
	if r := ask("reharbouring", func(s *Settings) { s.Recency = 0 }); len(r.Hits) == 0 || r.Hits[0].Similarity < 0.72 {
		t.Errorf("%+v", r.Hits)
	}
	if r := ask("reharbouring", func(s *Settings) { s.Recency, s.Threshold = 0, 1 }); len(r.Hits) != 0 {
		t.Errorf("%d hits above the threshold of 1, the first with %f", len(r.Hits), r.Hits[0].Similarity)
	}
	// The threshold applies after the boost for recency.
	if r := ask("reharbouring", func(s *Settings) { s.Recency, s.Threshold = 1, 1 }); len(r.Hits) == 0 {
		t.Error("recency did not lift the new passage over the threshold")
	}
	if r := ask("quiet docks", func(s *Settings) { s.Recency, s.Threshold = 0, 1 }); len(r.Hits) != 6 {
		t.Errorf("%d hits, want 6: the threshold applied to the word search", len(r.Hits))
	}
}

// TestSetNumbersBoundBothProfiles: top_k, overfetch_k and similarity_threshold, if set, bound what is packed with either
// ranking (SRD 8.2); without them the measured ranking packs what fits.
func TestSetNumbersBoundBothProfiles(t *testing.T) {
	m := newMemory()
	for i := range 40 {
		m.add(line{seq: int64(i + 1), text: fmt.Sprintf("Harbour report %d: calm sea and quiet docks.", i)}, line{seq: int64(i + 1), role: chat.RoleAssistant, text: smallTalk(i)})
	}
	for profile, base := range map[string]func(*Settings){"measured": func(*Settings) {}, "srd": plainProfile(func(s *Settings) { s.TopK, s.Overfetch = 6, 16 })} {
		ask := func(change func(*Settings)) Result {
			return find(t, m.engine(func(s *Settings) { base(s); change(s) }), Query{Text: "harbour report", Within: chat.Within{Branch: "b"}, MaxTokens: 6000})
		}
		if r := ask(func(*Settings) {}); len(r.Artifacts) < 6 || profile == "measured" && len(r.Artifacts) < 30 {
			t.Errorf("%s: %d artifacts with nothing set", profile, len(r.Artifacts))
		}
		if r := ask(func(s *Settings) { s.TopK, s.Bounds.Artifacts = 2, 2 }); len(r.Artifacts) != 2 {
			t.Errorf("%s: %d artifacts with top_k = 2", profile, len(r.Artifacts))
		}
		if r := ask(func(s *Settings) { s.Overfetch, s.Bounds.Candidates = 4, 4 }); len(r.Artifacts) == 0 || len(r.Artifacts) > 4 {
			t.Errorf("%s: %d artifacts with overfetch_k = 4", profile, len(r.Artifacts))
		}
		r := ask(func(s *Settings) { s.Threshold, s.Bounds.Similarity, s.Recency = 1, 1, 0 })
		for _, a := range r.Artifacts {
			if !strings.Contains(a.Text, "Harbour report") {
				t.Errorf("%s: %q is packed below the threshold", profile, a.Text)
			}
		}
		if len(r.Artifacts) == 0 {
			t.Errorf("%s: the threshold dropped what words found", profile)
		}
	}
}

// TestTheRangeOfSimilaritiesIsKnown: passages that were found by words have a measured similarity too (SRD 15.1).
func TestTheRangeOfSimilaritiesIsKnown(t *testing.T) {
	res := find(t, workday().engine(func(s *Settings) { s.Threshold = 1 }), Query{Text: facts[0][1], Within: chat.Within{Branch: "b"}, MaxTokens: 2000})
	if len(res.Artifacts) == 0 || res.Artifacts[0].Measured <= 0 || res.Artifacts[0].Measured > 1 || res.Artifacts[0].Similarity != 0 {
		t.Errorf("%+v", res.Artifacts)
	}
}

// TestPlainProfilePrefersVariety: MMR selects what is packed from all candidates.
func TestPlainProfilePrefersVariety(t *testing.T) {
	m := newMemory()
	for i := range 8 {
		m.add(line{seq: int64(i + 1), text: fmt.Sprintf("Contoso invoices come by mail on Monday number %d", i)})
	}
	m.add(line{seq: 90, text: "Contoso invoices: all lost in the harbour of Oslo, with the mail and many other things besides"})
	for _, mmr := range []bool{false, true} {
		res := find(t, m.engine(plainProfile(func(s *Settings) { s.MMR, s.TopK, s.Recency = mmr, 3, 0 })), Query{Text: "Contoso invoices mail", MaxTokens: 500})
		if got := slices.ContainsFunc(res.Artifacts, func(a Artifact) bool { return strings.Contains(a.Text, "Oslo") }); got != mmr {
			t.Errorf("MMR %v: a passage with other content is packed: %v", mmr, got)
		}
	}
}
