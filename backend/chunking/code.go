package chunking

import (
	"strings"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lexical"
)

// Code is cut where a function, class or statement begins. No grammar is used: a declaration is at the outer
// indentation, after a blank line or the end of a body, begins with a declaring keyword, or opens a body; comments
// and decorators above it belong to it.

// nestings is how many levels of indentation are tried before code is split at blank lines, then at any line.
const nestings = 3

// codeLine is a parsed line of code.
type codeLine struct {
	start, end int
	indent     int // columns; -1 if it is blank
	depth      int // open brackets before the line
	role       lineRole
}

type lineRole uint8

const (
	lineOther   lineRole = iota
	lineDeclare          // declares a function, class, table
	lineLead             // comment, decorator, attribute: belongs to the following line
	lineClose            // closes a body, or continues with it
	lineFence
)

// code adds code including its fence lines.
func (c *cutter) code(start, end int, b border) {
	if n := estimate(c.text[start:end]); n <= c.limit {
		c.put(start, end, n, b, code)
		return
	}
	c.codeLines(readCode(c.text, start, end), b, 0)
}

// codeLines adds lines that are together too large for one piece.
func (c *cutter) codeLines(lines []codeLine, b border, level int) {
	borders := boundaries(lines, level)
	if borders == nil {
		c.statements(lines, b)
		return
	}
	from := 0
	for i := 1; i <= len(lines); i++ {
		if i < len(lines) && borders[i] == borderNone {
			continue
		}
		part := lines[from:i]
		if from > 0 {
			b = borders[from]
		}
		start, end := part[0].start, part[len(part)-1].end
		switch n := estimate(c.text[start:end]); {
		case n <= c.limit:
			c.put(start, end, n, b, code)
		case level+1 < nestings:
			c.inside(part, b, level+1)
		default:
			c.statements(part, b)
		}
		from = i
	}
}

// inside adds a function or class that is too large for one piece, with its name in the path of its pieces.
func (c *cutter) inside(lines []codeLine, b border, level int) {
	path := c.path
	for _, l := range lines {
		if l.role == lineDeclare {
			name := beginning(strings.TrimRight(display.Start(c.text[l.start:l.end], 4*pathRunes), "{: \t\r\n"), pathRunes)
			if *c.path != "" {
				name = *c.path + " > " + name
			}
			c.setPath(name)
			break
		}
	}
	header := len(c.out)
	c.codeLines(lines, b, level)
	c.path = path
	if header < len(c.out) {
		c.out[header].path = path // it contains the name itself
	}
}

// statements adds lines one by one, with stronger borders after blank lines.
func (c *cutter) statements(lines []codeLine, b border) {
	blank := false
	for i, l := range lines {
		if i > 0 {
			b = borderLine
			if blank {
				b = borderBlock
			}
		}
		if blank = l.indent < 0; blank && len(c.out) > 0 && i > 0 {
			c.out[len(c.out)-1].end = int32(l.end) // see piece; white space belongs to what it follows
			continue
		}
		c.words(l.start, l.end, b, code)
	}
}

// boundaries returns the kind of border at which each line begins, borderNone where code is not cut. It is nil if
// there is no boundary.
func boundaries(lines []codeLine, level int) []border {
	base := outermost(lines, level)
	out := make([]border, len(lines))
	found := false
	for i := 1; i < len(lines); i++ {
		if b := boundary(lines, i, base, level); b != borderNone {
			out[i], found = b, true
		}
	}
	if !found {
		return nil
	}
	return out
}

// outermost is the indentation of declarations: the smallest one; inside a declaration, the smallest below its first
// line.
func outermost(lines []codeLine, level int) int {
	base, header := -1, level == 0
	for _, l := range lines {
		if l.indent < 0 || l.role == lineClose || l.role == lineFence {
			continue
		}
		if !header { // skip lines up to the one that opens the body
			header = l.role != lineLead
			continue
		}
		if base < 0 || l.indent < base {
			base = l.indent
		}
	}
	return base
}

func boundary(lines []codeLine, i, base, level int) border {
	l, before := lines[i], lines[i-1]
	if l.indent < 0 || l.indent > base || l.role == lineClose || l.role == lineFence || before.role == lineFence {
		return borderNone
	}
	blank := before.indent < 0
	above := before
	for k := i - 1; above.indent < 0 && k > 0; k-- {
		above = lines[k-1]
	}
	body := above.indent > base || above.role == lineClose
	part := borderPart
	if level > 0 {
		part = borderBlock
	}
	switch {
	case level == 0 && l.depth > 0 && (!blank || l.role != lineDeclare):
		return borderNone // inside brackets, though not indented
	case !blank && above.role == lineLead:
		return borderNone
	case l.role == lineDeclare && (blank || body || above.role == lineDeclare):
		return part
	case blank && (body || l.role == lineLead):
		return part
	case body && l.role == lineLead:
		return part
	case blank && level == 0:
		return borderBlock
	}
	return borderNone
}

// readCode reads the lines of text[start:end].
func readCode(text string, start, end int) []codeLine {
	var lines []codeLine
	depth := 0
	for line := range strings.Lines(text[start:end]) {
		l := codeLine{start: start, end: start + len(line), indent: -1, depth: depth}
		start += len(line)
		head := line[:min(len(line), 400)]
		if trimmed := strings.TrimSpace(head); trimmed != "" {
			l.indent = columns(head)
			l.role = roleOf(trimmed)
			if l.role != lineFence {
				depth = max(depth+brackets(line), 0)
			}
			if l.role == lineDeclare && l.indent == 0 && len(lines) > 0 && lines[len(lines)-1].indent < 0 {
				depth = max(brackets(line), 0) // in case of an earlier miscount
				l.depth = 0
			}
		}
		lines = append(lines, l)
	}
	// A body may open on the next line: "int f(void)\n{".
	for i := 1; i < len(lines); i++ {
		if before := &lines[i-1]; strings.TrimSpace(text[lines[i].start:min(lines[i].end, lines[i].start+80)]) == "{" &&
			before.role == lineOther && called(strings.TrimSpace(text[before.start:min(before.end, before.start+400)])) {
			before.role = lineDeclare
		}
	}
	return lines
}

func columns(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// brackets returns how many brackets a line leaves open, ignoring strings.
func brackets(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '{', '(', '[':
			n++
		case '}', ')', ']':
			n--
		case '\\':
			i++
		case '"', '\'', '`':
			if k := strings.IndexByte(line[i+1:min(len(line), i+1+1024)], c); k >= 0 {
				i += k + 1
			}
		case '/':
			if strings.HasPrefix(line[i:], "//") {
				return n
			}
		}
	}
	return n
}

var (
	// declarationWords are words that begin a declaration in some language.
	declarationWords = lexical.Set(`func def class fn function sub proc procedure interface struct enum trait impl module namespace type record
		union object protocol extension contract library macro macro_rules! defmodule defp defun template
		create alter drop insert select update delete with grant merge`)
	// alsoVariables are the declaration words that also begin a variable in C: "struct node *n;".
	alsoVariables = lexical.Set(`struct enum union class`)
	// modifiers are words that may precede a declaration word.
	modifiers = lexical.Set(`public private protected internal static final abstract async export default pub pub(crate) pub(super) virtual
		override inline unsafe extern open sealed data partial suspend local declare readonly`)
	// controlWords begin statements that look like calls and declare nothing.
	controlWords = lexical.Set(`if for while switch else do try catch return case match until unless when with elif elseif foreach using lock assert throw new await yield`)
	// continuationWords begin lines that close or continue a body.
	continuationWords = lexical.Set(`else elif elseif elsif except finally catch end fi done esac then do ) } ]`)
)

// roleOf classifies a line without surrounding white space.
func roleOf(line string) lineRole {
	switch {
	case fenceOf(line) != "":
		return lineFence
	case strings.IndexByte("})]", line[0]) >= 0, line == "{":
		return lineClose
	case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "/*"), strings.HasPrefix(line, "* "), strings.HasPrefix(line, "*/"),
		strings.HasPrefix(line, "--"), strings.HasPrefix(line, "# "), strings.HasPrefix(line, "#["), strings.HasPrefix(line, "@"),
		strings.HasPrefix(line, "///"), strings.HasPrefix(line, `"""`), line == "#":
		return lineLead
	}
	fields := strings.Fields(line[:min(len(line), 200)])
	first := strings.ToLower(strings.TrimRight(fields[0], ";:({"))
	if continuationWords[first] || continuationWords[fields[0]] {
		return lineClose
	}
	k := 0
	for k < len(fields)-1 && modifiers[fields[k]] {
		k++
	}
	word, _, _ := strings.Cut(strings.ToLower(fields[k]), "(")
	word, _, _ = strings.Cut(word, "<")
	switch {
	case alsoVariables[word] && strings.HasSuffix(line, ";"):
		return lineOther
	case declarationWords[word] && len(fields) > k+1, k > 0 && strings.HasSuffix(line, "{"), opens(line):
		return lineDeclare
	}
	return lineOther
}

// opens reports whether a line opens a body after a parameter list:
// "int main(void) {", "setup() {", "const f = (x) => {".
func opens(line string) bool {
	return strings.HasSuffix(line, "{") && called(line)
}

// called reports whether a line contains a name with a parameter list and is not a control statement.
func called(line string) bool {
	open := strings.IndexByte(line, '(')
	if open <= 0 || strings.HasSuffix(line, ";") {
		return false
	}
	first := line[:strings.IndexAny(line+" ", " (\t")]
	// "items.update((list) => {" is a call.
	return !controlWords[first] && !strings.Contains(first, ".")
}

// signatures returns the lines of code that declare something.
func signatures(text string) []string {
	var out []string
	for _, l := range readCode(text, 0, len(text)) {
		if l.role == lineDeclare {
			out = append(out, strings.TrimRight(strings.TrimSpace(display.Start(text[l.start:l.end], 400)), "{(;: "))
		}
	}
	return out
}
