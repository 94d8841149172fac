package render

import "strings"

// A long text is parsed in pieces of at least pieceBytes, split at empty lines. Text that nests deeper than maxNesting,
// or has a table of more than maxTableCells cells, is not parsed at all, because the parser's time and stack would grow
// faster than the text.
const (
	pieceBytes    = 32 << 10
	maxNesting    = 24
	maxTableCells = 50_000
)

// pieces splits a text at empty lines outside of code.
func pieces(s string) []string {
	if len(s) <= maxParsed {
		return []string{s}
	}
	var out []string
	start, at := 0, 0
	fence := ""
	for line := range strings.Lines(s) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:longestPrefix(trimmed)]
		case trimmed == "" && at-start >= pieceBytes:
			out = append(out, s[start:at])
			start = at
		}
		at += len(line)
	}
	return append(out, s[start:])
}

func longestPrefix(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

// isPlain reports whether a piece is shown as plain text.
func isPlain(s string) bool { return len(s) > maxParsed || isDeep(s) || isWide(s) }

// isDeep reports whether a line of Markdown nests deeper than real documents do, by its marks or its indentation.
func isDeep(s string) bool {
	for line := range strings.Lines(s) {
		depth, columns := marks(line)
		if depth > maxNesting || depth > 0 && columns > 4*maxNesting {
			return true
		}
	}
	return false
}

// marks counts the marks of quotes and lists at the beginning of a line, and the columns of white space among them.
func marks(line string) (depth, columns int) {
	for i := 0; i < len(line) && depth <= maxNesting; i++ {
		c := line[i]
		digit := c >= '0' && c <= '9'
		switch {
		case c == ' ':
			columns++
		case c == '\t':
			columns += 4
		case c == '>':
			depth++
		case strings.IndexByte("-+*.)", c) >= 0 || digit:
			if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				depth++
			} else if !digit {
				return depth, columns
			}
		default:
			return depth, columns
		}
	}
	return depth, columns
}

// isWide reports whether a text has a table with too many cells: the parser also creates those that a row omits.
func isWide(s string) bool {
	rows := strings.Count(s, "\n") + 1
	for line := range strings.Lines(s) {
		if columns := strings.Count(line, "|") + 1; columns > 1 && columns*rows > maxTableCells &&
			strings.IndexByte(line, '-') >= 0 && strings.Trim(line, " \t\n|-:>*+.)0123456789") == "" {
			return true
		}
	}
	return false
}
