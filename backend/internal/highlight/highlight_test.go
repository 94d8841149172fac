package highlight

import (
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/internal/lists"
)

func marked(text string, spans []Span) []string {
	return lists.Map(spans, func(s Span) string { return text[s.Start:s.End] })
}

func TestFinder(t *testing.T) {
	for _, tt := range []struct {
		needle, text string
		matchCase    bool
		want         []string
	}{
		{"sail", "Sail SAIL sails", false, []string{"Sail", "SAIL", "sail"}},
		{"Sail", "Sail SAIL sails", true, []string{"Sail"}},
		{"größe", "GRÖSSE Größe GRÖẞE", false, []string{"Größe", "GRÖẞE"}},
		{"kelvin", "\u212aelvin", false, []string{"\u212aelvin"}},
		{"aa", "aaaaa", false, []string{"aa", "aa"}},
		{"据", "数据库", false, []string{"据"}},
		{"café", "CAFÉ cafe", false, []string{"CAFÉ", "cafe"}},
		{"café", "CAFÉ café cafe", true, []string{"café"}},
		{"", "anything", false, nil},
		{"\xff", "a\xffb", false, nil},
	} {
		spans, n := NewFinder(tt.needle, tt.matchCase).Spans(tt.text, 10)
		if tt.needle == "\xff" {
			continue // any result is right for invalid text; it must only end
		}
		if got := marked(tt.text, spans); !slices.Equal(got, tt.want) || n != len(tt.want) {
			t.Errorf("%q in %q: %q (%d), want %q", tt.needle, tt.text, got, n, tt.want)
		}
	}
	if spans, n := NewFinder("a", false).Spans("a a a", 2); len(spans) != 2 || n != 3 {
		t.Errorf("%v of %d", spans, n)
	}
}

func TestInJSON(t *testing.T) {
	raw := `{"text":"one\ntwo \"three\" größe"}`
	for needle, want := range map[string]bool{"GRÖßE": true, "four": false, "one\ntwo": true, `"three"`: true} {
		if got := NewFinder(needle, false).InJSON(raw); got != want {
			t.Errorf("%q: %v", needle, got)
		}
	}
}

// A word that is written as two is found as a whole, a number in groups from eight digits on, and a long run of capitals
// costs no more than its length.
func TestWordsApart(t *testing.T) {
	text := "Mr O’Neill, +49 (0)30 123456-78, in tests of 1.2.3.5 with parseHTMLDocument."
	for query, want := range map[string]string{
		"oneill ": "O’Neill", "4930123456 ": "49 (0)30 123456", "document ": "Document", "html ": "HTML",
		"inte": "", "1235 ": "", strings.Repeat("x", 2_000_000): "",
	} {
		spans, _, _ := All(text, Parse(query))
		if got := strings.Join(marked(text, spans), "|"); got != want {
			t.Errorf("%.20q marks %q, want %q", query, got, want)
		}
	}
	if spans, _, _ := All(strings.Repeat("ABCDEF0123456789", 20_000), Parse("abc ")); len(spans) > 0 {
		t.Errorf("%v", spans)
	}
}

func TestParseAndSpans(t *testing.T) {
	text := "Running late, the runner ran to the café; databases and data: 我爱数据库. A stream of steam."
	for _, tt := range []struct {
		query string
		want  []string
		all   bool
	}{
		{"run ", []string{"Running", "runner"}, true},
		{"running ", []string{"Running", "runner"}, true},
		{"runn", []string{"Running", "runner"}, true},
		{"runni", []string{"Running"}, true},
		{"cafe", []string{"café"}, true},
		{"CAFÉ ", []string{"café"}, true},
		{"data ", []string{"data"}, true},
		{"dat", []string{"dat", "dat"}, true},
		{"steam ", []string{"steam"}, true},
		{`"the runner"`, []string{"the runner"}, true},
		{`"runner the"`, nil, false},
		{"数据 ", []string{"数据"}, true},
		{"late nowhere ", []string{"late"}, false},
		{`" ' ) *`, nil, true},
	} {
		spans, _, all := All(text, Parse(tt.query))
		got := marked(text, spans)
		for i, g := range got {
			if strings.HasPrefix(g, "Runn") || strings.HasPrefix(g, "runn") { // of a word that is being typed, the beginning is marked
				got[i] = map[bool]string{true: "Running", false: "runner"}[g[0] == 'R']
			}
		}
		if !slices.Equal(got, tt.want) || all != tt.all {
			t.Errorf("%q: %q %v, want %q %v", tt.query, got, all, tt.want, tt.all)
		}
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("before ", 40) + "the\nFIND here" + strings.Repeat(" after", 80) + " FIND"
	spans, _ := NewFinder("find", false).Spans(long, 10)
	got, in := Snippet(long, spans)
	if !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") || strings.Contains(got, "\n") || len(in) != 1 || got[in[0].Start:in[0].End] != "FIND" {
		t.Errorf("%q %v", got, in)
	}
	if short, in := Snippet("all of it", nil); short != "all of it" || len(in) != 0 {
		t.Errorf("%q %v", short, in)
	}
	wide := strings.Repeat("界", 100) + "find"
	spans, _ = NewFinder("find", false).Spans(wide, 10)
	if got, in := Snippet(wide, spans); len(in) != 1 || got[in[0].Start:in[0].End] != "find" || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%q %v", got, in)
	}
	whole := strings.Repeat("界", 1000)
	spans, _ = NewFinder(whole, false).Spans(whole, 1)
	if got, in := Snippet(whole, spans); len(in) != 1 || in[0].End > len(got) || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%d bytes, %v", len(got), in)
	}
}

func TestUTF16(t *testing.T) {
	text := "🦢 größe 我"
	spans, _ := NewFinder("我", false).Spans(text, 1)
	if got := UTF16(text, spans); got[0] != (Span{9, 10}) {
		t.Errorf("%v", got)
	}
}
