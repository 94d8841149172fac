package store

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
)

// IndexText prepares a text for the index: the tokenizer does not split Chinese,
// Japanese or Korean, so a run of their characters becomes its overlapping pairs
// and its last character alone. 我爱猫 is indexed as 我爱 爱猫 猫: a longer term is
// found as a phrase of pairs, a single character as the beginning of a token.
// Text without such runs is returned as it is.
func IndexText(s string) string {
	start := strings.IndexFunc(s, isCJK)
	if start < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) * 3)
	b.WriteString(s[:start])
	for rest := s[start:]; rest != ""; {
		run := runLength(rest, true)
		writePairs(&b, rest[:run])
		rest = rest[run:]
		plain := runLength(rest, false)
		b.WriteString(rest[:plain])
		rest = rest[plain:]
	}
	return b.String()
}

// runLength is how many bytes at the start of s are (or are not) CJK.
func runLength(s string, cjk bool) int {
	n := strings.IndexFunc(s, func(r rune) bool { return isCJK(r) != cjk })
	if n < 0 {
		return len(s)
	}
	return n
}

// writePairs writes a run's tokens, set off from what stands beside it.
func writePairs(b *strings.Builder, run string) {
	if run == "" {
		return
	}
	b.WriteByte(' ')
	for run != "" {
		_, one := utf8.DecodeRuneInString(run)
		_, two := utf8.DecodeRuneInString(run[one:])
		b.WriteString(run[:one+two])
		b.WriteByte(' ')
		run = run[one:]
	}
}

// isCJK reports a character of a script written without spaces between words.
func isCJK(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) ||
		r == 0x30FC || r == 0xFF70 // the long vowel mark belongs to no one script
}

// matchTerm is one term as an FTS5 expression: quoted, so that nothing in it is
// syntax. Empty if there is nothing to look for in it.
func matchTerm(term string) string {
	term = strings.TrimFunc(clean(term), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if !strings.ContainsFunc(term, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return ""
	}
	quoted := `"` + strings.ReplaceAll(queryPairs(term), `"`, `""`) + `"`
	if endsInCJK(term) && utf8.RuneCountInString(lastRun(term)) == 1 {
		quoted += "*" // a single character is the beginning of pairs
	}
	return quoted
}

// queryPairs is IndexText without the last character alone, which stands at the
// end of runs and would not be found inside one.
func queryPairs(term string) string {
	fields := strings.Fields(IndexText(term))
	if n := len(fields); n > 1 && endsInCJK(term) && utf8.RuneCountInString(lastRun(term)) > 1 {
		fields = fields[:n-1]
	}
	return strings.Join(fields, " ")
}

func endsInCJK(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return isCJK(r)
}

// lastRun is the CJK run a term ends in.
func lastRun(term string) string {
	n := strings.LastIndexFunc(term, func(r rune) bool { return !isCJK(r) })
	if n < 0 {
		return term
	}
	_, size := utf8.DecodeRuneInString(term[n:])
	return term[n+size:]
}

// matchAny ORs the terms.
func matchAny(terms []string) string {
	var parts []string
	for _, term := range terms {
		if m := matchTerm(term); m != "" {
			parts = append(parts, m)
		}
	}
	return strings.Join(parts, " OR ")
}

type hitRow struct {
	UnitID       string
	ChunkID      string
	SessionID    string
	BranchID     string
	TurnID       string
	TurnSeq      int64
	Role         string
	StartOffset  int
	EndOffset    int
	Message      string // what the chunk is of, as JSON; empty when the chunk has its text itself
	ChunkText    string
	ChunkStart   int
	SessionTitle string
	CreatedAt    string
	Rank         float64
}

// span is the unit's part of its chunk: the words as they were said, without
// what was put before them for the index.
func (r hitRow) span() string {
	if r.Message != "" {
		m, err := decodeMessage(chat.Role(r.Role), r.Message)
		if whole := m.RenderedText(); err == nil && r.EndOffset <= len(whole) && r.StartOffset <= r.EndOffset {
			return whole[r.StartOffset:r.EndOffset]
		}
		return "" // verify reports such a message
	}
	from, to := r.StartOffset-r.ChunkStart, r.EndOffset-r.ChunkStart
	if from < 0 || to > len(r.ChunkText) || from > to {
		return r.ChunkText // verify reports such offsets
	}
	return r.ChunkText[from:to]
}

func (r hitRow) hit() chat.TextHit {
	return chat.TextHit{
		UnitID: chat.UnitID(r.UnitID), ChunkID: chat.ChunkID(r.ChunkID), SessionID: chat.SessionID(r.SessionID),
		BranchID: chat.BranchID(r.BranchID), TurnID: chat.TurnID(r.TurnID), TurnSeq: r.TurnSeq, Role: chat.Role(r.Role),
		Start: r.StartOffset, End: r.EndOffset, Text: r.span(), SessionTitle: r.SessionTitle,
		CreatedAt: moment(r.CreatedAt), Score: -r.Rank,
	}
}

// defaultHits is how many hits there are when no limit is given.
const defaultHits = 20

// SearchText finds units by their words, best first by bm25 (SPEC 8). Archived
// sessions are searched only when named. Cost grows with how common the terms
// are: choose rare ones by TermFrequencies.
func (s *Store) SearchText(ctx context.Context, q chat.TextQuery) ([]chat.TextHit, error) {
	match := matchAny(q.Terms)
	if match == "" {
		return nil, nil
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	var rows []hitRow
	err := s.read(ctx, "search.text", func(db *gorm.DB) error {
		with, where, args, err := searchScope(db, q)
		if err != nil {
			return err
		}
		if len(q.ExcludeTurns) > 0 {
			where += ` AND u.turn_id NOT IN ?`
			args = append(args, q.ExcludeTurns)
		}
		if with != "" {
			args = append([]any{args[0], match}, args[1:]...)
		} else {
			args = append([]any{match}, args...)
		}
		rows, err = all[hitRow](db, with+`
			SELECT u.id AS unit_id, u.chunk_id, u.session_id, u.branch_id, u.turn_id, u.turn_seq, u.message AS role,
			  u.start_offset, u.end_offset, c.rendered_text AS chunk_text,
			  CASE WHEN c.rendered_text <> '' THEN '' WHEN c.role = 'user' THEN t.user_message_json
			    ELSE coalesce(t.final_assistant_message_json, '') END AS message, c.start_offset AS chunk_start, s.title AS session_title, t.created_at, hit.rank
			FROM (
			  SELECT f.rowid AS n, f.rank FROM units_fts f CROSS JOIN units u ON u.n = f.rowid
			  WHERE units_fts MATCH ? `+where+` ORDER BY f.rank LIMIT ?
			) hit JOIN units u ON u.n = hit.n JOIN chunks c ON c.id = u.chunk_id JOIN turns t ON t.id = u.turn_id JOIN sessions s ON s.id = u.session_id
			ORDER BY hit.rank, t.created_at DESC, u.id`, append(args, limit)...)
		return err
	})
	out := make([]chat.TextHit, len(rows))
	for i, r := range rows {
		out[i] = r.hit()
	}
	return out, err
}

// searchScope is the condition on units u that a query's scope is, with the CTE
// it needs and its arguments, the CTE's first.
func searchScope(db *gorm.DB, q chat.TextQuery) (with, where string, args []any, err error) {
	const unarchived = `u.session_id IN (SELECT id FROM sessions WHERE archived_at IS NULL)`
	if q.Branch == "" {
		if q.Session != "" {
			return "", ` AND u.session_id = ?`, []any{q.Session}, nil
		}
		return "", ` AND ` + unarchived, nil, nil
	}
	segs, err := segments(db, q.Branch)
	if err != nil {
		return "", "", nil, err
	}
	scope, err := scopeJSON(segs)
	if err != nil {
		return "", "", nil, err
	}
	lineage := `EXISTS (SELECT 1 FROM seg WHERE seg.branch = u.branch_id AND u.turn_seq > seg."from" AND u.turn_seq <= seg."to")`
	if !q.OtherSessions {
		return scopeCTE, ` AND ` + lineage, []any{scope}, nil
	}
	return scopeCTE, ` AND (` + lineage + ` OR u.session_id <> ? AND ` + unarchived + `)`, []any{scope, segs[0].Session}, nil
}

// TermFrequencies tells in how many units each term occurs; for a term of
// several tokens, in how many its rarest one does.
func (s *Store) TermFrequencies(ctx context.Context, terms []string) (map[string]int, error) {
	tokens, err := s.tokens.split(ctx, terms)
	if err != nil {
		return nil, mapError("search.terms", err)
	}
	distinct := map[string]int{}
	for _, list := range tokens {
		for _, tok := range list {
			distinct[tok] = 0
		}
	}
	err = s.read(ctx, "search.terms", func(db *gorm.DB) error {
		for tok := range distinct {
			n, err := all[int](db, `SELECT doc FROM units_vocab WHERE term = ?`, tok)
			if err != nil {
				return err
			}
			if len(n) > 0 {
				distinct[tok] = n[0]
			}
		}
		return nil
	})
	out := make(map[string]int, len(terms))
	for i, term := range terms {
		out[term] = rarest(tokens[i], distinct)
	}
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

// tokenizer splits terms just as the index does, stems included, with a small
// index in memory of its own. It is made on first use.
type tokenizer struct {
	mu sync.Mutex
	db *gorm.DB
}

func (k *tokenizer) open() error {
	if k.db != nil {
		return nil
	}
	db, err := connect(":memory:", nil, 1)
	if err != nil {
		return err
	}
	for _, ddl := range []string{
		`CREATE VIRTUAL TABLE terms USING fts5 (body, tokenize='porter unicode61')`,
		`CREATE VIRTUAL TABLE tokens USING fts5vocab (terms, instance)`,
	} {
		if err := db.Exec(ddl).Error; err != nil {
			return errors.Join(err, disconnect(db))
		}
	}
	k.db = db
	return nil
}

// split is the tokens of each term, in the terms' order.
func (k *tokenizer) split(ctx context.Context, terms []string) ([][]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.open(); err != nil {
		return nil, err
	}
	tx := k.db.WithContext(ctx).Begin()
	if tx.Error != nil {
		return nil, tx.Error
	}
	defer tx.Rollback() // the terms are never kept
	for i, term := range terms {
		if err := tx.Exec(`INSERT INTO terms (rowid, body) VALUES (?, ?)`, i+1, queryPairs(clean(term))).Error; err != nil {
			return nil, err
		}
	}
	found, err := all[struct {
		Term string
		Doc  int
	}](tx, `SELECT term, doc FROM tokens`)
	out := make([][]string, len(terms))
	for _, f := range found {
		out[f.Doc-1] = append(out[f.Doc-1], f.Term)
	}
	return out, err
}

func (k *tokenizer) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := disconnect(k.db)
	k.db = nil
	return err
}
