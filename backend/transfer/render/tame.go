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

// lowest is the level of the highest headings inside a message.
const lowest = 4

// maxParsed is how much Markdown is parsed at once, in bytes: for some texts the parser takes quadratic time.
const maxParsed = 64 << 10

var (
	whole = goldmark.DefaultParser()
	// blocks parses block structure only; inline content does not matter here, except for HTML.
	blocks = parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
)

func parse(src []byte) ast.Node {
	if bytes.IndexByte(src, '<') >= 0 {
		return whole.Parse(text.NewReader(src))
	}
	return blocks.Parse(text.NewReader(src))
}

// tame makes a message's Markdown safe to be combined with others. If nothing has to be changed, it stays byte for
// byte the same, except for line ends. Otherwise its headings are moved below the document's, a "<" that would begin
// HTML is escaped, and an open fence is closed. The result is parsed again; if it still affects what follows, or is
// too large or too deep to be parsed, it is put into a fence unchanged.
//
// Quoting each message would need no parser, but would change every line of every answer, in particular of code that
// people copy.
func tame(s string) string {
	s = lineEnds.Replace(s)
	if !reaches(s) {
		return s
	}
	if len(s) > maxParsed || deep(s) {
		return fenced("markdown", s)
	}
	once := edited(s)
	for _, end := range []string{"", "\n```", "\n~~~", "\n````", "\n~~~~", "\n`````"} {
		if out := strings.TrimRight(once, "\n") + end; contained(out) {
			return out
		}
	}
	return fenced("markdown", s)
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// reaches reports that a text has a line that may begin a heading, a fence or HTML.
func reaches(s string) bool {
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
	start, end int
	with       string
}

// edited moves the headings of s and neutralises its HTML.
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

// headingShift is by how many levels headings move down, so that the highest gets the level lowest.
func headingShift(doc ast.Node) int {
	highest := lowest
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			highest = min(highest, h.Level)
		}
	}
	return lowest - highest
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
		out.WriteString(e.with)
		at = e.end
	}
	out.WriteString(s[at:])
	return out.String()
}

// after is a heading appended to a message to test it.
const after = "# 9b1c7e"

// contained reports that a message does not affect what follows: the text after it is parsed normally, no heading is
// above lowest, and it has no HTML.
func contained(s string) bool {
	src := []byte(s + "\n\n" + after + "\n")
	doc := parse(src)
	last, ok := doc.LastChild().(*ast.Heading)
	if !ok || last.Level != 1 || last.Lines().Len() != 1 || last.Lines().At(0).Start < len(s) {
		return false
	}
	sound := true
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock, *ast.RawHTML:
			sound = false
		case *ast.Heading:
			if n.Parent() == doc && n != last && n.Level < lowest {
				sound = false
			}
		}
		if !sound {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return sound
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

// escapedLines are the non-empty lines of a text.
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
