// Package search indexes and searches memory: the text index, its units, their vectors, and the scope of a search.
package search

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/numerals"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Search searches memory by terms and by vectors.
type Search struct {
	*core.Core
	Tokens   tokenizer
	embedded watermarks
	cache    vectorCache
	units    unitCache
}

// MatchTerm returns one term as a quoted FTS5 expression, so that nothing in it is syntax. A number also matches with
// digit grouping: 1000 finds 1,000, which is two tokens in the index. Empty if the term has no searchable token.
func MatchTerm(term string) string { return matchForms(term, "") }

// matchForms is MatchTerm with a suffix after each form that could be the beginning of a token.
func matchForms(term, suffix string) string {
	term = lexical.Trim(lexical.Fold(schema.Clean(term)))
	if !strings.ContainsFunc(term, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || lexical.IsEmoji(r) }) {
		return ""
	}
	phrase, _ := lexical.Phrase(term)
	if lexical.IsBeginning(term) {
		suffix = "*"
	}
	if joined, groups, ok := numerals.Forms(term); ok {
		return `"` + joined + `"` + suffix + ` OR "` + groups + `"` + suffix
	}
	return `"` + strings.ReplaceAll(phrase, `"`, `""`) + `"` + suffix
}

// MatchAny combines the terms with OR.
func MatchAny(terms []string) string {
	var parts []string
	for _, term := range terms {
		if m := MatchTerm(term); m != "" {
			parts = append(parts, m)
		}
	}
	return strings.Join(parts, " OR ")
}

// defaultHits is the number of hits without a limit.
const defaultHits = 20

// maxCounted limits what is read to count a number with digit grouping.
const maxCounted = 30_000

// otherForms counts the units, at most maxCounted, in which a term occurs in a form that is not a token: as a grouped
// number, or as the beginning of a token.
func otherForms(db *gorm.DB, term string) (int, error) {
	match := ""
	if lexical.IsBeginning(term) {
		match = MatchTerm(term)
	} else if _, groups, ok := numerals.Forms(term); ok {
		match = `"` + groups + `"`
	}
	if match == "" {
		return 0, nil
	}
	return countMatches(db, match)
}

// countMatches counts the units that match an FTS5 expression, at most maxCounted.
func countMatches(db *gorm.DB, match string) (int, error) {
	return sqlite.One[int](db, "search.terms", "",
		`SELECT count(*) FROM (SELECT 1 FROM units_fts WHERE units_fts MATCH ? LIMIT ?)`, match, maxCounted)
}

// maxTokens limits the tokens that are looked up by one statement.
const maxTokens = 500

// TermFrequencies returns in how many units each term occurs, a number in any form; for a term of several tokens, the
// count of its rarest one.
func (s *Search) TermFrequencies(ctx context.Context, terms []string) (map[string]int, error) {
	indexed := slices.Clone(terms)
	for i, term := range terms {
		if joined, _, ok := numerals.Forms(term); ok {
			indexed[i] = joined
		}
	}
	tokens, err := s.Tokens.split(ctx, indexed)
	if err != nil {
		return nil, sqlite.MapError("search.terms", err)
	}
	distinct := map[string]int{}
	for _, list := range tokens {
		for _, tok := range list {
			distinct[tok] = 0
		}
	}
	out := make(map[string]int, len(terms))
	err = s.Read(ctx, "search.terms", func(db *gorm.DB) error {
		for some := range slices.Chunk(slices.Collect(maps.Keys(distinct)), maxTokens) {
			known, err := sqlite.All[chat.TermCount](db, `SELECT term, doc AS units FROM units_vocab WHERE term IN ?`, some)
			if err != nil {
				return err
			}
			for _, k := range known {
				distinct[k.Term] = k.Units
			}
		}
		for i, term := range terms {
			n, err := otherForms(db, schema.Clean(term))
			if err != nil {
				return err
			}
			if lexical.IsBeginning(schema.Clean(term)) {
				out[term] = n
				continue
			}
			out[term] = rarest(tokens[i], distinct) + n
		}
		return nil
	})
	return out, err
}

func rarest(tokens []string, frequency map[string]int) int {
	if len(tokens) == 0 {
		return 0
	}
	least := math.MaxInt
	for _, tok := range tokens {
		least = min(least, frequency[tok])
	}
	return least
}

// tokenizer splits terms exactly as the index does, including stemming, using a small in-memory index that is created
// on first use.
type tokenizer struct {
	mu sync.Mutex
	db *gorm.DB
}

func (k *tokenizer) open() error {
	if k.db != nil {
		return nil
	}
	db, err := sqlite.Connect(":memory:", nil, 1)
	if err != nil {
		return err
	}
	for _, ddl := range []string{
		`CREATE VIRTUAL TABLE terms USING fts5 (body, tokenize='porter unicode61')`,
		`CREATE VIRTUAL TABLE tokens USING fts5vocab (terms, instance)`,
	} {
		if err := db.Exec(ddl).Error; err != nil {
			return errors.Join(err, sqlite.Disconnect(db))
		}
	}
	k.db = db
	return nil
}

// split returns the tokens of each term, in the terms' order. The in-memory index is needed for few terms: creating
// it takes longer than most searches.
func (k *tokenizer) split(ctx context.Context, terms []string) ([][]string, error) {
	out, others := make([][]string, len(terms)), map[int]string{}
	for i, term := range terms {
		phrase, _ := lexical.Phrase(schema.Clean(term))
		if token, ok := lexical.IndexToken(phrase); ok {
			out[i] = []string{token}
		} else {
			others[i] = phrase
		}
	}
	if len(others) == 0 {
		return out, ctx.Err()
	}
	return out, k.splitByIndex(ctx, others, out)
}

// splitByIndex adds the tokens of phrases to out. It cannot be cancelled once begun: a cancelled transaction closes its
// connection, and with it the in-memory index.
func (k *tokenizer) splitByIndex(ctx context.Context, phrases map[int]string, out [][]string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := k.open(); err != nil {
		return err
	}
	tx := k.db.WithContext(context.WithoutCancel(ctx)).Begin()
	if tx.Error != nil {
		return tx.Error
	}
	defer tx.Rollback() // the terms are never stored
	for i, phrase := range phrases {
		if err := tx.Exec(`INSERT INTO terms (rowid, body) VALUES (?, ?)`, i+1, phrase).Error; err != nil {
			return err
		}
	}
	found, err := sqlite.All[struct {
		Term string
		Doc  int
	}](tx, `SELECT term, doc FROM tokens`)
	for _, f := range found {
		out[f.Doc-1] = append(out[f.Doc-1], f.Term)
	}
	return err
}

func (k *tokenizer) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := sqlite.Disconnect(k.db)
	k.db = nil
	return err
}
