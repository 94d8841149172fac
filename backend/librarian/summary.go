package librarian

import (
	"cmp"
	"strings"
	"unicode"

	"contextinfinity/backend/internal/display"
)

// Section is a heading of the summary, in document order.
type Section int

const (
	Facts Section = iota
	Decisions
	Constraints
	Artifacts
	OpenTasks
	LastExchange // of a state summary; present only if it has entries
	Happened     // of a range of turns; present only if it has entries
	sectionCount
)

var headings = [sectionCount]string{"Facts", "Decisions", "Constraints", "Artifacts", "Open tasks", "Last exchange", "What happened"}

// Heading is the section's title in the document.
func (s Section) Heading() string { return headings[s] }

// maxEntry bounds one entry, in bytes.
const maxEntry = 400

// maxParse limits how much of an earlier summary is read, in bytes. A summary of 1200 tokens has about five thousand.
const maxParse = 256 << 10

// Summary is the document: entries, oldest first, under fixed headings. Every
// entry is one line that Markdown reads as plain text.
type Summary struct {
	entries [sectionCount][]string
}

// Parse parses a summary, including one written by a model: known headings of any level may be in any order, repeated
// or missing. Text under no heading is a fact, except for sentences with which a model introduces the document ("Here
// is the updated memory:"). Parse(s.Render()) is s.
func Parse(markdown string) Summary {
	if len(markdown) > maxParse {
		markdown = markdown[:maxParse]
	}
	var s Summary
	sec, open := Facts, false // open: the last entry may continue
	for line := range strings.Lines(afterIntroduction(markdown)) {
		text := strings.TrimSpace(line)
		if text == "" {
			open = false
			continue
		}
		if title, ok := headingText(text); ok {
			known, isKnown := sectionOf(title)
			if sec, open = known, false; !isKnown {
				s.add(Facts, title)
			}
			continue
		}
		item, bullet := cutBullet(text)
		switch indented := line[0] == ' ' || line[0] == '\t'; {
		case !bullet && indented && open:
			s.extendLast(sec, text)
		case strings.HasPrefix(item, "[x] "), strings.HasPrefix(item, "[X] "):
			open = false // a completed task
		default:
			open = s.add(sec, strings.TrimPrefix(item, "[ ] "))
		}
	}
	return s
}

// afterIntroduction is the document from its first list entry or known heading on; all of it if no known heading follows.
func afterIntroduction(markdown string) string {
	begin, at := -1, 0
	for line := range strings.Lines(markdown) {
		text := strings.TrimSpace(line)
		title, isHeading := headingText(text)
		_, isEntry := cutBullet(text)
		if isHeading {
			_, isHeading = sectionOf(title)
		}
		if begin < 0 && (isHeading || isEntry) {
			begin = at
		}
		if isHeading {
			return markdown[begin:]
		}
		at += len(line)
	}
	return markdown
}

// headingText is the title of a Markdown heading line.
func headingText(line string) (string, bool) {
	rest := strings.TrimLeft(line, "#")
	level := len(line) - len(rest)
	if level == 0 || level > 6 || (rest != "" && rest[0] != ' ') {
		return "", false
	}
	return strings.Trim(rest, " #*:"), true
}

// sectionOf finds the section with a title; Facts if there is none.
func sectionOf(title string) (Section, bool) {
	for i, h := range headings {
		if strings.EqualFold(title, h) {
			return Section(i), true
		}
	}
	return Facts, false
}

// cutBullet removes a list marker.
func cutBullet(line string) (string, bool) {
	for _, marker := range []string{"- ", "* ", "+ ", "• "} {
		if rest, ok := strings.CutPrefix(line, marker); ok {
			return strings.TrimSpace(rest), true
		}
	}
	if n := numbering(line); n > 0 && n < len(line) && line[n] == ' ' {
		return strings.TrimSpace(line[n:]), true
	}
	return line, false
}

// numbering is the length of a leading "12." or "12)", 0 if there is none.
func numbering(s string) int {
	digits := 0
	for digits < len(s) && digits < 9 && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') {
		return digits + 1
	}
	return 0
}

// add makes an entry safe and appends it; a long one becomes several, so that nothing is lost. It returns false if
// nothing remains of it.
func (s *Summary) add(sec Section, text string) bool {
	before := len(s.entries[sec])
	pieces := []string{escapeMarkup(text)}
	if len(pieces[0]) > maxEntry {
		pieces = lines(pieces[0], maxEntry-1)
	}
	for _, piece := range pieces {
		if entry := plainLine(piece); entry != "" {
			s.entries[sec] = append(s.entries[sec], entry)
		}
	}
	return len(s.entries[sec]) > before
}

func (s *Summary) extendLast(sec Section, text string) {
	list := s.entries[sec]
	last := list[len(list)-1]
	s.entries[sec] = list[:len(list)-1]
	s.add(sec, last+" "+text)
}

// maxDivided limits the text that becomes entries, in bytes, so that the work does not grow with the input.
const maxDivided = 16 * maxEntry

// escapeMarkup is a text on one line that cannot open markup.
func escapeMarkup(text string) string {
	if len(text) > maxDivided {
		text = text[:maxDivided]
	}
	return escapeTags(display.OneLine(text))
}

// Render writes the document.
func (s Summary) Render() string {
	var b strings.Builder
	for sec := range sectionCount {
		if sec >= LastExchange && len(s.entries[sec]) == 0 {
			continue
		}
		if sec > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("## " + sec.Heading() + "\n")
		for _, e := range s.entries[sec] {
			b.WriteString("- " + e + "\n")
		}
	}
	return b.String()
}

// renderRange writes the summary of a range, with what happened first, as prose.
func renderRange(s Summary) string {
	var b strings.Builder
	for _, sec := range []Section{Happened, Decisions, Constraints, Facts, Artifacts, OpenTasks} {
		if len(s.entries[sec]) == 0 {
			continue
		}
		b.WriteString("## " + sec.Heading() + "\n")
		for _, e := range s.entries[sec] {
			if sec != Happened {
				b.WriteString("- ")
			}
			b.WriteString(e + "\n")
		}
	}
	return b.String()
}

// plainLine makes one line of limited length that opens no Markdown block and no HTML. It is idempotent.
func plainLine(text string) string {
	line := escapeMarkup(text)
	if n := blockMarker(line); n >= 0 {
		line = line[:n] + `\` + line[n:]
	}
	return clip(line, maxEntry)
}

// blockMarker returns where a backslash is needed so that the beginning of a line opens no block: a heading, list,
// quote, fence, table or link definition. It returns -1 if none is needed.
func blockMarker(line string) int {
	if line == "" {
		return -1
	}
	if strings.ContainsRune("#>-+*=~|[", rune(line[0])) || strings.HasPrefix(line, "```") {
		return 0
	}
	return numbering(line) - 1
}

// escapeTags puts a backslash before each "<" that could open HTML.
func escapeTags(line string) string {
	if !strings.Contains(line, "<") {
		return line
	}
	var b strings.Builder
	escaped := false // by an odd number of preceding backslashes
	for i := range len(line) {
		c := line[i]
		if c == '<' && !escaped && i+1 < len(line) && opensTag(line[i+1]) {
			b.WriteByte('\\')
		}
		escaped = c == '\\' && !escaped
		b.WriteByte(c)
	}
	return b.String()
}

func opensTag(c byte) bool {
	return c == '/' || c == '!' || c == '?' || (c|0x20 >= 'a' && c|0x20 <= 'z')
}

// clip cuts s to at most n bytes, between characters, with an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = display.Start(s, n-len("…"))
	if space := strings.LastIndexByte(s, ' '); space > len(s)*3/4 {
		s = s[:space]
	}
	return strings.TrimRight(s, " ") + "…"
}

// key is equal for entries with the same content: case, punctuation and spacing are ignored, except in artifacts.
func key(sec Section, entry string) string {
	if sec == Artifacts {
		return strings.ReplaceAll(entry, `\`, "")
	}
	k := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, entry)
	return cmp.Or(k, entry)
}
