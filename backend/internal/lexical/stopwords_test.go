package lexical

import "testing"

func TestStopWords(t *testing.T) {
	for word, want := range map[string]bool{"the": true, "über": true, "remember": true, "invoice": false, "": false, "The": false} {
		if IsStopWord(word) != want {
			t.Errorf("%q: %t", word, !want)
		}
	}
}
