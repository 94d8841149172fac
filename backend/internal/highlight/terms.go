package highlight

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/numerals"
)

// Term is one thing a person looks for: a word, or what is in quotes.
type Term struct {
	Text   string
	Prefix bool   // it may be the beginning of a word: it is being typed
	Phrase bool   // it is looked for as it is
	number string // the digits of a number of four or more, which may be written in groups
	finder Finder
}

// Parse reads a query: words, and phrases in quotes. The last word may be a beginning,
// unless something is after it.
func Parse(query string) []Term {
	var out []Term
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			if words := strings.Join(strings.Fields(part), " "); hasWord(words) {
				out = append(out, Term{Text: words, Phrase: true, finder: newFinder(words, Finder{plain: true})})
			}
			continue
		}
		for _, word := range strings.Fields(numerals.Plain(lexical.Fold(part))) {
			word = lexical.Trim(word)
			if word != "" {
				out = append(out, newWord(word))
			}
		}
	}
	last, _ := utf8.DecodeLastRuneInString(query)
	if n := len(out); n > 0 && !out[n-1].Phrase && !unicode.IsSpace(last) {
		out[n-1].Prefix = true
		out[n-1].finder = newFinder(out[n-1].Text, Finder{plain: true})
	}
	return slices.CompactFunc(out, func(a, b Term) bool { return a.Text == b.Text && a.Prefix == b.Prefix })
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func newWord(word string) Term {
	number, _, _ := numerals.Forms(word)
	return Term{Text: word, number: number, finder: newFinder(Stem(word), Finder{plain: true})}
}

// endings of English words, the longest first.
var endings = []string{"ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e"}

// leastStem is the shortest that a stem is, in letters.
const leastStem = 3

// Stem is about what the text index holds of a word: without its English ending.
func Stem(word string) string {
	folded := Fold(word)
	for _, end := range endings {
		if stem, ok := strings.CutSuffix(folded, end); ok && len(stem) >= leastStem && isASCII(stem) {
			return undoubled(stem)
		}
	}
	return word
}

// undoubled is running's runn as run.
func undoubled(stem string) string {
	n := len(stem)
	if n > leastStem && stem[n-1] == stem[n-2] && !strings.ContainsRune("lsz", rune(stem[n-1])) {
		return stem[:n-1]
	}
	return stem
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Beginnings are the words that the index may hold in place of one that is being
// typed: of "runni" the index knows only "run".
func (t Term) Beginnings() []string {
	if !t.Prefix || !isASCII(t.Text) {
		return nil
	}
	var out []string
	for cut := 1; cut <= 3 && len(t.Text)-cut >= leastStem; cut++ {
		stem := undoubled(t.Text[:len(t.Text)-cut])
		if !slices.Contains(out, stem) {
			out = append(out, stem)
		}
	}
	return out
}

// InJSON reports that stored JSON may hold the term.
func (t Term) InJSON(raw string) bool { return t.finder.InJSON(raw) || len(t.inGroups(raw)) > 0 }

const (
	mostSpans     = 24 // of one term in one text
	longestEnding = 4
)

// Spans are the places of a term in a text: words that begin with it, or with its stem, and
// a number also where it is written in groups.
func (t Term) Spans(text string) []Span {
	out := t.inGroups(text)
	for at := 0; len(out) < mostSpans; {
		start, end := t.finder.next(text, at)
		if start < 0 {
			return out
		}
		at = end
		if !beginsWord(text, start) {
			continue
		}
		full := wordEnd(text, end)
		switch rest := utf8.RuneCountInString(text[end:full]); {
		case t.Prefix:
			full = marksEnd(text, end)
		case rest == 0:
		case endsUncased(text[:end]):
			full = marksEnd(text, end)
		case t.Phrase || rest > longestEnding:
			continue
		}
		out = append(out, Span{start, full})
		at = full
	}
	return out
}

// inGroups are the places where a text writes a number in groups.
func (t Term) inGroups(text string) []Span {
	if t.number == "" {
		return nil
	}
	var out []Span
	for s := range numerals.Grouped(text) {
		if len(out) == mostSpans {
			break
		}
		if s.Digits == t.number || t.Prefix && strings.HasPrefix(s.Digits, t.number) {
			out = append(out, Span{s.Start, s.End})
		}
	}
	return out
}

// beginsWord reports that no letter is before a place, or one of a script that is
// written without spaces.
func beginsWord(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	here, _ := utf8.DecodeRuneInString(text[at:])
	return at == 0 || !unicode.IsLetter(before) && !unicode.IsNumber(before) || lexical.IsUnspaced(before) || lexical.IsUnspaced(here)
}

// wordEnd is where the word at a place ends; a script without spaces ends one of another.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) || lexical.IsUnspaced(r) {
			break
		}
		at += n
	}
	return at
}

// marksEnd is where the marks on the character before a place end.
func marksEnd(text string, at int) int {
	n := strings.IndexFunc(text[at:], func(r rune) bool { return !unicode.IsMark(r) })
	if n < 0 {
		return len(text)
	}
	return at + n
}

func endsUncased(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return lexical.IsUnspaced(r)
}

// All finds terms in a text: the places of all of them in order, how much the text is
// about them, and whether it holds each.
func All(text string, terms []Term) (spans []Span, score float64, all bool) {
	all = true
	for _, t := range terms {
		found := t.Spans(text)
		if len(found) == 0 {
			all = false
			continue
		}
		score += 1 + math.Log(float64(len(found)))
		spans = append(spans, found...)
	}
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	end := 0
	spans = slices.DeleteFunc(spans, func(s Span) bool { // one that lies over another
		over := s.Start < end
		end = max(end, s.End)
		return over
	})
	return spans, score / (1 + float64(len(text))/evenLength), all
}

// evenLength is the length in bytes of a text that counts half of what a short one does.
const evenLength = 8000
