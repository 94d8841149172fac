package chunking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/intent"
)

// border is how much the text changes where a piece begins: the higher, the
// better a place to cut.
type border uint8

const (
	borderNone  border = iota // what follows a heading, or is in a word: cut only if it must be
	borderWord                // a line of a paragraph, words
	borderLine                // sentence, list item, row, statement
	borderBlock               // paragraph, list, table, blank line of code
	borderPart                // code fence, function
	borderTopic               // heading, thematic break, page
)

// kind is how a piece is read.
type kind uint8

const (
	prose kind = iota
	heading
	rule // a thematic break
	code
)

// piece is the least that chunks and units are made of: a few lines at most.
// Pieces are contiguous; white space belongs to the piece before it. A text of 40 MB has
// two million of them, so they are small; SQLite holds no text that is longer than an int32.
type piece struct {
	start, end int32
	tokens     int32 // estimated
	border     border
	kind       kind
	path       *string // headings above it, or what the code around it declares; never nil
}

// cutter makes the pieces of one text.
type cutter struct {
	text  string
	limit int // estimated tokens of the largest piece
	out   []piece
	path  *string // of the next piece
}

// under names what the next pieces are under.
func (c *cutter) under(path string) { c.path = &path }

// add appends text[start:end] whole.
func (c *cutter) add(start, end int, b border, k kind) {
	c.put(start, end, estimate(c.text[start:end]), b, k)
}

func (c *cutter) put(start, end, tokens int, b border, k kind) {
	if start >= end {
		return
	}
	p := piece{start: int32(start), end: int32(end), tokens: int32(tokens), border: b, kind: k, path: c.path} //nolint:gosec // see piece
	if n := len(c.out); n > 0 {
		p.border = after(c.out[n-1], c.text, p.border, p.kind)
	}
	c.out = append(c.out, p)
}

// after is how much of a border there is between a piece and what follows it. A
// heading is not parted from what it is about, nor "For example:" from that.
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

// introduces reports a short text that leads to the next one: "For example:", the
// first line of a class.
func introduces(s string, k kind) bool {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	return len(s) < 400 && (strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：") || k == code && strings.HasSuffix(s, "{"))
}

// prose adds a paragraph, item or table: whole, or by its sentences and lines.
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

// wordPieces is how many pieces of a sentence that is too large make the limit:
// small enough that its end is not left over.
const wordPieces = 4

// words adds a sentence or line: whole, or in pieces between words, or runes.
func (c *cutter) words(start, end int, b border, k kind) {
	limit := c.limit
	if within(c.text[start:end], limit) < end-start {
		limit = max(limit/wordPieces, 1)
	}
	for start < end {
		n := within(c.text[start:end], limit)
		for start+n < end { // spaces belong to what is before them
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

// eachSentence cuts a text after its sentences and lines; white space stays with
// what it follows. It tells what kind of border each begins with.
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
			start, b, next, ended = i, next, borderNone, false
			next = mark(r)
		case intent.EndsSentence(r):
			next = mark(r)
			ended = r > unicode.MaxLatin1
		case strings.ContainsRune("\"'”’)]»」』）*_`", r):
			// closes what ended
		default:
			next = borderNone
		}
	}
	if start < len(text) {
		yield(start, len(text), b)
	}
}

func mark(r rune) border {
	if intent.EndsSentence(r) {
		return borderLine
	}
	return borderNone
}

// row reports a line that represents itself: of a table or list.
func row(line string) bool {
	line = strings.TrimLeft(line, " \t>")
	return strings.HasPrefix(line, "|") || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ")
}
