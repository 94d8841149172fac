package highlight

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"contextinfinity/backend/internal/display"
)

// Markdown is hard to read on one line. A snippet therefore leaves out markup: emphasis, code, headings, quotes,
// tables, and link targets. Text inside code is unchanged.

var (
	fence    = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~)[^\n]*\n?")
	code     = regexp.MustCompile("(`+)([^`\n]+)(`+)")
	link     = regexp.MustCompile(`!?\[([^\[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)`)
	lineMark = regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+|(?:\|(?:[ \t]*:?-+:?[ \t]*\|)+|-{3,})[ \t]*$)`)
	bars     = regexp.MustCompile(`(?m)^([ \t]*\|[ \t]*)[^\n]*?([ \t]*\|[ \t]*)$`) // the outer ones of a table row
	strong   = regexp.MustCompile(`\*\*[^*\n]+\*\*|~~[^~\n]+~~`)
	emphasis = regexp.MustCompile(`(?:^|[^\w*])(\*[^*\n]+\*)(?:$|[^\w*])`)
)

// marksReach is how far before and after a snippet the text is searched for markup that ends or begins in it.
const marksReach = 2048

// marks returns the ranges of text[from:to] that are only markup, in order and without overlap.
func marks(text string, from, to int) []Span {
	start, end := display.CharacterStart(text, max(0, from-marksReach)), display.CharacterStart(text, min(len(text), to+marksReach))
	if i := strings.LastIndexByte(text[start:from], '\n'); i >= 0 && !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		start += i + 1
	}
	part := text[start:end]
	var found, taken []Span // taken: code, which contains no markup
	mark := func(from, to int) { found = append(found, Span{from + start, to + start}) }
	free := func(from, to int) bool {
		return !slices.ContainsFunc(taken, func(t Span) bool { return from < t.End && to > t.Start })
	}
	inFence := strings.Count("\n"+text[:start], "\n```")%2 == 1
	last := 0
	for _, f := range fence.FindAllStringIndex(part, -1) {
		if inFence {
			taken = append(taken, Span{last, f[0]})
		}
		mark(f[0], f[1])
		taken = append(taken, Span{f[0], f[1]})
		inFence, last = !inFence, f[1]
	}
	if inFence {
		taken = append(taken, Span{last, len(part)})
	}
	for _, m := range code.FindAllStringSubmatchIndex(part, -1) {
		if m[3]-m[2] == m[7]-m[6] && free(m[0], m[1]) {
			mark(m[2], m[3])
			mark(m[6], m[7])
			taken = append(taken, Span{m[0], m[1]})
		}
	}
	for _, m := range link.FindAllStringSubmatchIndex(part, -1) {
		if free(m[0], m[2]) && free(m[3], m[1]) {
			mark(m[0], m[2])
			mark(m[3], m[1])
			taken = append(taken, Span{m[3], m[1]})
		}
	}
	for _, m := range lineMark.FindAllStringIndex(part, -1) {
		if m[0] < m[1] && free(m[0], m[1]) {
			mark(m[0], m[1])
		}
	}
	for _, m := range bars.FindAllStringSubmatchIndex(part, -1) {
		if free(m[0], m[1]) && m[3] <= m[4] {
			mark(m[2], m[3])
			mark(m[4], m[5])
		}
	}
	around := func(m []int, n int) {
		if inner := part[m[0]+n : m[1]-n]; strings.TrimSpace(inner) == inner && free(m[0], m[0]+n) && free(m[1]-n, m[1]) {
			mark(m[0], m[0]+n)
			mark(m[1]-n, m[1])
		}
	}
	for _, m := range strong.FindAllStringIndex(part, -1) {
		around(m, 2)
	}
	for _, m := range emphasis.FindAllStringSubmatchIndex(part, -1) {
		around(m[2:4], 1)
	}
	return withoutOverlaps(found)
}

// withoutOverlaps sorts spans and resolves overlaps: the first one wins, and of two with the same start the longer one,
// so that a table rule is removed completely and not only its outer bars.
func withoutOverlaps(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	out, end := spans[:0], 0
	for _, s := range spans {
		if s.Start >= end {
			out, end = append(out, s), s.End
		}
	}
	return out
}

// without removes ranges from a text, and shifts the spans in it; ranges that overlap a span stay.
func without(text string, out, spans []Span) (string, []Span) {
	out = slices.DeleteFunc(out, func(o Span) bool {
		return slices.ContainsFunc(spans, func(s Span) bool { return o.Start < s.End && o.End > s.Start })
	})
	var b strings.Builder
	at := 0
	for _, o := range out {
		b.WriteString(text[at:o.Start])
		at = o.End
	}
	b.WriteString(text[at:])
	moved := make([]Span, 0, len(spans))
	for _, s := range spans {
		removed := 0
		for _, o := range out {
			if o.End <= s.Start {
				removed += o.End - o.Start
			}
		}
		moved = append(moved, Span{s.Start - removed, s.End - removed})
	}
	return b.String(), moved
}

// UnmarkedAt returns Markdown without its markup, and the new position of the byte at.
func UnmarkedAt(text string, at int) (string, int) {
	at = display.CharacterStart(text, min(max(at, 0), len(text)))
	plain, moved := without(text, marks(text, 0, len(text)), []Span{{at, at}})
	return plain, moved[0].Start
}
