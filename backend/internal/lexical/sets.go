package lexical

import (
	"strings"

	"github.com/kljensen/snowball/english"
)

// Set returns the set of the words of a list, separated by white space.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// Phrases returns the set of the phrases of a list, separated by commas. White space in them becomes single spaces.
func Phrases(list string) map[string]bool {
	set := map[string]bool{}
	for phrase := range strings.SplitSeq(list, ",") {
		set[strings.Join(strings.Fields(phrase), " ")] = true
	}
	return set
}

// Stem returns a word without its English ending, if the word has only the letters a to z. Other words are returned
// unchanged.
func Stem(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, false)
}
