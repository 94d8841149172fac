package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Search for words in all sessions. The text index names the units that contain each of the words, newest first. If
// those are few, the units with the rarest word are read, and their messages are searched for the others. Turns that
// are not indexed yet, or never will be, are few and are scanned.

const (
	// maxFound limits the units that are read: for frequent words, only the newest.
	maxFound = 400
	// fewFound is the number of results below which messages of units with the rarest word are read.
	fewFound = 30
	// maxScanned limits the turns without index that are scanned, newest first.
	maxScanned = 2000
)

// SearchText finds messages and titles that contain the words of a query.
func (s *Search) SearchText(ctx context.Context, q chat.TextQuery) (chat.TextResult, error) {
	out := chat.TextResult{Titles: map[chat.SessionID][]chat.Span{}, Sessions: map[chat.SessionID]chat.Session{}}
	terms := highlight.Parse(schema.Clean(q.Text))
	if len(terms) == 0 {
		return out, nil
	}
	q.Archived = q.Archived || q.Session != "" // naming a session includes it even if archived
	rare, apart, err := s.occurrences(ctx, terms)
	if err != nil {
		return out, err
	}
	for i, t := range terms {
		if len(apart[t.Text]) == 0 {
			terms[i] = t.Whole()
		}
	}
	err = s.Read(ctx, "search.text", func(db *gorm.DB) error {
		w := &textSearch{db: db, q: q, terms: terms, apart: apart, out: &out, seen: map[messageKey]bool{}}
		return w.run(rare)
	})
	slices.SortStableFunc(out.Hits, func(a, b chat.TextHit) int {
		switch {
		case a.Score != b.Score:
			return descending(a.Score, b.Score)
		default:
			return b.At.Compare(a.At)
		}
	})
	return out, err
}

func descending(a, b float64) int {
	if a > b {
		return -1
	}
	return 1
}

// maxApart limits the terms of a query that are looked up as two words.
const maxApart = 6

// occurrences returns the index of the term that occurs in the fewest units, -1 if there is only one term, and for each
// term that memory does not contain the forms in which it is written as two words.
func (s *Search) occurrences(ctx context.Context, terms []highlight.Term) (rare int, apart map[string][]string, err error) {
	words, lookups := lists.Map(terms, func(t highlight.Term) string { return t.Text }), 0
	counts, err := s.TermFrequencies(ctx, words)
	if err != nil {
		return -1, nil, err
	}
	rare, least := -1, 0
	apart = map[string][]string{}
	for i, t := range terms {
		n := counts[t.Text]
		if n == 0 && !t.Phrase && lookups < maxApart {
			lookups++
			forms, err := s.Apart(ctx, lexical.Fold(strings.ToLower(t.Text)))
			if err != nil {
				return -1, nil, err
			}
			apart[t.Text] = lists.Map(forms, func(f chat.TermCount) string { return f.Term })
		}
		if len(terms) > 1 && !t.Prefix && n > 0 && (rare < 0 || n < least) {
			rare, least = i, n
		}
	}
	return rare, apart, nil
}

// textSearch is one search.
type textSearch struct {
	db    *gorm.DB
	q     chat.TextQuery
	terms []highlight.Term
	apart map[string][]string // term -> its forms as two words
	out   *chat.TextResult
	seen  map[messageKey]bool // messages and documents already searched
}

// messageKey identifies a message of a turn, or a document of it.
type messageKey struct {
	turn, file string
	role       chat.Role
}

func (w *textSearch) run(rare int) error {
	if err := w.titles(); err != nil {
		return err
	}
	if err := w.units(w.match(w.terms, false), true); err != nil {
		return err
	}
	if len(w.out.Hits) < fewFound && len(w.terms[len(w.terms)-1].Beginnings()) > 0 {
		if err := w.units(w.match(w.terms, true), false); err != nil {
			return err
		}
	}
	if len(w.out.Hits) < fewFound && rare >= 0 {
		if err := w.units(w.match(w.terms[rare:rare+1], false), false); err != nil {
			return err
		}
	}
	if err := w.unindexed(); err != nil {
		return err
	}
	return w.locate()
}

// match returns the terms as an FTS5 expression that requires all of them. With stems, a partly typed word is
// replaced by the words it may begin.
func (w *textSearch) match(terms []highlight.Term, stems bool) string {
	var parts []string
	for _, t := range terms {
		m := MatchTerm(t.Text)
		switch {
		case m == "":
			continue
		case t.Prefix && stems:
			if m = MatchAny(t.Beginnings()); m == "" {
				continue
			}
		case t.Prefix:
			m = matchForms(t.Text, "*")
		}
		if two := MatchAny(w.apart[t.Text]); two != "" {
			m += " OR " + two
		}
		parts = append(parts, "("+m+")")
	}
	return strings.Join(parts, " AND ")
}

// titles finds the sessions with a title that contains all terms.
func (w *textSearch) titles() error {
	if w.q.Role != "" || !w.q.Since.IsZero() || !w.q.Until.IsZero() {
		return nil // a title has neither a speaker nor a time
	}
	rows, err := sqlite.All[schema.SessionRow](w.db, `SELECT * FROM sessions s WHERE (? OR archived_at IS NULL) AND `+schema.Conversations+` AND (? = '' OR id = ?)`,
		w.q.Archived, w.q.Session, w.q.Session)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if spans, _, ok := highlight.All(r.Title, w.terms); ok {
			id := chat.SessionID(r.ID)
			w.out.Sessions[id] = r.Session()
			w.out.Titles[id] = chatSpans(spans)
		}
	}
	return nil
}

func chatSpans(spans []highlight.Span) []chat.Span {
	return lists.Map(spans, func(sp highlight.Span) chat.Span { return chat.Span{Start: sp.Start, End: sp.End} })
}

// within is the query as a condition on units u, or on turns where a turn is its unit.
func (w *textSearch) within() (condition, error) {
	r := scope{Within: chat.Within{Scope: chat.ScopeAll, Session: w.q.Session, Role: w.q.Role, Since: w.q.Since, Until: w.q.Until, Archived: w.q.Archived}}
	if w.q.Session != "" {
		r.Scope = chat.ScopeSession
	}
	return r.units()
}

// unitFound is a unit that the text index returned.
type unitFound struct {
	Chunk, Turn, File string
	Role              chat.Role
	Start, End        int
}

// units reads the newest matching units. Their text is searched for the terms; hasAll means that the match required
// all of them, so that finding one in the text is enough: the index knows more word forms.
func (w *textSearch) units(match string, hasAll bool) error {
	if match == "" {
		return nil
	}
	c, err := w.within()
	if err != nil {
		return err
	}
	rows, err := sqlite.All[unitFound](w.db, `SELECT u.chunk_id AS chunk, u.turn_id AS turn, u.message AS role, u.start_offset AS start, u.end_offset AS end,
		  coalesce((SELECT file_id FROM chunks WHERE id = u.chunk_id), '') AS file
		FROM (SELECT rowid AS n FROM units_fts WHERE units_fts MATCH ? ORDER BY rowid DESC) f CROSS JOIN units u ON u.n = f.n
		WHERE true`+c.where+` LIMIT ?`, append(append([]any{match}, c.args...), maxFound+1)...)
	if err != nil {
		return err
	}
	if len(rows) > maxFound {
		rows, w.out.Truncated = rows[:maxFound], true
	}
	return w.read(rows, hasAll)
}

// read searches the text of units that were found, each message once.
func (w *textSearch) read(rows []unitFound, hasAll bool) error {
	var ids []chat.ChunkID
	var fresh []unitFound
	requested := map[messageKey]bool{}
	for _, r := range rows {
		key := messageKey{r.Turn, r.File, r.Role}
		if !w.seen[key] && !requested[key] {
			requested[key] = true
			ids, fresh = append(ids, chat.ChunkID(r.Chunk)), append(fresh, r)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	texts, err := delta.NewSources(w.db).Chunks(ids)
	if err != nil {
		return err
	}
	byID := make(map[chat.ChunkID]chat.ChunkText, len(texts))
	for _, t := range texts {
		byID[t.ID] = t
	}
	for _, r := range fresh {
		t, ok := byID[chat.ChunkID(r.Chunk)]
		if !ok {
			continue // its source is unreadable: verify reports it
		}
		w.addHit(messageKey{r.Turn, r.File, r.Role}, chat.TextHit{
			Turn: t.SourceTurn, Session: t.SessionID, Branch: t.BranchID, Seq: t.TurnSeq, Role: r.Role, At: t.At,
		}, around(t.Source, r), hasAll)
	}
	return nil
}

// aroundUnit is how far from a found unit of a document other words may be.
const aroundUnit = 4096

// around returns the text searched for a unit: its message, or the surrounding part of its document.
func around(source string, r unitFound) string {
	if r.File == "" {
		return source
	}
	from, to := max(0, r.Start-aroundUnit), min(len(source), r.End+aroundUnit)
	return strings.ToValidUTF8(source[from:to], "")
}

// addHit adds a message to the hits if it contains all terms.
func (w *textSearch) addHit(key messageKey, hit chat.TextHit, words string, hasAll bool) {
	spans, score, ok := highlight.All(words, w.terms)
	w.seen[key] = true
	if !ok && !(hasAll && len(spans) > 0) { // the index also contains words before a unit's text
		return
	}
	hit.Snippet, hit.Spans = snippet(words, spans, key.role == chat.RoleAssistant && key.file == "")
	hit.Score = score
	w.out.Hits = append(w.out.Hits, hit)
}

// unindexedTurns selects the turns that are not in the text index, through their partial indexes.
const unindexedTurns = `SELECT id FROM turns INDEXED BY idx_turns_pending WHERE phase = 'ResponseFinalized'
	UNION ALL SELECT id FROM turns INDEXED BY idx_turns_unindexed WHERE phase = 'StateCommitted'
	UNION ALL SELECT id FROM turns INDEXED BY idx_turns_unfinished WHERE phase IN ('Accepted', 'ContextPrepared', 'Responding')
	UNION ALL SELECT id FROM turns INDEXED BY idx_turns_failed WHERE phase = 'Failed'`

// unindexed scans the turns that are not indexed, newest first.
func (w *textSearch) unindexed() error {
	rows, err := w.db.Raw(`SELECT t.id, t.session_id, t.branch_id, t.turn_seq, t.created_at, t.user_message_json, t.final_assistant_message_json
		FROM (SELECT id FROM (`+unindexedTurns+`) ORDER BY id DESC LIMIT ?) x CROSS JOIN turns t ON t.id = x.id
		WHERE (? = '' OR t.session_id = ?) AND t.session_id NOT IN (SELECT id FROM sessions WHERE archived_at IS NOT NULL AND (NOT ? OR source = 'files'))
		  AND t.created_at >= ? AND t.created_at < ?`,
		maxScanned, w.q.Session, w.q.Session, w.q.Archived, stampOr(w.q.Since, ""), stampOr(w.q.Until, core.EndOfTime)).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var hit chat.TextHit
		var at, user string
		var answer *string
		if err := rows.Scan(&hit.Turn, &hit.Session, &hit.Branch, &hit.Seq, &at, &user, &answer); err != nil {
			return err
		}
		hit.At = schema.ParseTime(at)
		w.scan(hit, chat.RoleUser, &user)
		w.scan(hit, chat.RoleAssistant, answer)
	}
	return rows.Err()
}

func stampOr(t time.Time, zero string) string {
	if t.IsZero() {
		return zero
	}
	return chat.FormatTime(t)
}

// scan searches a stored message.
func (w *textSearch) scan(hit chat.TextHit, role chat.Role, raw *string) {
	key := messageKey{turn: string(hit.Turn), role: role}
	if raw == nil || w.seen[key] || w.q.Role != "" && w.q.Role != role {
		return
	}
	for _, t := range w.terms {
		if !t.InJSON(*raw) {
			return
		}
	}
	if m, err := schema.DecodeMessage(role, *raw); err == nil {
		hit.Role = role
		w.addHit(key, hit, m.RenderedText(), false)
	}
}

// locate reads the sessions of the hits, and chooses for each hit a branch that shows it: the session's active one if
// it does, otherwise the turn's own.
func (w *textSearch) locate() error {
	branches := map[chat.BranchID]string{}
	shown := map[chat.SessionID][]core.Segment{}
	for i := range w.out.Hits {
		hit := &w.out.Hits[i]
		s, ok := w.out.Sessions[hit.Session]
		if !ok {
			row, err := schema.SessionByID(w.db, hit.Session)
			if err != nil {
				return err
			}
			s = row.Session()
			w.out.Sessions[hit.Session] = s
		}
		if hit.Branch != s.ActiveBranch {
			segs, ok := shown[s.ID]
			if !ok {
				var err error
				if segs, err = core.Segments(w.db, s.ActiveBranch); err != nil {
					return err
				}
				shown[s.ID] = segs
			}
			if core.Shows(segs, schema.TurnRow{BranchID: string(hit.Branch), TurnSeq: hit.Seq}) {
				hit.Branch = s.ActiveBranch
			}
		}
		if _, ok := branches[hit.Branch]; !ok {
			b, err := schema.BranchByID(w.db, hit.Branch)
			if err != nil {
				return err
			}
			branches[hit.Branch] = b.Label
		}
		hit.BranchLabel = branches[hit.Branch]
	}
	return nil
}
