package search

import (
	"cmp"
	"context"
	"slices"
	"unicode"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/store/sqlite"
)

// maxVocabulary limits how many words of the index are read for one term.
const maxVocabulary = 100_000

// Vocabulary returns the token of a term in the index, and the tokens that begin with the same letters and are at
// most margin letters longer or shorter. The cost depends on how common words with this beginning are. It returns
// none for a term of several tokens, or in a script that is indexed by pairs of characters.
func (s *Search) Vocabulary(ctx context.Context, term string, letters, margin int) (token string, similar []chat.TermCount, err error) {
	tokens, err := s.Tokens.split(ctx, []string{term})
	if err != nil {
		return "", nil, sqlite.MapError("search.vocabulary", err)
	}
	if len(tokens[0]) != 1 {
		return "", nil, nil
	}
	token = tokens[0][0]
	runes := []rune(token)
	if lexical.IsUnspaced(runes[0]) {
		return "", nil, nil
	}
	beginning := runes[:min(max(letters, 1), len(runes))]
	next := slices.Clone(beginning)
	next[len(next)-1]++
	err = s.Read(ctx, "search.vocabulary", func(db *gorm.DB) error {
		similar, err = sqlite.All[chat.TermCount](db, `SELECT term, doc AS units FROM (SELECT term, doc FROM units_vocab WHERE term >= ? AND term < ? LIMIT ?)
			WHERE length(term) BETWEEN ? AND ?`, string(beginning), string(next), maxVocabulary, len(runes)-margin, len(runes)+margin)
		return err
	})
	return token, similar, err
}

// The lengths in letters of a word that may be written as two.
const (
	shortestApart = 4
	longestApart  = 40
)

// Apart returns the forms in which memory writes a word as two in succession, the most common first: user name for
// username, o brien for obrien.
func (s *Search) Apart(ctx context.Context, word string) ([]chat.TermCount, error) {
	letters := []rune(word)
	if len(letters) < shortestApart || len(letters) > longestApart ||
		slices.ContainsFunc(letters, func(r rune) bool { return !unicode.IsLetter(r) || lexical.IsSingle(r) }) {
		return nil, nil
	}
	var halves []string
	for i := 1; i < len(letters); i++ {
		halves = append(halves, string(letters[:i]), string(letters[i:]))
	}
	known, err := s.TermFrequencies(ctx, halves)
	if err != nil {
		return nil, err
	}
	var out []chat.TermCount
	err = s.Read(ctx, "search.apart", func(db *gorm.DB) error {
		for pair := range slices.Chunk(halves, 2) {
			if known[pair[0]] == 0 || known[pair[1]] == 0 {
				continue
			}
			two := pair[0] + " " + pair[1]
			n, err := countMatches(db, MatchTerm(two))
			if err != nil {
				return err
			}
			if n > 0 {
				out = append(out, chat.TermCount{Term: two, Units: n})
			}
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b chat.TermCount) int { return cmp.Compare(b.Units, a.Units) })
	return out, err
}
