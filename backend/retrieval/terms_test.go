package retrieval

import (
	"slices"
	"testing"
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
