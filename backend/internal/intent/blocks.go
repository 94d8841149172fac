package intent

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// BlockKind is the Markdown construct that a block belongs to.
type BlockKind int

// Kinds of blocks. The span of an item or task starts after its marker.
const (
	Paragraph BlockKind = iota
	Item
	OpenTask
	DoneTask
	Heading // also a line that is only a label: "**Agenda**", "Next steps:"
	TableRow
	Quote
	Footnote
	Code // one line of a code block
)

// Block is a part of a message, such as a paragraph.
type Block struct {
	Kind BlockKind
	Span
}

// Blocks splits a Markdown text. Hard-wrapped paragraphs and items are one block each. Blank lines, code fences and
// table rulers belong to none.
func Blocks(text string) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		sc := scanner{text: text, yield: yield}
		for start := 0; start < len(text); {
			line := lineAt(text, start)
			start = line.End + 1
			if !sc.line(line, nextLine(text, start)) {
				return
			}
		}
		sc.flush()
	}
}

// scanner reads a text line by line.
type scanner struct {
	text    string
	yield   func(Block) bool
	open    Block // may continue on the next line
	pending bool  // there is an open block
	inTable bool
	fence   string // the fence of the current code block
}

func (sc *scanner) flush() bool {
	ok := !sc.pending || sc.yield(sc.open)
	sc.pending = false
	return ok
}

// line processes one line, given the next. It returns false once yield has returned false.
func (sc *scanner) line(line Span, next string) bool {
	trimmed := trimSpan(sc.text, line)
	s := sc.text[trimmed.Start:trimmed.End]
	mark := fenceMark(s)
	switch {
	case sc.fence != "" && mark == sc.fence:
		sc.fence = ""
		return true
	case sc.fence != "":
		return s == "" || sc.yield(Block{Code, trimmed})
	case mark != "":
		sc.fence = mark
		return sc.flush()
	case s == "":
		sc.inTable = false
		return sc.flush()
	case sc.pending && continues(sc.text, sc.open, line, trimmed):
		sc.open.End = trimmed.End
		return true
	}
	if !sc.flush() {
		return false
	}
	ruler := isRuler(s)
	sc.inTable = s[0] == '|' || ruler || strings.Contains(s, "|") && (sc.inTable || isRuler(next))
	switch {
	case ruler:
	case sc.inTable:
		return sc.yield(Block{TableRow, trimmed})
	default:
		sc.open, sc.pending = classify(sc.text, trimmed, next), true
	}
	return true
}

func lineAt(text string, start int) Span {
	if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
		return Span{start, start + n}
	}
	return Span{start, len(text)}
}

// nextLine is the line that begins at start, without surrounding white space.
func nextLine(text string, start int) string {
	if start >= len(text) {
		return ""
	}
	line := lineAt(text, start)
	return strings.TrimSpace(text[line.Start:line.End])
}

func trimSpan(text string, s Span) Span {
	trimmed := strings.TrimLeftFunc(text[s.Start:s.End], unicode.IsSpace)
	start := s.End - len(trimmed)
	return Span{start, start + len(strings.TrimRightFunc(trimmed, unicode.IsSpace))}
}

// fenceMark is "```" or "~~~" if the line opens or closes a code block.
func fenceMark(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) && !strings.Contains(line[len(mark):], mark) {
			return mark
		}
	}
	return ""
}

// isRuler reports whether a line consists only of dashes, equals signs, asterisks, underscores and the separators of a
// table: the second line of a table, the underline of a heading, or a thematic break.
func isRuler(line string) bool {
	marks := 0
	for _, r := range line {
		switch r {
		case '-', '=', '*', '_':
			marks++
		case '|', ':', ' ', '+':
		default:
			return false
		}
	}
	return marks >= 3
}

// wrappedRunes is the length from which a line without end punctuation counts as hard-wrapped.
const wrappedRunes = 50

// continues reports whether a line continues the open block.
func continues(text string, open Block, line, trimmed Span) bool {
	if open.Kind > DoneTask {
		return false
	}
	s := text[trimmed.Start:trimmed.End]
	first, _ := utf8.DecodeRuneInString(s)
	if (!unicode.IsLetter(first) && !unicode.IsNumber(first) && !strings.ContainsRune("\"'(“`", first)) || markerLength(s) > 0 {
		return false
	}
	if open.Kind != Paragraph && trimmed.Start-line.Start >= 2 {
		return true // indented under its list item
	}
	before := text[open.Start:open.End]
	last, _ := utf8.DecodeLastRuneInString(before)
	if EndsSentence(last) || strings.ContainsRune(":;", last) {
		return false
	}
	lastLine := before[strings.LastIndexByte(before, '\n')+1:]
	return unicode.IsLower(first) || utf8.RuneCountInString(lastLine) >= wrappedRunes
}

// markerLength is the length of a list marker with the following space, 0 without one.
func markerLength(line string) int {
	for _, marker := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if strings.HasPrefix(line, marker) {
			return len(marker)
		}
	}
	digits := 0
	for digits < len(line) && digits < 9 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits+1 < len(line) && (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' ' {
		return digits + 2
	}
	return 0
}

func classify(text string, span Span, next string) Block {
	s := text[span.Start:span.End]
	switch level := len(s) - len(strings.TrimLeft(s, "#")); {
	case level > 0 && level <= 6 && (len(s) == level || s[level] == ' '):
		return Block{Heading, trimSpan(text, Span{span.Start + level, span.End})}
	case s[0] == '>':
		return Block{Quote, trimSpan(text, Span{span.Start + len(s) - len(strings.TrimLeft(s, "> ")), span.End})}
	case isFootnote(s):
		return Block{Footnote, span}
	case next != "" && isUnderline(next):
		return Block{Heading, span}
	}
	kind := Paragraph
	if n := markerLength(s); n > 0 {
		span = trimSpan(text, Span{span.Start + n, span.End})
		s = text[span.Start:span.End]
		if kind = Item; len(s) > 4 && s[0] == '[' && s[2] == ']' && s[3] == ' ' {
			if kind = DoneTask; s[1] == ' ' {
				kind = OpenTask
			}
			return Block{kind, trimSpan(text, Span{span.Start + 4, span.End})}
		}
	}
	if isLabel(s) {
		kind = Heading
	}
	return Block{kind, span}
}

// isUnderline reports whether a line is the underline of a heading. Below a single line of text, dashes could also be a
// thematic break; both end the block above.
func isUnderline(line string) bool {
	return len(line) >= 3 && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

func isFootnote(s string) bool {
	if first, _ := utf8.DecodeRuneInString(s); strings.ContainsRune("¹²³⁴⁵⁶⁷⁸⁹†‡", first) {
		return true
	}
	mark, _, ok := strings.Cut(s, "]")
	if !ok || s[0] != '[' || len(mark) < 2 || len(mark) > 6 {
		return false
	}
	return mark[1] == '^' || strings.Trim(mark[1:], "0123456789") == ""
}

// labelWords is the maximum number of words in a label before a colon.
const labelWords = 5

// isLabel reports whether a text only names what follows it: all of it is in bold, except for brackets and a colon at
// the end, or it has a few words and a colon.
func isLabel(s string) bool {
	if rest, ok := strings.CutPrefix(s, "**"); ok {
		label, after, closed := strings.Cut(rest, "**")
		after = strings.TrimLeft(after, ": -–")
		bracketed := strings.HasPrefix(after, "(") && strings.HasSuffix(strings.TrimRight(after, ": "), ")")
		return closed && (after == "" || bracketed) && !EndsSentence(lastRune(label))
	}
	last := lastRune(s)
	return (last == ':' || last == '：') && len(strings.Fields(s)) <= labelWords && utf8.RuneCountInString(s) <= 60
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}
