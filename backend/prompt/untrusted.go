package prompt

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What stands inside <memory> was said by anybody, at any time: it may be made to
// close the block, to pass for another role, or to say to the model what no reader
// sees. visible and escape take these means from it (SPEC 2.8; SRD 14.2); the words
// stay.

// Each artifact stands on lines of its own behind this mark. It has no end tag and no
// id: the mark is paid for each time, and what an artifact is of, the manifest says.
// When and by whom its text was said is the text's own beginning.
const artifactMark = "<m>"

// ArtifactCost is what a text costs, in tokens, as an artifact of the memory block:
// made visible, escaped and framed, exactly as it is sent.
func ArtifactCost(text string, count func(string) int) int {
	return count(artifactText(visible(text)))
}

// MemoryCost is what the memory block around its artifacts costs, in tokens,
// without the lines of their days.
func MemoryCost(count func(string) int) int {
	return count(memoryFrame.open) + count(selection) + count(memoryFrame.close)
}

// Recalled are artifacts as they follow each other in the memory block, without its
// frame and without escapes: the lines of days, and texts.
func Recalled(artifacts []Artifact) []string {
	var out []string
	day := ""
	for _, i := range byTime(artifacts) {
		if d := artifacts[i].Day; d != day {
			day = d
			out = append(out, strings.TrimSpace(dayText(d)))
		}
		out = append(out, artifacts[i].Text)
	}
	return out
}

const dayMs = 24 * 60 * 60 * 1000

// byTime are the indexes of artifacts in the order in which they were said. Within a
// day those under one line are together, so that it is needed once.
func byTime(artifacts []Artifact) []int {
	order := make([]int, len(artifacts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := artifacts[i], artifacts[j]
		return cmp.Or(cmp.Compare(a.At/dayMs, b.At/dayMs), cmp.Compare(a.Day, b.Day), cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.ID, b.ID))
	})
	return order
}

// escaper leaves no < in a text, and & only where it cannot be taken for an escape:
// the rest is left as it was said, since code is quoted often and each escape costs.
var escaper = strings.NewReplacer("<", "&lt;", "&lt;", "&amp;lt;", "&amp;", "&amp;amp;", "&#91;", "&amp;#91;", "&#93;", "&amp;#93;")

// Escaped is a text as it stands in the memory block.
func Escaped(text string) string { return escape(visible(text)) }

// controlTokens are the marks in brackets by which servers with a chat template
// tell instructions from data; those in angle brackets are escaped anyway.
var controlTokens = regexp.MustCompile(`(?i)\[(\s*/?\s*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\s*)\]`)

// escape writes a text so that nothing in it is a tag or a control token.
func escape(s string) string {
	return controlTokens.ReplaceAllString(escaper.Replace(s), "&#91;$1&#93;")
}

// visible is a text without what a reader would not see: other control characters
// than line ends and tabs stand as U+FFFD; characters that have no width or turn the
// direction of writing, and those that can carry a hidden text, are left out. What a
// script needs of them stays: a joiner between letters, one variation selector
// after a character.
func visible(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := rune(-1) // written before
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch {
		case r == '\r':
			if i < len(s) && s[i] == '\n' {
				continue
			}
			r = '\n'
		case r == 0x2028 || r == 0x2029 || r == 0x85:
			r = '\n'
		case r == '\n' || r == '\t':
		case unicode.IsControl(r):
			r = utf8.RuneError
		case joins(r):
			if next, _ := utf8.DecodeRuneInString(s[i:]); !joinable(last) || !joinable(next) {
				continue
			}
		case r == 0xFE0E || r == 0xFE0F:
			if last < 0x20 || last == 0xFE0E || last == 0xFE0F {
				continue
			}
		case hidden(r):
			continue
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// plain reports a text of printable ASCII and line ends.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7F || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// joins are the zero-width joiner and non-joiner, which Persian, the scripts of
// India and emoji need.
func joins(r rune) bool { return r == 0x200C || r == 0x200D }

func joinable(r rune) bool { return r > 0x7F && !joins(r) && !hidden(r) && r != utf8.RuneError }

// hidden reports a character that shows nothing: formats, among them the marks of
// direction and the tags that spell invisible ASCII, and fillers.
func hidden(r rune) bool {
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0x2800:
		return true
	}
	return unicode.Is(unicode.Cf, r) && !joins(r) ||
		r >= 0x180B && r <= 0x180F || r >= 0xFE00 && r <= 0xFE0D || r >= 0xE0000 && r <= 0xE0FFF
}
