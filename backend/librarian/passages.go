package librarian

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/untrusted"
)

// passage is a piece of a model's input: a message, a part of a very long message, or an earlier summary.
type passage struct {
	role string // "user", "assistant", "summary"
	turn int64
	text string // masked, not yet escaped
}

func (p passage) render() string {
	if p.turn == 0 {
		return fmt.Sprintf("<%s>\n%s\n</%s>\n", p.role, escape(p.text), p.role)
	}
	return fmt.Sprintf("<%s turn=\"%d\">\n%s\n</%s>\n", p.role, p.turn, escape(p.text), p.role)
}

func renderPassages(ps []passage) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.render())
	}
	return b.String()
}

// passagesOf returns the passages of a conversation, without pinned text and without quotations of the recall provider.
func passagesOf(turns []chat.Turn, m mask) []passage {
	var out []passage
	add := func(role string, seq int64, text string) {
		if text = strings.TrimSpace(m.hide(untrusted.Visible(text))); text != "" {
			out = append(out, passage{role: role, turn: seq, text: text})
		}
	}
	for _, t := range turns {
		add("user", t.Seq, withDocuments(t.User))
		switch {
		case t.Assistant == nil:
		case t.Provider == recallProvider:
			add("assistant", t.Seq, "(quoted from memory)")
		default:
			add("assistant", t.Seq, t.Assistant.RenderedText())
		}
	}
	return out
}

// batches groups passages into batches of at most this many tokens each.
func batches(ps []passage, space int, count func(string) int) [][]passage {
	var out [][]passage
	var batch []passage
	used := 0
	for _, p := range ps {
		for _, part := range p.parts(space, count) {
			n := count(part.render()) + 1
			if len(batch) > 0 && used+n > space {
				out, batch, used = append(out, batch), nil, 0
			}
			batch, used = append(batch, part), used+n
		}
	}
	if len(batch) > 0 {
		out = append(out, batch)
	}
	return out
}

// parts splits a passage that is too long, between characters.
func (p passage) parts(space int, count func(string) int) []passage {
	tokens := count(p.render())
	if tokens < space || len(p.text) < 64 {
		return []passage{p}
	}
	n := tokens*5/4/space + 1
	size := max(len(p.text)/n, 16)
	var out []passage
	for rest := p.text; rest != ""; {
		cut := min(size, len(rest))
		for cut < len(rest) && !utf8.RuneStart(rest[cut]) {
			cut++
		}
		part := passage{role: p.role, turn: p.turn, text: rest[:cut]}
		rest = rest[cut:]
		out = append(out, part)
	}
	if len(out) == 1 {
		return out
	}
	var fitting []passage // unevenly dense text may need another cut
	for _, part := range out {
		fitting = append(fitting, part.parts(space, count)...)
	}
	return fitting
}

// mask hides pinned facts: they are never given to a model (SPEC 7).
type mask []*regexp.Regexp

// pinnedMark replaces a pinned fact.
const pinnedMark = "[pinned fact]"

// newMask returns a mask that hides each pinned text, and each sentence of it, whatever its spacing and case.
func newMask(pins []chat.Pin) mask {
	var m mask
	seen := map[string]bool{}
	add := func(text string) {
		words := strings.Fields(strings.TrimRight(strings.ToValidUTF8(text, ""), ".!?,;:… \t\r\n"))
		if len(words) == 0 || seen[strings.Join(words, " ")] {
			return
		}
		seen[strings.Join(words, " ")] = true
		m = append(m, wordsPattern(words))
	}
	for _, p := range pins {
		add(p.Text)
		for line := range strings.Lines(p.Text) {
			for span := range intent.Sentences(line, intent.Span{End: len(line)}) {
				add(line[span.Start:span.End])
			}
		}
	}
	return m
}

// wordsPattern matches the words with any white space between them, but not inside other words.
func wordsPattern(words []string) *regexp.Regexp {
	quoted := lists.Map(words, regexp.QuoteMeta)
	first, _ := utf8.DecodeRuneInString(words[0])
	last, _ := utf8.DecodeLastRuneInString(words[len(words)-1])
	pattern := strings.Join(quoted, `\s+`)
	if first < utf8.RuneSelf && isWordRune(first) {
		pattern = `\b` + pattern
	}
	if last < utf8.RuneSelf && isWordRune(last) {
		pattern += `\b`
	}
	return regexp.MustCompile("(?i)" + pattern)
}

func (m mask) hide(text string) string {
	for _, re := range m {
		text = re.ReplaceAllLiteralString(text, pinnedMark)
	}
	return text
}
