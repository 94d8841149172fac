package retrieval

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

func explained(text string, why Why, similarity, keyword float64) Hit {
	h := Hit{Why: why, Similarity: similarity, Keyword: keyword}
	h.Text, h.TurnSeq = text, 19
	return h
}

// TestMatchOfAHit: a hit is explained by the words that the ranking matched, as the passage spells them, and by the
// other reasons of the ranking.
func TestMatchOfAHit(t *testing.T) {
	const text = "**Dual writes** to Gion copied 2 410 000 rows."
	for name, c := range map[string]struct {
		hit   Hit
		words []string
		want  string
	}{
		"a reply": {
			explained(text, Why{Words: []string{"dual", "write"}, Answers: "How many rows?"}, 0, 0.5),
			[]string{"Dual", "writes"},
			"matched: Dual, writes · answer to the question of #19",
		},
		"words around it": {
			explained(text, Why{Words: []string{"gion"}, Around: []string{"ryokan"}}, 0.978, 0.5),
			[]string{"Gion"},
			"matched: Gion · nearby: ryokan · more similar than 97 % of unrelated text",
		},
		"a similar spelling":   {explained(text, Why{Words: []string{"gyon"}}, 0, 0.5), []string{"gyon"}, "matched: gyon"},
		"a continuation":       {explained(text, Why{Continues: true}, 0, 0), nil, "next to a passage that matches"},
		"an instruction":       {explained(text, Why{Continues: true, Standing: true}, 0, 0), nil, "next to a passage that matches · standing instruction"},
		"a question":           {explained(text, Why{Words: []string{"rows"}, Question: true}, 0, 1), []string{"rows"}, "matched: rows · only asks"},
		"the question again":   {explained(text, Why{Words: []string{"rows"}, Question: true, Repeats: true}, 0, 1), []string{"rows"}, "matched: rows · repeats the question"},
		"one of many":          {explained(text, Why{Words: []string{"rows"}, Overview: true}, 0, 1), []string{"rows"}, "matched: rows · chosen for an overview over time"},
		"the plain ranking":    {explained(text, Why{}, 0, 1), []string{"writes", "Gion"}, "matched: writes, Gion"},
		"similarity alone":     {explained("other words", Why{}, 1, 0), nil, "more similar than all unrelated text"},
		"never rounded up":     {explained("other words", Why{}, 0.9999, 0), nil, "more similar than 99 % of unrelated text"},
		"words of other forms": {explained("other words", Why{}, 0, 0.2), nil, "shares words with the question"},
	} {
		m := c.hit.Match("What was written to Gion?")
		if name == "the plain ranking" {
			m = c.hit.Match("How many writes go to Gion?")
		}
		if got := m.String(); !slices.Equal(m.Words, c.words) || got != c.want {
			t.Errorf("%s: %q, %q", name, m.Words, got)
		}
	}
}

// TestMatchOfAStoredPassage: the explanation from a stored request equals that of the search.
func TestMatchOfAStoredPassage(t *testing.T) {
	h := explained("Dual writes copied the rows.", Why{Words: []string{"rows"}, Answers: "How many?", Overview: true}, 0.5, 1)
	part := prompt.Part{Similarity: 0.5, Keyword: 1, Reasons: h.Why.Reasons()}
	if got, want := MatchOf("How many rows?", h.Text, part, 19).String(), h.Match("How many rows?").String(); got != want {
		t.Errorf("%q, the search gave %q", got, want)
	}
	if got := MatchOf("rows", h.Text, prompt.Part{Attached: true, Keyword: 1}, 19).String(); got != "attached manually" {
		t.Error(got)
	}
	if got := MatchOf("rows", "no such", prompt.Part{Reasons: []chat.Reason{chat.ReasonAnswer, "of a later version"}}, 0).String(); got != "next to a passage that matches · answer to a question" {
		t.Error(got)
	}
}

// TestMatchIsBounded: neither the words nor the sentence grow without limit.
func TestMatchIsBounded(t *testing.T) {
	all := "alpha bravo charlie delta foxtrot golf hotel"
	if got := MatchOf(all, all, prompt.Part{}, 1).String(); got != "matched: alpha, bravo, charlie, delta, foxtrot and 2 more" {
		t.Error(got)
	}
	var long strings.Builder
	for i := range 200 {
		long.WriteString("term" + strconv.Itoa(i) + " ")
	}
	if got := MatchOf(long.String(), long.String(), prompt.Part{}, 1).Words; len(got) != maxMatchWords {
		t.Errorf("%d words", len(got))
	}
}
