package store

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/store/sqlite"
)

// TestIndexTokenEqualsSQLites compares lexical.IndexToken with the tokenizer of the index, for words with every
// suffix that the stemmer removes, and for random words.
func TestIndexTokenEqualsSQLites(t *testing.T) {
	f := newFixture(t)
	db := f.core.DB.Writer
	f.ok(db.Exec(`CREATE VIRTUAL TABLE temp.said USING fts5 (body, tokenize='porter unicode61')`).Error)
	f.ok(db.Exec(`CREATE VIRTUAL TABLE temp.tokens USING fts5vocab (temp, said, instance)`).Error)
	parts := strings.Fields(`ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti
		biliti ical ness icate iciti ful ative alize al ance ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize at bl iz
		eed ed ing sses ies ss s y e ll l tt w x yy oe ae io u a b c d g k n p r t v z 1 0 22 hop fil agre plaster happ try rate bee controll`)
	words := map[string]bool{strings.Repeat("a", 64) + "s": true, strings.Repeat("b", 62) + "es": true}
	for _, a := range parts {
		for _, b := range parts {
			words[a], words[a+b] = true, true
			for _, c := range []string{"s", "ed", "ing", "ion", "al", "e", "y", "ly"} {
				words["tr"+a+b+c], words[a+b+c] = true, true
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		words[strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 5).Draw(rt, "parts"), "")] = true
		words[rapid.StringMatching(`[a-z0-9]{1,12}`).Draw(rt, "word")] = true
	})
	list := make([]string, 0, len(words))
	for word := range words {
		list = append(list, word)
	}
	f.ok(db.Exec(`INSERT INTO said (rowid, body) VALUES (1, ?)`, strings.Join(list, " ")).Error)
	tokens, err := sqlite.All[string](db, `SELECT term FROM tokens ORDER BY "offset"`)
	f.ok(err)
	if len(tokens) != len(list) {
		t.Fatalf("%d tokens of %d words", len(tokens), len(list))
	}
	for i, word := range list {
		if got, ok := lexical.IndexToken(word); !ok || got != tokens[i] {
			t.Errorf("%q is indexed as %q, not %q", word, tokens[i], got)
		}
	}
	for _, other := range []string{"", "naïve", "a b", "A", "c++", "数据", "1,000"} {
		if got, ok := lexical.IndexToken(other); ok {
			t.Errorf("%q: %q", other, got)
		}
	}
}
