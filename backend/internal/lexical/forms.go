package lexical

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// shortestPart is the minimum length of a part of a name: shorter ones are those of brands and units (iPhone, kWh) and
// of encoded data.
const shortestPart = 2

// longestName is the maximum length of a name of program code: longer words are encoded data.
const longestName = 128

// Names yields the parts of each name of program code in a text, by which people search it: get, User and Name of
// getUserName. Two capitalized words in one are a brand (YouTube) or a person, and not a name of code.
func Names(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for from, to := range asciiWords(text) {
			if parts := Parts(text[from:to]); parts != nil && !yield(parts) {
				return
			}
		}
	}
}

// asciiWords yields the beginning and the end of each run of ASCII letters and digits that has a capital inside.
func asciiWords(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := 0; i < len(text); i++ {
			from, inside := i, false
			for i < len(text) && isASCIIWord(text[i]) {
				inside = inside || i > from && isCapital(text[i])
				i++
			}
			if inside && !yield(from, i) {
				return
			}
		}
	}
}

func isCapital(c byte) bool { return 'A' <= c && c <= 'Z' }

// Parts returns the parts of a name of program code, nil for any other word.
func Parts(word string) []string {
	if len(word) > longestName {
		return nil
	}
	var out []string
	from := 0
	for i := 1; i <= len(word); i++ {
		if i < len(word) && !beginsPart(word, i) {
			continue
		}
		if i-from < shortestPart {
			return nil
		}
		out, from = append(out, word[from:i]), i
	}
	if len(out) > 2 || len(out) == 2 && !isCapital(word[0]) {
		return out
	}
	return nil
}

// beginsPart reports whether a capital follows a small letter, or ends a row of capitals: the R of HTTPRequest.
func beginsPart(word string, at int) bool {
	return isCapital(word[at]) && (!isCapital(word[at-1]) || at+1 < len(word) && 'a' <= word[at+1] && word[at+1] <= 'z')
}

// BeginsPart reports whether a part of a name of code other than its first begins at a position of a text.
func BeginsPart(text string, at int) bool {
	if at == 0 || at >= len(text) || !isASCIIWord(text[at-1]) || !beginsPart(text, at) {
		return false
	}
	from, to := at, at
	for from > 0 && isASCIIWord(text[from-1]) && to-from <= longestName {
		from--
	}
	for to < len(text) && isASCIIWord(text[to]) && to-from <= longestName {
		to++
	}
	return Parts(text[from:to]) != nil
}

// grouped matches a number that is written in groups, such as a telephone number or a date.
var grouped = regexp.MustCompile(`\d(?:[ /.()-]{0,3}\d){7,}`)

// The lengths of numbers that are also found by their digits alone.
const (
	shortestNumber = 8
	longestNumber  = 15
)

// Numbers yields the digits of each number of a text that is written in groups: 493012345678 of +49 (0)30 123456-78.
func Numbers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, number := range grouped.FindAllString(text, -1) {
			digits := strings.Map(onlyDigit, strings.ReplaceAll(number, "(0)", ""))
			if len(digits) < len(number) && isNumber(digits) && !yield(digits) {
				return
			}
		}
	}
}

func onlyDigit(r rune) rune {
	if '0' <= r && r <= '9' {
		return r
	}
	return -1
}

// isNumber reports whether a word consists of digits, and is long enough to be found by its beginning.
func isNumber(word string) bool {
	return len(word) >= shortestNumber && len(word) <= longestNumber && strings.Trim(word, "0123456789") == ""
}

// withForms returns a text followed by the other forms by which it is found: the parts of each name of code in it, and
// each number in groups.
func withForms(text string) string {
	forms := slices.Collect(Numbers(text))
	for parts := range Names(text) {
		forms = append(forms, strings.Join(parts, " "))
	}
	if len(forms) == 0 {
		return text
	}
	slices.Sort(forms)
	return text + "\n" + strings.Join(slices.Compact(forms), "\n")
}
