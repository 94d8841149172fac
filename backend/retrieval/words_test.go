package retrieval

import (
	"slices"
	"testing"

	"contextinfinity/backend/internal/lists"
)

// TestSmallNumbersAloneAreNotAMatch: a passage that shares only a number of one or two digits with the question is
// not found, unless the question is only that number.
func TestSmallNumbersAloneAreNotAMatch(t *testing.T) {
	m := newMemory()
	m.add(
		line{seq: 1, text: "The wedding guests had the trout."},
		line{seq: 21, text: "Crate 19 holds candles."},
		line{seq: 41, text: "Invoice 4711 is paid."},
	)
	for question, want := range map[string][]string{
		"What did the 19 guests have?":  {"The wedding guests had the trout."},
		"Which 19 zebras were striped?": nil,
		"19":                            {"Crate 19 holds candles."},
		"Which crate, 19 or 20?":        {"Crate 19 holds candles."},
		"Which zebra has 4711 stripes?": {"Invoice 4711 is paid."},
	} {
		got := lists.Map(find(t, m.engine(), Query{Text: question, Limit: 1}).Hits, func(h Hit) string { return h.Text })
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", question, got, want)
		}
	}
}
