package chunking

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"contextinfinity/backend/internal/display"
)

// The Markdown parser takes quadratic time, and stack proportional to nesting. It parses regions of at most
// regionBytes if blank lines allow, and of twice that at most. A region that nests deeper than maxNesting is treated as
// plain text.
const (
	regionBytes = 64 << 10
	maxNesting  = 24
)

// blocks parses the block structure of Markdown but nothing inside paragraphs, which chunks do not depend on. Tables
// are recognized by their second line, because the extension creates a node for every cell, including those that a
// row omits.
var blocks = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// block is a leaf of the structure: it begins with the line that contains start, and ends where the next one begins.
type block struct {
	start  int
	border border
	kind   kind
	level  int // of a heading
}

// markdown adds a Markdown text.
func (c *cutter) markdown() {
	var titles titles
	for _, r := range regions(c.text) {
		switch {
		case r.code:
			c.code(r.start, r.end, borderPart)
		case isDeep(c.text[r.start:r.end]):
			c.plain(r.start, r.end, borderBlock)
		default:
			c.region(r, &titles)
		}
	}
	c.setPath("")
}

func (c *cutter) region(r region, titles *titles) {
	found := structure(c.text[r.start:r.end])
	if len(found) == 0 {
		c.plain(r.start, r.end, borderBlock)
		return
	}
	found[0].start = 0
	for i, b := range found {
		start, end := r.start+b.start, r.end
		if i+1 < len(found) {
			end = r.start + found[i+1].start
		}
		switch b.kind {
		case heading:
			c.setPath(titles.joinAbove(b.level))
			c.words(start, end, b.border, heading)
			titles.set(b.level, titleOf(c.text[start:end]))
			c.setPath(titles.joinAbove(len(titles) + 1))
		case rule:
			c.words(start, end, b.border, rule)
		case code:
			c.code(start, end, b.border)
		default:
			c.paragraph(start, end, b.border)
		}
	}
}

// paragraph adds a paragraph, which may be a table or end in one.
func (c *cutter) paragraph(start, end int, b border) {
	at := tableIn(c.text[start:end])
	if at < 0 {
		c.prose(start, end, b)
		return
	}
	c.prose(start, start+at, b)
	if at > 0 {
		b = borderBlock
	}
	c.prose(start+at, end, b)
}

// tableIn is the beginning of a table: a line with cells above the line of dashes. Negative: there is none.
func tableIn(s string) int {
	before, at := -1, 0
	for line := range strings.Lines(s) {
		if before >= 0 && strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "|-: \t\r\n>") == "" {
			return before
		}
		before = -1
		if strings.Contains(line, "|") {
			before = at
		}
		at += len(line)
	}
	return -1
}

// structure is the blocks of a region, in order of their beginnings. If the parser fails, only the structure of the
// region is lost.
func structure(source string) (found []block) {
	defer func() {
		if recover() != nil {
			found = nil
		}
	}()
	root := blocks.Parse(text.NewReader([]byte(source)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock {
			return ast.WalkContinue, nil
		}
		b, ok := leafBlock(n)
		if !ok || n.Pos() < 0 || n.Pos() >= len(source) {
			return ast.WalkContinue, nil
		}
		b.start = strings.LastIndexByte(source[:n.Pos()], '\n') + 1
		if len(found) == 0 || b.start > found[len(found)-1].start {
			found = append(found, b)
		}
		return ast.WalkContinue, nil
	})
	return found
}

// leafBlock is the block that begins at a node without child blocks.
func leafBlock(n ast.Node) (block, bool) {
	b := block{border: borderBlock}
	switch n := n.(type) {
	case *ast.Heading:
		return block{border: borderTopic, kind: heading, level: n.Level}, true
	case *ast.ThematicBreak:
		b.border, b.kind = borderTopic, rule
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		b.border, b.kind = borderPart, code
	case *ast.Paragraph, *ast.TextBlock, *ast.HTMLBlock:
	default:
		return b, false
	}
	if item := n.Parent(); item.Kind() == ast.KindListItem {
		if n.PreviousSibling() != nil || item.PreviousSibling() != nil || item.Parent().Parent().Kind() == ast.KindListItem {
			b.border = borderLine
		}
	}
	return b, true
}

// titles are the current headings, by level.
type titles [6]string

func (t *titles) set(level int, title string) {
	t[level-1] = title
	clear(t[level:])
}

// pathRunes limits a heading in a path, and so the path.
const pathRunes = 60

// joinAbove joins the headings above level: "Setup > Install".
func (t *titles) joinAbove(level int) string {
	var parts []string
	for _, title := range t[:min(level-1, len(t))] {
		if title != "" {
			parts = append(parts, title)
		}
	}
	return strings.Join(parts, " > ")
}

// titleOf is the text of a heading.
func titleOf(source string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(display.Start(source, 4*pathRunes)), "\n")
	if line = strings.Trim(line, "#>*_ \t\r"); line == "" {
		line, _, _ = strings.Cut(rest, "\n")
	}
	return beginning(line, pathRunes)
}

// region is a part of a text that is parsed separately.
type region struct {
	start, end int
	code       bool // a fence too long to be parsed with anything else
}

// regions splits a text into parts that the parser can handle: at blank lines outside of code, otherwise at any line,
// and within a line if necessary. It tracks fences, so that long code is not parsed as prose.
func regions(s string) []region {
	if len(s) <= regionBytes {
		return []region{{0, len(s), false}}
	}
	var out []region
	start, fenceAt, at := 0, 0, 0
	fence := ""
	cut := func(end int, code bool) {
		if end > start {
			out = append(out, region{start, end, code})
			start = end
		}
	}
	for line := range strings.Lines(s) {
		trimmed := strings.TrimLeft(line[:min(len(line), 256)], " \t>")
		if fence != "" && fenceAt > start && at-fenceAt > regionBytes {
			cut(fenceAt, false)
		}
		switch {
		case fence != "":
			if !closes(strings.TrimSpace(trimmed), fence) {
				break
			}
			if fence = ""; fenceAt == start && at-start > regionBytes {
				cut(at+len(line), true)
			}
		case fenceOf(trimmed) != "":
			if at-start > regionBytes {
				cut(at, false)
			}
			fence, fenceAt = fenceOf(trimmed), at
		case at-start >= regionBytes && strings.TrimSpace(trimmed) == "", at+len(line)-start >= 2*regionBytes:
			cut(at, false)
			for len(line) >= 2*regionBytes {
				n := display.CharacterStart(line, regionBytes)
				cut(at+n, false)
				at, line = at+n, line[n:]
			}
		}
		at += len(line)
	}
	if fence != "" && len(s)-fenceAt > regionBytes {
		cut(fenceAt, false)
		cut(len(s), true)
	}
	cut(len(s), false)
	return out
}

// isDeep reports whether a line opens more nested blocks than real documents have.
func isDeep(s string) bool {
	for line := range strings.Lines(s) {
		depth, columns := 0, 0
	scan:
		for i := 0; i < len(line) && depth <= maxNesting; i++ {
			switch c := line[i]; {
			case c == ' ':
				columns++
			case c == '\t':
				columns += 4
			case c == '>':
				depth++
			case strings.IndexByte("-+*", c) >= 0, c >= '0' && c <= '9', c == '.', c == ')':
				if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
					depth++
				} else if c < '0' || c > '9' {
					break scan
				}
			default:
				break scan
			}
		}
		if depth > maxNesting || (depth > 0 && columns > 4*maxNesting) {
			return true
		}
	}
	return false
}

// fenceOf is the run of backticks or tildes that opens a code block, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if rest := strings.TrimLeft(line, c); len(line)-len(rest) >= 3 {
			if c == "`" && strings.Contains(rest, c) {
				return "" // inline code in prose
			}
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// closes reports whether line closes the block opened by fence: the same mark, at least as long, and nothing else.
func closes(line, fence string) bool {
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// plain adds text without structure: paragraphs separated by blank lines, pages by form feeds.
func (c *cutter) plain(start, end int, b border) {
	blank, from, at := false, start, start
	next := b
	for line := range strings.Lines(c.text[start:end]) {
		page := strings.IndexByte(line, '\f')
		switch {
		case page >= 0:
			c.prose(from, at+page, next)
			from, next, blank = at+page, borderTopic, false
		case strings.TrimFunc(line, unicode.IsSpace) == "":
			blank = true
		case blank:
			c.prose(from, at, next)
			from, next, blank = at, borderBlock, false
		}
		at += len(line)
	}
	c.prose(from, end, next)
}
