package render

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"contextinfinity/backend/internal/display"
)

// minLevel is the level of the highest headings inside a message.
const minLevel = 4

// maxParsed is how much Markdown is parsed at once, in bytes: for some texts the parser takes quadratic time.
const maxParsed = 64 << 10

var (
	fullParser = goldmark.DefaultParser()
	// blockParser parses block structure only; inline content does not matter here, except for HTML.
	blockParser = parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
)

func parse(src []byte) ast.Node {
	if bytes.IndexByte(src, '<') >= 0 {
		return fullParser.Parse(text.NewReader(src))
	}
	return blockParser.Parse(text.NewReader(src))
}

// isolate makes a message's Markdown safe to be combined with others. If nothing has to be changed, it stays byte for
// byte the same, except for line ends. Otherwise its headings are moved below the document's, a "<" that would begin
// HTML is escaped, and an open fence is closed. The result is parsed again. If it still affects the text after it, or
// the message is too large or too deep to be parsed, the message is put into a fence unchanged.
//
// Quoting each message would need no parser, but would change every line of every answer, in particular of code that
// people copy.
func isolate(s string) string {
	s = lineEnds.Replace(s)
	if !mayAffectRest(s) {
		return s
	}
	if len(s) > maxParsed || isDeep(s) {
		return fenced("markdown", s)
	}
	changed := edited(s)
	for _, end := range []string{"", "\n```", "\n~~~", "\n````", "\n~~~~", "\n`````"} {
		if out := strings.TrimRight(changed, "\n") + end; isContained(out) {
			return out
		}
	}
	return fenced("markdown", s)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// mayAffectRest reports whether a text has a line that may begin a heading, a fence or HTML.
func mayAffectRest(s string) bool {
	if strings.IndexByte(s, '<') >= 0 {
		return true
	}
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n")
		rest := strings.TrimLeft(line, " ")
		if rest == "" || len(line)-len(rest) > 3 {
			continue
		}
		switch rest[0] {
		case '#':
			return true
		case '`', '~':
			if strings.HasPrefix(rest, "```") || strings.HasPrefix(rest, "~~~") {
				return true
			}
		case '=', '-':
			if strings.Trim(rest, rest[:1]) == "" {
				return true
			}
		}
	}
	return false
}

// edit replaces the bytes from start to end.
type edit struct {
	start, end  int
	replacement string
}

// edited moves the headings of s and escapes its HTML.
func edited(s string) string {
	src := []byte(s)
	doc := parse(src)
	shift := headingShift(doc)
	var edits []edit
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Parent() == doc && n.Lines().Len() > 0 {
				edits = append(edits, headingEdits(s, n, shift)...)
			}
		case *ast.HTMLBlock:
			edits = append(edits, literal(s, n.Lines(), true)...)
			if n.HasClosure() {
				edits = append(edits, literalSegment(s, n.ClosureLine, true)...)
			}
		case *ast.RawHTML:
			edits = append(edits, literal(s, n.Segments, false)...)
		}
		return ast.WalkContinue, nil
	})
	return apply(s, edits)
}

// headingShift is the number of levels by which headings move down, so that the highest gets minLevel.
func headingShift(doc ast.Node) int {
	highest := minLevel
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			highest = min(highest, h.Level)
		}
	}
	return minLevel - highest
}

// headingEdits move a heading to a lower level. An underlined one is rewritten on a single line.
func headingEdits(s string, h *ast.Heading, shift int) []edit {
	level := min(6, h.Level+shift)
	first, last := h.Lines().At(0), h.Lines().At(h.Lines().Len()-1)
	start := strings.LastIndexByte(s[:first.Start], '\n') + 1
	lead := strings.TrimLeft(s[start:first.Start], " ")
	if strings.HasPrefix(lead, "#") {
		return []edit{{start, first.Start, strings.Repeat("#", level) + " "}}
	}
	end := last.Stop
	if end > 0 && s[end-1] == '\n' {
		end-- // the underline is the line after the last
	}
	if i := strings.IndexByte(s[end:], '\n'); i >= 0 {
		end += i + 1
	}
	if i := strings.IndexByte(s[end:], '\n'); i >= 0 {
		end += i
	} else {
		end = len(s)
	}
	words := strings.Join(strings.Fields(string(h.Lines().Value([]byte(s)))), " ")
	return []edit{{start, end, strings.Repeat("#", level) + " " + words}}
}

func literal(s string, lines *text.Segments, every bool) []edit {
	var out []edit
	for i := range lines.Len() {
		out = append(out, literalSegment(s, lines.At(i), every)...)
	}
	return out
}

// literalSegment escapes the first "<" of a segment, or every one.
func literalSegment(s string, seg text.Segment, every bool) []edit {
	var out []edit
	for i := seg.Start; i < seg.Stop; i++ {
		if s[i] == '<' {
			out = append(out, edit{i, i, `\`})
			if !every {
				break
			}
		}
	}
	return out
}

// apply applies edits; of two that overlap, the first wins.
func apply(s string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out strings.Builder
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue
		}
		out.WriteString(s[at:e.start])
		out.WriteString(e.replacement)
		at = e.end
	}
	out.WriteString(s[at:])
	return out.String()
}

// sentinel is a heading appended to a message to test it.
const sentinel = "# 9b1c7e"

// isContained reports whether a message does not affect the text after it: that text is parsed normally, no heading of
// the message is above minLevel, and it has no HTML.
func isContained(s string) bool {
	src := []byte(s + "\n\n" + sentinel + "\n")
	doc := parse(src)
	last, ok := doc.LastChild().(*ast.Heading)
	if !ok || last.Level != 1 || last.Lines().Len() != 1 || last.Lines().At(0).Start < len(s) {
		return false
	}
	isolated := true
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML:
			isolated = false
		case *ast.Heading:
			if n.Parent() == doc && n != last && n.Level < minLevel {
				isolated = false
			}
		}
		if !isolated {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return isolated
}

// escaped is a text with all Markdown escaped, on one line.
func escaped(s string) string {
	var out strings.Builder
	for _, r := range display.OneLine(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|&~$", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// escapedLines returns the non-empty lines of a text, escaped.
func escapedLines(s string) []string {
	var out []string
	for line := range strings.Lines(lineEnds.Replace(s)) {
		e := escaped(line)
		if e != "" && strings.IndexByte("-+=", e[0]) >= 0 {
			e = `\` + e // would begin a list or an underline
		}
		if e != "" {
			out = append(out, e)
		}
	}
	return out
}
