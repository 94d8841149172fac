package render_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/transfer/render"
)

// renderAnswer returns the page of one answer, and its text as a browser reads it.
func renderAnswer(t *testing.T, answer string) (page, text string) {
	t.Helper()
	page = renderText(t, render.HTML, conversation(exchange(1, "?", answer)))
	faults, text := inspect(t, page)
	if len(faults) > 0 {
		t.Errorf("for %q the page has the faults %q", answer, faults)
	}
	return page, text
}

// TestFormulasAreUnchanged: formulas are unchanged, whatever Markdown syntax they contain. Amounts of money are not
// formulas, and code stays code.
func TestFormulasAreUnchanged(t *testing.T) {
	for _, answer := range []string{
		`With $a_1 * b_2 * c_1$ it holds.`, `So \(x_i < y_i\) and \[ \sum_{i=1}^n x_i \] follow.`, "$$\n- a_1\n+ b_1 \\\\\n= c_1\n$$", `($\{x\}$, $\alpha\_b$).`,
		"| a | b |\n|---|---|\n| $|x|$ | $y_1 _z_$ |", `# On $x_1 _y_$`, `**bold $a_b_c$**`, "- $p_1$ and $p_2$\n- $$q_*r_*$$",
	} {
		page, text := renderAnswer(t, answer)
		for _, word := range []string{`$a_1 * b_2 * c_1$`, `\(x_i < y_i\)`, `\[ \sum_{i=1}^n x_i \]`, "$$\n- a_1\n+ b_1 \\\\\n= c_1\n$$", `$\{x\}$`, `$\alpha\_b$`, `$|x|$`, `$y_1 _z_$`, `$x_1 _y_$`, `$a_b_c$`, `$p_1$`, `$p_2$`, `$$q_*r_*$$`} {
			if strings.Contains(answer, word) && !strings.Contains(text, word) {
				t.Errorf("%q is rendered as %q, without %q", answer, page, word)
			}
		}
	}
	for answer, want := range map[string]string{
		"It costs $5, or $6 for _two_.": "<em>two</em>", "From $5 to $10 *each* and $20": "<em>each</em>", "A price of US$5 and *more* than a$": "<em>more</em>",
		"`$a_1$` and ``b ` $c_1$``": "<code>$a_1$</code>", "```\n$a_1$\n```": "<code>$a_1$\n</code>", `\$a *b* c\$`: "<em>b</em>", "a \uE0F00\uE0F1 and $x_1$": "\uE0F00\uE0F1",
		"[here](https://example.com/?a=$b&c=$d)": `href="https://example.com/?a=$b&amp;c=$d"`, `![$x$ <i>](data:image/png;base64,AAAA "t")`: "alt=",
	} {
		if page, _ := renderAnswer(t, answer); !strings.Contains(page, want) {
			t.Errorf("%q is rendered without %q: %s", answer, want, page)
		}
	}
	for _, lines := range []string{"", "\n", "\n\n"} {
		if _, text := renderAnswer(t, strings.Repeat("$a $b \\( ` "+lines, 800)); strings.Count(text, "$a $b") != 800 {
			t.Error("a part of a text of formula marks is lost")
		}
	}
}

// TestAnAnswerOfJSON: an answer that is JSON keeps its line breaks.
func TestAnAnswerOfJSON(t *testing.T) {
	const answer = "{\n  \"a_b_c\": [1,\n    2],\n  \"*\": \"*\"\n}"
	page, text := renderAnswer(t, "\n"+answer+"\n")
	if !strings.Contains(text, answer) || !strings.Contains(page, `aria-label="Code, json"`) {
		t.Errorf("drawn as %s", page)
	}
	if page, _ := renderAnswer(t, "{not *JSON*}"); !strings.Contains(page, "<em>JSON</em>") {
		t.Errorf("drawn as %s", page)
	}
}
