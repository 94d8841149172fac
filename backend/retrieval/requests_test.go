package retrieval

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestClausesThatAsk: brackets mark the parts that only ask.
func TestClausesThatAsk(t *testing.T) {
	for _, want := range []string{
		"[How big should the instance be and what does it cost]",
		"[can you give me the reconciliation query]",
		"[Write me a short status]",
		"Hmm,[ so how do I restart it]",
		"[Thanks for the tips! I'll try them.]",
		"I use Redis,[ can it expire keys?]",
		"[I'm trying to speed it up,] I've already reduced it to 85 lines,[ can you review it?]",
		"We moved to Postgres on Monday.[ Is that fine?]",
		"The backup runs at 02:30, and takes 1.5 hours.",
		"[Three workers are enough?]",
		"Wir haben Brot gebacken,[ kannst du mir das Rezept geben]",
		"[¿Cuánto cuesta?] Vivo en Lima.",
		"[这个多少钱？]我住在上海。",
	} {
		text := strings.NewReplacer("[", "", "]", "").Replace(want)
		var b strings.Builder
		for _, c := range clauses(text) {
			if c.asks {
				b.WriteString("[" + c.text + "]")
			} else {
				b.WriteString(c.text)
			}
		}
		if got := strings.ReplaceAll(b.String(), "][", ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestClausesLoseNothing checks that the clauses of any text together are that text.
func TestClausesLoseNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"can you ", "I've ", "and ", ", ", "? ", ". ", "\n", "(", "的", "。", "naïve ", "\xff", "1.5", "’s "})).Draw(rt, "text"), "")
		var b strings.Builder
		for _, c := range clauses(text) {
			if c.text == "" {
				rt.Fatal("an empty clause")
			}
			b.WriteString(c.text)
		}
		if b.String() != text {
			rt.Fatalf("%q became %q", text, b.String())
		}
	})
}

func TestAsksNothing(t *testing.T) {
	for text, want := range map[string]bool{
		"My sister Anna lives in Lisbon.": true, "The Wi-Fi is called Seagull42, and the landlord is Mr. Ferreira": true,
		"My car is parked in row K, level 3.": true, "Meine Schwester Anna wohnt in Lissabon.": true, "我妹妹安娜住在里斯本。": true, "我妹妹安娜住在里斯本": true,
		"Where does Anna live": false, "Does Anna live in Lisbon?": false, "And Anna? She lives in Lisbon.": false, "Tell me of Anna and Lisbon.": false,
		"Wo wohnt meine Schwester Anna": false, "安娜住在哪里": false, "请告诉我安娜的生日。": false,
		// A question word that comes late, without a mark.
		"Rex, what breed was he": false, "the flat in Graz, how much was the rent": false, "my dog was called what again": false, "the rent in Graz was how much": false,
		"der Hund hieß nochmal wie": false, "in which city does Anna live": false, "mit wem war ich in Lissabon": false, "remember what my dog was called": false,
		// The same words within a statement.
		"I live where the river ends": true, "Anna told me how she bakes her bread": true, "Gestern habe ich Anna gezeigt wie man Brot backt": true, "That is how much I paid for it.": true,
		"Am Montag habe ich Brot gebacken": true,
		"ryokan Gion":                      false, "数据库": false, "": false, "?!": false, "...": false,
	} {
		if got := AsksNothing(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
