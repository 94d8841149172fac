package chunking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/intent"
)

// border is the strength of the boundary at which a piece begins: the higher, the better a place to cut.
type border uint8

const (
	borderNone  border = iota // after a heading, or inside a word: cut only if necessary
	borderWord                // inside a paragraph: line, word
	borderLine                // sentence, list item, row, statement
	borderBlock               // paragraph, list, table, blank line of code
	borderPart                // code fence, function
	borderTopic               // heading, thematic break, page
)

// kind is how a piece is parsed.
type kind uint8

const (
	prose kind = iota
	heading
	rule // a thematic break
	code
)

// piece is the smallest part of chunks and units: at most a few lines. Pieces are contiguous; white space belongs to
// the previous piece. A text of 40 MB has two million of them, so they are small; offsets fit because SQLite stores
// no text longer than an int32.
type piece struct {
	start, end int32
	tokens     int32 // estimated
	border     border
	kind       kind
	path       *string // headings above it, or the declaration around the code; never nil
}

// cutter splits one text into pieces.
type cutter struct {
	text  string
	limit int // estimated tokens of the largest piece
	out   []piece
	path  *string // of the next piece
}

// setPath sets the path of the following pieces.
func (c *cutter) setPath(path string) { c.path = &path }

// add adds text[start:end] as one piece.
func (c *cutter) add(start, end int, b border, k kind) {
	c.put(start, end, estimate(c.text[start:end]), b, k)
}

func (c *cutter) put(start, end, tokens int, b border, k kind) {
	if start >= end {
		return
	}
	p := piece{start: int32(start), end: int32(end), tokens: int32(tokens), border: b, kind: k, path: c.path} // see piece
	if n := len(c.out); n > 0 {
		p.border = after(c.out[n-1], c.text, p.border, p.kind)
	}
	c.out = append(c.out, p)
}

// after is the border between a piece and the next one. A heading is not separated from its text, nor "For example:"
// from the example.
func after(before piece, text string, b border, k kind) border {
	switch {
	case b <= borderWord:
		return b
	case before.kind == heading, before.kind == rule:
		return borderNone
	case b < borderTopic && introduces(text[before.start:before.end], before.kind):
		return borderWord
	case before.kind == code && b == borderBlock && k != code:
		return borderPart
	}
	return b
}

// introduces reports whether a short text only introduces the next one: "For example:", the first line of a class.
func introduces(s string, k kind) bool {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	return len(s) < 400 && (strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || k == code && strings.HasSuffix(s, "{"))
}

// prose adds a paragraph, item or table: as one piece, or split into sentences and lines.
func (c *cutter) prose(start, end int, b border) {
	if n := estimate(c.text[start:end]); n <= c.limit {
		c.put(start, end, n, b, prose)
		return
	}
	eachSentence(c.text[start:end], func(from, to int, inner border) {
		if from == 0 {
			inner = b
		}
		c.words(start+from, start+to, inner, prose)
	})
}

// wordPieces: an oversized sentence is split into pieces of the limit divided by this, so that its end does not become
// a small chunk of its own.
const wordPieces = 4

// words adds a sentence or line: as one piece, or split between words or characters.
func (c *cutter) words(start, end int, b border, k kind) {
	limit := c.limit
	if within(c.text[start:end], limit) < end-start {
		limit = max(limit/wordPieces, 1)
	}
	for start < end {
		n := within(c.text[start:end], limit)
		for start+n < end { // spaces belong to the preceding text
			r, size := utf8.DecodeRuneInString(c.text[start+n : end])
			if !unicode.IsSpace(r) {
				break
			}
			n += size
		}
		c.add(start, start+n, b, k)
		start, b = start+n, borderWord
	}
}

// eachSentence splits a text after its sentences and lines, with white space kept at their end. It also yields the
// kind of border at which each begins.
func eachSentence(text string, yield func(start, end int, b border)) {
	start, line, b := 0, 0, borderLine
	next, ended := borderNone, false
	for i, r := range text {
		switch {
		case r == '\n':
			if !ended && next == borderNone {
				next = borderWord
				if row(text[line:i]) {
					next = borderLine
				}
			}
			ended, line = true, i+1
		case unicode.IsSpace(r):
			if next == borderLine {
				ended = true
			}
		case ended:
			yield(start, i, b)
			start, b, ended = i, next, false
			next = borderAfter(r)
		case intent.EndsSentence(r):
			next = borderAfter(r)
			ended = r > unicode.MaxLatin1
		case strings.ContainsRune("\"'”’)]»」』）*_`", r):
			// closing marks
		default:
			next = borderNone
		}
	}
	if start < len(text) {
		yield(start, len(text), b)
	}
}

func borderAfter(r rune) border {
	if intent.EndsSentence(r) {
		return borderLine
	}
	return borderNone
}

// row reports whether a line is a row of a table or an item of a list.
func row(line string) bool {
	line = strings.TrimLeft(line, " \t>")
	return strings.HasPrefix(line, "|") || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ")
}
