package retrieval

import (
	"context"
	"slices"
	"strings"
	"unicode"
)

// maxTerms is how many query terms are searched: the rarest say most, and a
// query of common words costs a hundred times as much (SPEC 8).
const maxTerms = 8

// maxWords bounds how much of a query is looked at: a pasted document is no
// better a question than its first pages.
const maxWords = 400

// Frequencies tells in how many units each term occurs.
type Frequencies interface {
	TermFrequencies(ctx context.Context, terms []string) (map[string]int, error)
}

// Words splits a query into its distinct words, lower case, without stop words.
func Words(query string) []string {
	seen := map[string]bool{}
	var out []string
	for _, w := range strings.FieldsFunc(query, func(r rune) bool { return !wordRune(r) }) {
		w = strings.ToLower(strings.Trim(w, "_-'’"))
		if w == "" || seen[w] || stopWords[w] {
			continue
		}
		seen[w] = true
		if out = append(out, w); len(out) == maxWords {
			break
		}
	}
	return out
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_' || r == '-' || r == '\'' || r == '’'
}

// Terms chooses the rarest words of a query that occur at all.
func Terms(ctx context.Context, index Frequencies, query string) ([]string, error) {
	words := Words(query)
	if len(words) == 0 {
		return nil, nil
	}
	freq, err := index.TermFrequencies(ctx, words)
	if err != nil {
		return nil, err
	}
	words = slices.DeleteFunc(words, func(w string) bool { return freq[w] == 0 })
	slices.SortStableFunc(words, func(a, b string) int { return freq[a] - freq[b] })
	return words[:min(len(words), maxTerms)], nil
}

// stopWords say nothing about what a question is after. Those of the larger
// languages that separate words by spaces.
var stopWords = set(`
a an and are as at be been but by can could did do does for from had has have he her his how i if in into is it its
just like me my no not of on or our she should so some such than that the their them then there these they this to
us was we were what when where which who why will with would you your about tell please again said say ever
der die das und ist ich du er sie es wir ihr ein eine einen einem einer nicht mit auf für von zu den dem des im was
wie wo wann wer warum hat habe haben sind war mir mich dich dir uns euch noch auch aber oder
le la les un une des et est je tu il elle nous vous ils elles ne pas que qui quoi où quand pour dans sur avec ce
cette mon ma mes ton ta son sa au aux du de en
el los las una unos y es yo tú él ella nosotros no que qué quién dónde cuándo cómo por para con en de del al se lo mi tu su
o os um uma e é eu ele ela nós que quem onde quando como por para com em do da dos das no na se meu sua
и в на не что я ты он она мы вы они как это где когда кто почему с к по из за у от до о же бы мне
`)

func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
