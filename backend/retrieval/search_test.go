package retrieval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func TestTerms(t *testing.T) {
	tests := map[string][]string{
		"What did we say about the Invoice numbers?": {"invoice", "numbers"},
		"Wo ist die Rechnung 4711?":                  {"rechnung", "4711"},
		"数据库迁移":                                      {"数据", "据库", "库迁", "迁移"},
		"":                                           nil,
		"\"; DROP TABLE --":                          {"drop", "table"},
		"the of and":                                 {"the", "of", "and"},
	}
	for query, want := range tests {
		if got := Terms(query); !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %q, want %q", query, got, want)
		}
	}
}

func TestRarest(t *testing.T) {
	got := Rarest([]string{"common", "absent", "rare", "middle"}, map[string]int{"common": 9, "rare": 1, "middle": 5}, 2)
	if want := []string{"rare", "middle"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// index knows how often words occur and records what it is asked.
type index struct {
	freq  map[string]int
	err   error
	asked chat.TextQuery
	words int
}

func (x *index) TermFrequencies(_ context.Context, terms []string) (map[string]int, error) {
	x.words = len(terms)
	return x.freq, x.err
}

func (x *index) SearchText(_ context.Context, q chat.TextQuery) ([]chat.TextHit, error) {
	x.asked = q
	return []chat.TextHit{{Text: "hit"}}, nil
}

func TestEverywhere(t *testing.T) {
	x := &index{freq: map[string]int{"invoice": 3, "numbers": 1}}
	hits, err := Everywhere(t.Context(), x, "branch", "about Invoice numbers", 5)
	if err != nil || len(hits) != 1 || !x.asked.OtherSessions || x.asked.Branch != "branch" || x.asked.Limit != 5 {
		t.Fatalf("%v %v %+v", hits, err, x.asked)
	}
	if hits, err := Everywhere(t.Context(), x, "branch", "absent words", 5); err != nil || hits != nil {
		t.Fatalf("words that occur nowhere gave %v, %v", hits, err)
	}
	x.err = errors.New("no index")
	if _, err := Everywhere(t.Context(), x, "branch", "Invoice", 5); err == nil {
		t.Fatal("the index's error was swallowed")
	}
}

func TestQueriesAreBounded(t *testing.T) {
	x := &index{}
	var sb strings.Builder
	for i := range 5000 {
		sb.WriteString(strings.Repeat(string(rune('a'+i%26)), i/26+2) + " ")
	}
	if _, err := Everywhere(t.Context(), x, "", sb.String(), 5); err != nil || x.words > maxWords {
		t.Fatalf("%d words, %v", x.words, err)
	}
}
