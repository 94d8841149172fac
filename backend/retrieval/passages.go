package retrieval

import (
	"regexp"
	"strings"

	"contextinfinity/backend/chat"
)

// part is a piece of a reply that can be understood on its own: a sentence or two, a list item, a table row, a few
// lines of code. lead is the line it belongs to (the header of its table, "Run this:", the heading above); empty:
// none.
type part struct {
	chat.Span
	lead  chat.Span
	table bool // it is a table row, which cannot be understood without its lead
}

const (
	// partBytes is the size up to which sentences and lines of code are joined, and up to which a paragraph is not
	// split.
	partBytes = 240
	// leadBytes is the maximum length of a line that is packed as a lead.
	leadBytes = 200
)

// splitter splits a reply into parts.
type splitter struct {
	text  string
	base  int // position of text in the source
	out   []part
	lead  chat.Span
	head  chat.Span // header of the table
	fence string
	open  int // beginning of the current block, -1: none
}

// partsOf splits source[span] into parts, in order, without overlap.
func partsOf(source string, span chat.Span) []part {
	s := &splitter{text: source[span.Start:span.End], base: span.Start, open: -1}
	at := 0
	for line := range strings.Lines(s.text) {
		s.line(at, line)
		at += len(line)
	}
	s.close(len(s.text))
	return s.out
}

func (s *splitter) line(at int, line string) {
	trimmed := strings.TrimSpace(line)
	end := at + len(strings.TrimRight(line, " \t\r\n"))
	switch {
	case s.fence != "":
		s.codeLine(at, end, trimmed)
	case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
		s.close(at)
		s.fence, s.open = trimmed[:3], at
	case trimmed == "":
		s.close(at)
		s.head = chat.Span{}
	case strings.HasPrefix(trimmed, "|"):
		s.row(at, end, trimmed)
	case strings.HasPrefix(trimmed, "#"):
		s.close(at)
		s.lead = s.leadSpan(at, end)
	case listEntry(trimmed):
		s.close(at)
		s.open = at
	default:
		if s.open < 0 {
			s.open = at
		}
	}
	if s.fence == "" && introduces(trimmed) && !strings.HasPrefix(trimmed, "#") {
		if s.open == at && end-at <= leadBytes && isLabel(trimmed) {
			s.open = -1 // packed with what it introduces, never alone
		}
		s.close(end)
		s.lead = s.leadSpan(at, end)
	}
}

// introduces reports whether a line ends with a colon, with or without emphasis.
func introduces(line string) bool {
	line = strings.TrimRight(line, "*_ ")
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
}

// longestLabel is the maximum number of words in a label. A longer introductory line is a sentence, which may be an
// answer on its own.
const longestLabel = 6

// isLabel reports whether a line says nothing without what follows it: "Run this:", "**Sample:**".
func isLabel(line string) bool { return introduces(line) && len(strings.Fields(line)) <= longestLabel }

var heading = regexp.MustCompile(`^#{1,6}\s`)

// onlyLabels reports whether a text consists only of headings and labels.
func onlyLabels(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !isLabel(line) && !heading.MatchString(line) {
			return false
		}
	}
	return true
}

// codeLine continues a fenced block, which is split at blank lines once it is long.
func (s *splitter) codeLine(at, end int, trimmed string) {
	switch {
	case strings.HasPrefix(trimmed, s.fence) && strings.Trim(trimmed, s.fence[:1]) == "":
		if s.open < 0 {
			s.open = at
		}
		s.emit(s.open, end)
		s.fence, s.open = "", -1
	case trimmed == "" && s.open >= 0 && at-s.open >= partBytes, s.open >= 0 && at-s.open >= 2*partBytes:
		s.emit(s.open, at)
		s.open = at
	case s.open < 0:
		s.open = at
	}
}

// row adds a line of a table. The first line is the header of the others.
func (s *splitter) row(at, end int, trimmed string) {
	s.close(at)
	switch {
	case s.head == (chat.Span{}):
		s.head = s.leadSpan(at, end)
		if s.head == (chat.Span{}) {
			s.emit(at, end)
		}
	case strings.Trim(trimmed, "|-: ") == "":
		// the line of dashes below the header
	default:
		s.put(part{Span: s.span(at, end), lead: s.head, table: true})
	}
}

// close ends the current block of prose.
func (s *splitter) close(at int) {
	if s.open < 0 || s.open >= at {
		return
	}
	if s.fence != "" {
		s.emit(s.open, at)
	} else {
		s.prose(s.open, at)
	}
	s.open = -1
}

// prose adds a paragraph or list item, split into sentences if it is long.
func (s *splitter) prose(from, to int) {
	if to-from <= partBytes {
		s.emit(from, to)
		return
	}
	start := from
	for i := from; i < to; i++ {
		if sentenceEnd(s.text, i, to) && i+1-start >= partBytes/3 {
			s.emit(start, i+1)
			start = i + 1
		}
	}
	s.emit(start, to)
}

// sentenceEnd reports whether a mark at i ends a sentence.
func sentenceEnd(text string, i, to int) bool {
	switch text[i] {
	case '.', '!', '?':
		return i+1 < to && (text[i+1] == ' ' || text[i+1] == '\n')
	case 0x82: // the last byte of the ideographic full stop
		return i >= 2 && text[i-2:i+1] == "。"
	}
	return false
}

func (s *splitter) emit(from, to int) {
	if strings.TrimSpace(s.text[from:to]) != "" {
		s.put(part{Span: s.span(from, to), lead: s.lead})
	}
}

func (s *splitter) put(p part) { s.out = append(s.out, p) }

func (s *splitter) span(from, to int) chat.Span {
	return chat.Span{Start: s.base + from, End: s.base + to}
}

// leadSpan is the span of a line if it is short enough for a lead.
func (s *splitter) leadSpan(from, to int) chat.Span {
	if to-from > leadBytes {
		return chat.Span{}
	}
	return s.span(from, to)
}

// listEntry reports whether a line begins a list item.
func listEntry(line string) bool {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "• ") {
		return true
	}
	digits := 0
	for digits < len(line) && digits < 4 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	return digits > 0 && digits+1 < len(line) && (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' '
}
