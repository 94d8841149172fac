package retrieval

import (
	"context"

	"contextinfinity/backend/chat"
)

// Index is the full-text index.
type Index interface {
	TermFrequencies(ctx context.Context, terms []string) (map[string]int, error)
	SearchText(context.Context, chat.TextQuery) ([]chat.TextHit, error)
}

// maxWords bounds how much of a query is looked at: a pasted document is no
// better a question than its beginning.
const maxWords = 400

// Everywhere finds what was said in all of the user's memory but the sibling
// branches of the given one (SPEC 2.7, 9). Best first; an empty result means
// that no word of the query occurs.
func Everywhere(ctx context.Context, index Index, branch chat.BranchID, query string, limit int) ([]chat.TextHit, error) {
	words := Terms(query)
	if len(words) == 0 {
		return nil, nil
	}
	words = words[:min(len(words), maxWords)]
	freq, err := index.TermFrequencies(ctx, words)
	if err != nil {
		return nil, err
	}
	terms := Rarest(words, freq, MaxTerms)
	if len(terms) == 0 {
		return nil, nil
	}
	return index.SearchText(ctx, chat.TextQuery{Terms: terms, Branch: branch, OtherSessions: branch != "", Limit: limit})
}
