package highlight

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/numerals"
)

// Term is one part of a query: a word, or a phrase in quotes.
type Term struct {
	Text   string
	Prefix bool   // it may be the beginning of a word that is still being typed
	Phrase bool   // it must occur exactly as written
	number string // the digits of a number of four or more, which may be written with digit grouping
	finder Finder
	apart  *regexp.Regexp // matches the word written as two, or the number in groups; nil: it has one form
}

// Parse parses a query: words, and phrases in quotes. The last word may be a prefix, unless something follows it.
func Parse(query string) []Term {
	var out []Term
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			if words := strings.Join(strings.Fields(part), " "); hasWord(words) {
				out = append(out, Term{Text: words, Phrase: true, finder: NewFinder(words, false)})
			}
			continue
		}
		for _, word := range strings.Fields(numerals.Plain(lexical.WithoutArticles(lexical.Fold(part)))) {
			word = lexical.Trim(word)
			if word != "" {
				out = append(out, newWord(word))
			}
		}
	}
	last, _ := utf8.DecodeLastRuneInString(query)
	if n := len(out); n > 0 && !out[n-1].Phrase && !unicode.IsSpace(last) {
		out[n-1].Prefix = true
		out[n-1].finder = NewFinder(out[n-1].Text, false)
	}
	return slices.CompactFunc(out, func(a, b Term) bool { return a.Text == b.Text && a.Prefix == b.Prefix })
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || lexical.IsEmoji(r) })
}

func newWord(word string) Term {
	number, _, _ := numerals.Forms(word)
	if lexical.IsHash(word) {
		return Term{Text: word, Prefix: true, finder: NewFinder(word, false)}
	}
	return Term{Text: word, number: number, finder: NewFinder(Stem(word), false), apart: apart(word)}
}

// The lengths of a word that is also found if it is written as two, in bytes, and of a number that is found in groups.
const (
	shortestApart  = 4
	longestApart   = 80
	shortestNumber = 8
	longestNumber  = 15
)

// apart returns an expression for the forms of a word with signs in it: O'Brien for obrien, +49 (0)30 1234 for 49301234.
func apart(word string) *regexp.Regexp {
	signs := `[ '’_-]?`
	switch {
	case len(word) < shortestApart || len(word) > longestApart || !utf8.ValidString(word):
		return nil
	case isNumber(word) && (len(word) < shortestNumber || len(word) > longestNumber):
		return nil
	case isNumber(word):
		signs = `(?: ?\(0\))?[ /.()-]{0,3}`
	case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) || lexical.IsSingle(r) }):
		return nil
	}
	return regexp.MustCompile(`(?i)` + strings.Join(strings.Split(word, ""), signs))
}

// endings are English word endings, longest first.
var endings = []string{"ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e"}

// minStem is the minimum length of a stem, in letters.
const minStem = 3

// Stem approximates the form of a word in the text index: without its English ending.
func Stem(word string) string {
	folded := Fold(word)
	for _, end := range endings {
		if stem, ok := strings.CutSuffix(folded, end); ok && len(stem) >= minStem && isASCII(stem) {
			return undoubled(stem)
		}
	}
	return word
}

// undoubled turns running's runn into run.
func undoubled(stem string) string {
	n := len(stem)
	if n > minStem && stem[n-1] == stem[n-2] && !strings.ContainsRune("lsz", rune(stem[n-1])) {
		return stem[:n-1]
	}
	return stem
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// Beginnings returns the words in the index that a partly typed word may match: for "runni" the index only contains
// "run".
func (t Term) Beginnings() []string {
	if !t.Prefix || !isASCII(t.Text) {
		return nil
	}
	var out []string
	for cut := 1; cut <= 3 && len(t.Text)-cut >= minStem; cut++ {
		stem := undoubled(t.Text[:len(t.Text)-cut])
		if !slices.Contains(out, stem) {
			out = append(out, stem)
		}
	}
	return out
}

// InJSON reports whether stored JSON may contain the term.
func (t Term) InJSON(raw string) bool {
	return t.finder.InJSON(raw) || len(t.inGroups(raw)) > 0 || t.apart != nil && t.apart.MatchString(raw)
}

// Whole returns the term without its form as two words, which memory does not contain.
func (t Term) Whole() Term {
	if !isNumber(t.Text) {
		t.apart = nil
	}
	return t
}

const (
	maxSpans      = 24 // of one term in one text
	longestEnding = 4
)

// Spans returns the matches of a term in a text: words that begin with it or with its stem, and a number also with digit
// grouping.
func (t Term) Spans(text string) []Span {
	out := t.inGroups(text)
	for at := 0; len(out) < maxSpans; {
		start, end := t.finder.next(text, at)
		if start < 0 {
			if len(out) == 0 && t.apart != nil {
				return t.inParts(text)
			}
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
		case endsUnspaced(text[:end]):
			full = marksEnd(text, end)
		case t.Phrase || rest > longestEnding:
			continue
		}
		out = append(out, Span{start, full})
		at = full
	}
	return out
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789") == "" }

// inParts returns the matches of a word that is written as two, or of a number in groups.
func (t Term) inParts(text string) []Span {
	var out []Span
	for _, at := range t.apart.FindAllStringIndex(text, maxSpans) {
		if beginsWord(text, at[0]) && (isNumber(t.Text) || wordEnd(text, at[1]) == at[1]) {
			out = append(out, Span{at[0], at[1]})
		}
	}
	return out
}

// inGroups returns the matches of a number with digit grouping.
func (t Term) inGroups(text string) []Span {
	if t.number == "" {
		return nil
	}
	var out []Span
	for s := range numerals.Grouped(text) {
		if len(out) == maxSpans {
			break
		}
		if s.Digits == t.number || t.Prefix && strings.HasPrefix(s.Digits, t.number) {
			out = append(out, Span{s.Start, s.End})
		}
	}
	return out
}

// beginsWord reports whether a word may begin at a position: after a character that is not a letter or number, next to one
// that stands alone, after an Arabic article, or inside a name of code (the U of getUserName).
func beginsWord(text string, at int) bool {
	here, _ := utf8.DecodeRuneInString(text[at:])
	if at == 0 || lexical.IsSingle(here) || lexical.BeginsPart(text, at) {
		return true
	}
	from := at
	for from > max(0, at-longestArticle) {
		r, n := utf8.DecodeLastRuneInString(text[:from])
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !lexical.IsFoldedAway(r) || lexical.IsSingle(r) {
			break
		}
		from -= n
	}
	before := lexical.Fold(text[from:at])
	return before == "" || lexical.IsArticle(before)
}

// longestArticle is the maximum number of bytes before a word that can be an Arabic article, with vowel marks.
const longestArticle = 24

// wordEnd returns the end of the word at a position; a change between scripts with and without spaces ends a word, and so
// does the next part of a name of code.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, n := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !lexical.IsFoldedAway(r) || lexical.IsSingle(r) || lexical.BeginsPart(text, at) {
			break
		}
		at += n
	}
	return at
}

// marksEnd returns the end of the combining marks on the character before a position.
func marksEnd(text string, at int) int {
	n := strings.IndexFunc(text[at:], func(r rune) bool { return !unicode.IsMark(r) })
	if n < 0 {
		return len(text)
	}
	return at + n
}

func endsUnspaced(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return lexical.IsSingle(r)
}

// All finds terms in a text. It returns the matches of all terms in order, how relevant the text is, and whether it
// contains every term.
func All(text string, terms []Term) (spans []Span, score float64, all bool) {
	all = true
	for _, t := range terms {
		found := t.Spans(text)
		if len(found) == 0 {
			all = false
			continue
		}
		score += 1 + math.Log(float64(len(found)))
		if slices.ContainsFunc(found, func(s Span) bool { return wordEnd(text, s.End) == s.End }) {
			score += entireWord
		}
		spans = append(spans, found...)
	}
	slices.SortFunc(spans, func(a, b Span) int { return a.Start - b.Start })
	end := 0
	spans = slices.DeleteFunc(spans, func(s Span) bool { // remove overlaps
		overlaps := s.Start < end
		end = max(end, s.End)
		return overlaps
	})
	return spans, score / (1 + float64(len(text))/halvingLength), all
}

// entireWord is what a match counts more if it is an entire word, not only the beginning of one.
const entireWord = 0.1

// halvingLength is the length in bytes at which a text's matches count half as much as in a short text.
const halvingLength = 8000
