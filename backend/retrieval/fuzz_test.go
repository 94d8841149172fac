package retrieval

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTerms: the terms of any question are distinct, lower case and not empty, and all occur in it.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"What did the ryokan cost?", "我爱猫 GPT模型", "the of", "\xff\xfe x", "İstanbul ǅ ß", "a\u0301b", strings.Repeat("é", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		terms := Terms(s)
		seen := map[string]bool{}
		for _, term := range terms {
			if term == "" || seen[term] || !utf8.ValidString(term) || strings.ContainsAny(term, " \n\x00\"") {
				t.Fatalf("%q has the term %q", s, term)
			}
			seen[term] = true
		}
		if again := Terms(s); !slices.Equal(again, terms) {
			t.Fatalf("%q: %q and %q", s, terms, again)
		}
		if head := Ends(s); len(head) > len(s) || len(head) > questionHead+questionTail+1 {
			t.Fatalf("%d bytes of %d", len(head), len(s))
		}
	})
}
