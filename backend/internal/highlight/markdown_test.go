package highlight

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUnmarked(t *testing.T) {
	for in, want := range map[string]string{
		"":                                            "",
		"**Bold** and *leaning* words":                "Bold and leaning words",
		"## A heading\ntext":                          "A heading\ntext",
		"a # b, #3 and C#":                            "a # b, #3 and C#",
		"> quoted\n> > twice":                         "quoted\ntwice",
		"use `a**b**c` here":                          "use a**b**c here",
		"``a`b`` stays":                               "``a`b`` stays",
		"2*3*4 and 2**3 and a ** b":                   "2*3*4 and 2**3 and a ** b",
		"snake_case and __init__":                     "snake_case and __init__",
		"see [the page](https://x.y/z_(w)) now":       "see the page now",
		"![a plan](data:image/png;base64,AA) and [x]": "a plan and [x]",
		"**see [it](u)**":                             "see it",
		"before\n```go\na := **p\n# no heading\n```\n**after**":                             "before\na := **p\n# no heading\nafter",
		"| a | b |\n|---|:-:|\n| 1 | 2 |":                                                   "a | b\n\n1 | 2",
		"## F\n\n| Step | Rows |\n|---|---|\n| **A** | 1 |\n| B | 2 |\n\nThe `o` is **x**.": "F\n\nStep | Rows\n\nA | 1\nB | 2\n\nThe o is x.",
		"~~gone~~ ~/home ~5":  "gone ~/home ~5",
		"```\n**x**\n```":     "**x**\n",
		"- one\n- two":        "- one\n- two",
		"**نص** و **שלום** 🙂": "نص و שלום 🙂",
	} {
		if got, _ := UnmarkedAt(in, 0); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestUnmarkedAt(t *testing.T) {
	for _, c := range []struct {
		text string
		find string
		want string
	}{
		{"**Bold** and *leaning* words", "*leaning", "leaning words"},
		{"## Plan\n\nUse `pg_dump` **now**", "**now", "now"},
		{"plain words", "words", "words"},
		{"**Bold** start", "**Bold", "Bold start"},
	} {
		got, at := UnmarkedAt(c.text, strings.Index(c.text, c.find))
		if got[at:] != c.want {
			t.Errorf("%q at %q: %q", c.text, c.find, got[at:])
		}
	}
	for _, at := range []int{-5, 99} {
		if got, moved := UnmarkedAt("**né**", at); got != "né" || moved < 0 || moved > len(got) {
			t.Errorf("at %d: %q, %d", at, got, moved)
		}
	}
}

func TestMarkdownSnippet(t *testing.T) {
	for _, c := range []struct{ text, find, want string }{
		{"## Plan\n\nWe **write twice** to `orders`.", "twice", "Plan  We write [twice] to orders."},
		{"We **write twice** now", "**write", "We [**write] twice now"},
		{"see [the orders page](https://example.org/orders) first", "first", "…the orders page [first]"},
		{"**" + strings.Repeat("word ", 60) + "end**", "end", ""},
		{"```\n" + strings.Repeat("**x** ", 900) + "goal\n```\n", "goal", ""},
	} {
		at := strings.Index(c.text, c.find)
		got, spans := MarkdownSnippet(c.text, []Span{{at, at + len(c.find)}})
		if len(spans) != 1 || got[spans[0].Start:spans[0].End] != c.find {
			t.Errorf("%.40q: %v marks in %q", c.text, spans, got)
			continue
		}
		shown := got[:spans[0].Start] + "[" + c.find + "]" + got[spans[0].End:]
		if c.want != "" && shown != c.want {
			t.Errorf("%.40q: %q, want %q", c.text, shown, c.want)
		}
		if strings.HasPrefix(c.text, "```") != strings.Contains(got, "**x**") {
			t.Errorf("code is shown as %q", got)
		}
	}
}

// A space separates an ellipsis from a full stop, also if there was markup between them.
func TestMarkdownSnippetDoesNotEndInFourDots(t *testing.T) {
	text := "**find " + strings.Repeat("word ", 37) + "ends.** And more follows."
	if got, _ := MarkdownSnippet(text, []Span{{2, 6}}); !strings.HasSuffix(strings.Join(strings.Fields(got), " "), "word ends. …") {
		t.Errorf("%q", got)
	}
}

func FuzzMarkdownSnippet(f *testing.F) {
	f.Add("**a** `b` [c](d)", 2, 3)
	f.Add("```\n**a**\n```\n> é", 4, 9)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		if !utf8.ValidString(text) || from < 0 || to <= from || to > len(text) || !utf8.RuneStart(text[from]) || to < len(text) && !utf8.RuneStart(text[to]) {
			return
		}
		got, spans := MarkdownSnippet(text, []Span{{from, to}})
		if len(spans) != 1 || spans[0].Start < 0 || spans[0].End > len(got) || !utf8.ValidString(got) {
			t.Fatalf("%v in %q", spans, got)
		}
		if shown := got[spans[0].Start:spans[0].End]; !strings.HasPrefix(blankControls(text[from:to]), shown) {
			t.Fatalf("%q is marked for %q", shown, text[from:to])
		}
	})
}
