package search

import (
	"context"
	"slices"

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
