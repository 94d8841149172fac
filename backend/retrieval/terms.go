package retrieval

import (
	"slices"
	"strings"
	"unicode"
)

// MaxTerms is how many terms of a query are searched for: more cost time and
// find less (they are the common ones).
const MaxTerms = 8

// Terms are the words of a query worth searching for: lower case, in order,
// without stop words and repetitions. Chinese, Japanese and Korean runs, which
// no spaces divide, give their overlapping pairs, as the index holds them. If a
// query has stop words only, they stand.
func Terms(query string) []string {
	var all, kept []string
	for _, word := range split(query) {
		for _, t := range pairs(word) {
			if slices.Contains(all, t) {
				continue
			}
			all = append(all, t)
			if !stopWords[t] && !isLetter(t) {
				kept = append(kept, t)
			}
		}
	}
	if len(kept) == 0 {
		return all
	}
	return kept
}

// Rarest keeps the n rarest terms by how many documents hold each, in their
// order in the query. A term that no document holds is dropped.
func Rarest(terms []string, documents map[string]int, n int) []string {
	var held []string
	for _, t := range terms {
		if documents[t] > 0 {
			held = append(held, t)
		}
	}
	if len(held) <= n {
		return held
	}
	ranked := slices.Clone(held)
	slices.SortStableFunc(ranked, func(a, b string) int { return documents[a] - documents[b] })
	keep := ranked[:n]
	return slices.DeleteFunc(held, func(t string) bool { return !slices.Contains(keep, t) })
}

// split cuts a query into words; a change between a script with spaces and one
// without is a border too.
func split(query string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	for _, r := range strings.ToLower(query) {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			flush()
			continue
		}
		if len(word) > 0 && spaceless(r) != spaceless(word[len(word)-1]) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func pairs(word string) []string {
	runes := []rune(word)
	if len(runes) < 3 || !spaceless(runes[0]) {
		return []string{word}
	}
	var out []string
	for i := 0; i+1 < len(runes); i++ {
		out = append(out, string(runes[i:i+2]))
	}
	return out
}

// isLetter reports a single letter with spaces around it, which finds nothing.
func isLetter(t string) bool {
	return len(t) == 1 && (t[0] < '0' || t[0] > '9')
}

var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(stopList) {
		set[w] = true
	}
	return set
}()

// stopList holds the commonest words of English and German, and the words with
// which people address a memory rather than name what they look for.
const stopList = `
a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing don down during each few for from further had has have having he her here hers him his how i if in into is it
its itself just let ll me more most my no nor not now of off on once only or other our out over own please re s said same
say says she should so some such t tell than that the their them then there these they this those through to told too
under until up us ve very was we were what when where which while who whom whose why will with would you your
remember recall remind find show know talked mentioned
aber alle als am an auch auf aus bei bin bis da damit dann das dass dein dem den der des die dies diese doch du durch ein
eine einem einen einer er es euch für habe haben hat hatte ich ihr im in ist ja kann kein mein mich mir mit nach nicht
noch nur oder ohne sein sich sie sind so über um und uns unser vom von vor war waren was weil wenn wer wie wir wird wo zu
zum zur`
