package lexical

import "strings"

// IndexToken returns the token that the text index contains for a word, if the word has only the letters a to z and
// digits: its stem by the Porter tokenizer of SQLite's FTS5, which differs from Stem. For any other word it returns
// false, because only FTS5 itself can split it.
func IndexToken(word string) (string, bool) {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "", false
		}
	}
	if len(word) < shortestStemmed || len(word) > longestStemmed {
		return word, word != ""
	}
	s := porter(word)
	s.plural()
	s.pastAndGerund()
	if n := len(s) - 1; s[n] == 'y' && hasVowel(string(s[:n])) {
		s = s[:n] + "i"
	}
	s.replace(secondStep, moreThanNone)
	s.replace(thirdStep, moreThanNone)
	s.replace(fourthStep, moreThanOne)
	if n := len(s) - 1; s[n] == 'e' && (measure(string(s[:n])) > 1 || measure(string(s[:n])) == 1 && !endsShort(string(s[:n]))) {
		s = s[:n]
	}
	if n := len(s) - 1; n > 0 && s[n] == 'l' && s[n-1] == 'l' && measure(string(s[:n])) > 1 {
		s = s[:n]
	}
	return string(s), true
}

// Words of other lengths, in bytes, are indexed unchanged.
const (
	shortestStemmed = 3
	longestStemmed  = 64
)

// porter is a word while its endings are removed.
type porter string

// ending is a suffix and its replacement.
type ending struct{ suffix, replacement string }

// If a word ends with several suffixes of a list, the first of them counts, whether or not it is replaced.
var (
	secondStep = []ending{
		{"ational", "ate"},
		{"tional", "tion"},
		{"enci", "ence"},
		{"anci", "ance"},
		{"izer", "ize"},
		{"logi", "log"},
		{"bli", "ble"},
		{"alli", "al"},
		{"entli", "ent"},
		{"eli", "e"},
		{"ousli", "ous"},
		{"ization", "ize"},
		{"ation", "ate"},
		{"ator", "ate"},
		{"alism", "al"},
		{"iveness", "ive"},
		{"fulness", "ful"},
		{"ousness", "ous"},
		{"aliti", "al"},
		{"iviti", "ive"},
		{"biliti", "ble"},
	}
	thirdStep = []ending{
		{"ical", "ic"}, {"ness", ""}, {"icate", "ic"}, {"iciti", "ic"}, {"ful", ""}, {"ative", ""}, {"alize", "al"},
	}
	fourthStep = []ending{
		{"al", ""},
		{"ance", ""},
		{"ence", ""},
		{"er", ""},
		{"ic", ""},
		{"able", ""},
		{"ible", ""},
		{"ant", ""},
		{"ement", ""},
		{"ment", ""},
		{"ent", ""},
		{"ion", ""},
		{"ou", ""},
		{"ism", ""},
		{"ate", ""},
		{"iti", ""},
		{"ous", ""},
		{"ive", ""},
		{"ize", ""},
	}
	afterPast = []ending{{"at", "ate"}, {"bl", "ble"}, {"iz", "ize"}}
)

func moreThanNone(stem, _ string) bool { return measure(stem) > 0 }

func moreThanOne(stem, suffix string) bool {
	return measure(stem) > 1 && (suffix != "ion" || strings.HasSuffix(stem, "s") || strings.HasSuffix(stem, "t"))
}

// replace replaces the first suffix in a list that the word ends with, if the stem before it qualifies. It reports
// whether it did.
func (s *porter) replace(endings []ending, qualifies func(stem, suffix string) bool) bool {
	for _, e := range endings {
		stem, ok := strings.CutSuffix(string(*s), e.suffix)
		if !ok || stem == "" {
			continue
		}
		if !qualifies(stem, e.suffix) {
			return false
		}
		*s = porter(stem + e.replacement)
		return true
	}
	return false
}

func (s *porter) plural() {
	w := string(*s)
	switch {
	case !strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ss"):
	case len(w) > 4 && strings.HasSuffix(w, "sses"), len(w) > 3 && strings.HasSuffix(w, "ies"):
		*s = porter(w[:len(w)-2])
	default:
		*s = porter(w[:len(w)-1])
	}
}

func (s *porter) pastAndGerund() {
	w := string(*s)
	if stem, ok := strings.CutSuffix(w, "eed"); ok && stem != "" {
		if measure(stem) > 0 {
			*s = porter(w[:len(w)-1])
		}
		return
	}
	removed := s.replace([]ending{{"ed", ""}, {"ing", ""}}, func(stem, _ string) bool { return hasVowel(stem) })
	if !removed || s.replace(afterPast, func(string, string) bool { return true }) {
		return
	}
	w = string(*s)
	last := w[len(w)-1]
	switch {
	case len(w) > 1 && !isVowel(last, false) && last != 'l' && last != 's' && last != 'z' && last == w[len(w)-2]:
		*s = porter(w[:len(w)-1])
	case measure(w) == 1 && endsShort(w):
		*s += "e"
	}
}

// isVowel reports whether c is a vowel; y is a vowel after a consonant.
func isVowel(c byte, afterConsonant bool) bool {
	return strings.IndexByte("aeiou", c) >= 0 || afterConsonant && c == 'y'
}

// measure counts the sequences of vowels that are followed by a consonant.
func measure(stem string) int {
	n, consonant, vowels := 0, false, false
	for i := range len(stem) {
		consonant = !isVowel(stem[i], consonant)
		if consonant && vowels {
			n++
		}
		vowels = !consonant
	}
	return n
}

func hasVowel(stem string) bool {
	for i := range len(stem) {
		if isVowel(stem[i], i > 0) {
			return true
		}
	}
	return false
}

// endsShort reports whether a stem ends with consonant, vowel, consonant, where the last is none of w, x and y.
func endsShort(stem string) bool {
	if stem == "" || strings.IndexByte("wxy", stem[len(stem)-1]) >= 0 {
		return false
	}
	pattern, consonant := 0, false
	for i := range len(stem) {
		consonant = !isVowel(stem[i], consonant)
		pattern <<= 1
		if consonant {
			pattern |= 1
		}
	}
	return pattern&7 == 5
}
