package render

import (
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
)

// Formulas are TeX, whose marks are also those of Markdown: rendered as Markdown, a_1 and b_1 would lose their
// underscores and \[ its backslash. A page without scripts shows their source. The same applies to an answer that is
// only JSON.

const (
	// The placeholder of a formula in the Markdown is its number between these two private-use characters.
	formulaOpen, formulaClose = '\uE0F0', '\uE0F1'
	// longestFormula limits how far the end of a formula is searched for, in bytes.
	longestFormula = 4_000
	// maxFruitless limits fruitless searching, in bytes per piece: beyond it the rest of the text is left unchanged.
	maxFruitless = 1 << 20
)

// formula finds code, which is skipped, and formulas: $…$, $$…$$, \(…\) and \[…\]. A match contains no empty line,
// and the first kind no line break.
var formula = regexp.MustCompile("(?s)^(?:" +
	"(?P<code>``(?:[^`]|`[^`])+?``|`[^`\n]+`)|" +
	`(\$\$[^$]+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|` +
	`\$(?:[^\s$\\]|\\[^\n])(?:(?:[^$\n\\]|\\[^\n])*?(?:[^\s$\\]|\\[^\n\s]))?\$))`)

// withoutFormulas replaces formulas by placeholders. A text that contains the placeholder characters is left
// unchanged.
func withoutFormulas(s string) (string, []string) {
	if !strings.ContainsAny(s, `$\`) || strings.ContainsRune(s, formulaOpen) {
		return s, nil
	}
	var out strings.Builder
	var found []string
	fence, lineStart, budget := "", true, maxFruitless
	for i := 0; i < len(s); {
		if lineStart {
			line := s[i : i+lineLength(s[i:])]
			trimmed := strings.TrimSpace(line)
			wasInside := fence
			switch {
			case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
				fence = ""
			case fence == "" && (strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~")):
				fence = trimmed[:longestPrefix(trimmed)]
			}
			if wasInside != "" || fence != "" {
				out.WriteString(line)
				i += len(line)
				continue
			}
		}
		lineStart = s[i] == '\n'
		if c := s[i]; (c == '$' || c == '\\' || c == '`') && budget > 0 {
			n, code, searched := formulaAt(s, i)
			if n > 0 {
				if code {
					out.WriteString(s[i : i+n])
				} else {
					out.WriteString(string(formulaOpen) + strconv.Itoa(len(found)) + string(formulaClose))
					found = append(found, s[i:i+n])
				}
				i += n
				continue
			}
			budget -= searched
			if c == '\\' && i+1 < len(s) && s[i+1] != '\n' { // the next character is escaped
				out.WriteString(s[i : i+2])
				i += 2
				continue
			}
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String(), found
}

// formulaAt is the length of the code or formula at i; 0: none. searched is the number of bytes that were searched for
// its end.
func formulaAt(s string, i int) (n int, code bool, searched int) {
	near := s[i:min(len(s), i+longestFormula)]
	if end := strings.Index(near, "\n\n"); end >= 0 {
		near = near[:end]
	}
	if line := lineLength(near); s[i] == '$' && !strings.HasPrefix(near, "$$") {
		near = near[:line]
	}
	m := formula.FindStringSubmatchIndex(near)
	if m == nil {
		return 0, false, len(near)
	}
	n, code = m[1], m[2] >= 0
	if !code && s[i] == '$' && !strings.HasPrefix(s[i:], "$$") { // amounts of money have digits after the sign, or letters before it
		after, before := "", ""
		if i+n < len(s) {
			after = s[i+n : i+n+1]
		}
		if i > 0 {
			before = s[i-1 : i]
		}
		if isWordByte(after) || isWordByte(before) {
			return 0, false, len(near)
		}
	}
	return n, code, n
}

func isWordByte(s string) bool {
	return s != "" && (s[0] >= '0' && s[0] <= '9' || s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] == '=' || s[0] >= 0x80)
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

var formulaMark = regexp.MustCompile(string(formulaOpen) + `(\d+)` + string(formulaClose))

// withFormulas puts formulas back into the rendered text.
func withFormulas(rendered []byte, found []string) []byte {
	if len(found) == 0 {
		return rendered
	}
	return formulaMark.ReplaceAllFunc(rendered, func(mark []byte) []byte {
		n, err := strconv.Atoi(string(formulaMark.FindSubmatch(mark)[1]))
		if err != nil || n >= len(found) {
			return mark
		}
		return []byte("<code class=math>" + html.EscapeString(found[n]) + "</code>") // no quotes: it may be inside an attribute
	})
}

// isJSON reports whether a text is just a JSON object or array.
func isJSON(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) > 2 && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s))
}
