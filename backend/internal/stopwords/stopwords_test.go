package stopwords

import "testing"

func TestHas(t *testing.T) {
	for word, want := range map[string]bool{"the": true, "über": true, "remember": true, "invoice": false, "": false, "The": false} {
		if Has(word) != want {
			t.Errorf("%q: %t", word, !want)
		}
	}
}
