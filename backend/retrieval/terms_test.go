package retrieval

import (
	"fmt"
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
		"サーバーの再起動":                                   {"サー", "ーバ", "バー", "ーの", "の再", "再起", "起動"},
		"ｻｰﾊﾞｰ v2":                                   {"サー", "ーバ", "バー", "v2"},
		"ข้อมูล":                                     {"ข้อ", "อมู", "มูล"},
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

// Only the beginning and end of a pasted file are used as a question, and all of its terms are collected in one pass;
// comparing a million distinct terms in pairs would take an hour.
func TestTermsOfALongText(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, "Word%d ", i)
	}
	if got := Terms(b.String()); len(got) != 200_000 || got[0] != "word0" || got[199_999] != "word199999" {
		t.Errorf("%d terms", len(got))
	}
	for in, want := range map[string]string{
		"short":                   "short",
		strings.Repeat("漢", 4000): strings.Repeat("漢", 2000) + "\n" + strings.Repeat("漢", 666),
		strings.Repeat("a", 8000): strings.Repeat("a", 8000),
	} {
		if got := Ends(in); got != want {
			t.Errorf("of %d bytes, %d are kept, not %d", len(in), len(got), len(want))
		}
	}
}

// Because both counts are approximate, a term may seem to occur in more units than there are; its rarity must still
// be comparable.
func TestRarityIsANumber(t *testing.T) {
	if r := rarity(10, 12); !(r < rarity(10, 9)) {
		t.Errorf("rarity %v", r)
	}
}

// TestAnOverviewIsAboutItsSubject: words about the form of the answer count less than words about its subject; in
// other questions they count fully.
func TestAnOverviewIsAboutItsSubject(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "I put a different list of topics into another order."})
	m.add(line{seq: 44, text: "I painted the harbour wall yesterday evening."})
	for text, first := range map[string]string{
		"Can you list the order in which I brought up different topics, painting the harbour wall?": "harbour",
		"Which different list of topics did I put into another order, harbour or wall?":             "topics",
	} {
		res := find(t, m.engine(), Query{Text: text, Within: chat.Within{Branch: "b"}, MaxTokens: 30})
		if len(res.Artifacts) == 0 || !strings.Contains(res.Artifacts[0].Text, first) {
			t.Errorf("%q: %+v", text, res.Artifacts)
		}
	}
}
