package search

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// SearchUnits finds units with any of the terms, best first by bm25 (SPEC 8). The cost depends on how common the
// terms are: choose rare ones with TermFrequencies. Nothing in a term is syntax.
func (s *Search) SearchUnits(ctx context.Context, terms []string, in chat.Within, limit int) ([]chat.UnitScore, error) {
	match := MatchAny(terms)
	if match == "" {
		return nil, nil
	}
	if limit <= 0 {
		limit = defaultHits
	}
	var out []chat.UnitScore
	err := s.Read(ctx, "search.units", func(db *gorm.DB) error {
		r, err := scopeOf(db, in)
		if err != nil {
			return err
		}
		first, last, err := r.rows(db)
		if err != nil || last < first {
			return err
		}
		c, err := r.units()
		if err != nil {
			return err
		}
		matching := []any{match, first, last}
		if filter, ok, err := r.placeFilter(db); err != nil {
			return err
		} else if ok && c.where != "" {
			out, err = s.matchesIn(db, filter, matching, limit)
			return err
		}
		out, err = matches(db, c, matching, limit, nil)
		return err
	})
	slices.SortFunc(out, func(a, b chat.UnitScore) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.N, b.N)) })
	return out, err
}

// matches finds units whose text matches an FTS5 expression, within row numbers and under a condition, best first. A
// filter, if there is one, receives them in batches and returns the ones to keep.
func matches(db *gorm.DB, c condition, matching []any, limit int, filter func([]chat.UnitScore) ([]chat.UnitScore, error)) ([]chat.UnitScore, error) {
	join, rowLimit := `CROSS JOIN units u ON u.n = f.n `, limit
	if c.where == "" {
		join = `` // no scope limits: the row of a unit need not be read
	}
	if filter != nil {
		rowLimit = -1
	}
	// The ORDER BY is not the score alone: FTS5 would then sort by itself and compute each score again in an
	// order that reads the pages of lengths over and over. For common terms the limit ends the reading early.
	rows, err := db.Raw(c.with+`SELECT f.n, -f.worth FROM (SELECT rowid AS n, rank AS worth FROM units_fts
		  WHERE units_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY worth, n LIMIT -1) f `+join+`
		WHERE true`+c.where+` LIMIT ?`, slices.Concat(c.head, matching, c.args, []any{rowLimit})...).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []chat.UnitScore
	for more := true; more && len(out) < limit; {
		var batch []chat.UnitScore
		for len(batch) < limit && more {
			if more = rows.Next(); more {
				var u chat.UnitScore
				if err := rows.Scan(&u.N, &u.Score); err != nil {
					return nil, err
				}
				batch = append(batch, u)
			}
		}
		if filter != nil {
			if batch, err = filter(batch); err != nil {
				return nil, err
			}
		}
		out = append(out, batch[:min(len(batch), limit-len(out))]...)
	}
	return out, rows.Err()
}

// matchesIn finds matching units in scope, best first. The places of units are cached: reading them for each of
// thousands of matches took most of the time of a search.
func (s *Search) matchesIn(db *gorm.DB, in placeFilter, matching []any, limit int) ([]chat.UnitScore, error) {
	generation, err := generationOf(db)
	if err != nil {
		return nil, err
	}
	return matches(db, condition{}, matching, limit, func(batch []chat.UnitScore) ([]chat.UnitScore, error) {
		places, err := s.placesOf(db, generation, lists.Map(batch, func(u chat.UnitScore) int64 { return u.N }))
		return slices.DeleteFunc(batch, func(u chat.UnitScore) bool {
			at, ok := places[u.N]
			return !ok || !in.contains(u.N, at)
		}), err
	})
}

// Units reads units, in no order. Deleted ones, and those outside the scope, are left out.
func (s *Search) Units(ctx context.Context, in chat.Within, ns []int64) ([]chat.UnitRef, error) {
	if len(ns) == 0 {
		return nil, nil
	}
	ns = slices.Clone(ns)
	slices.Sort(ns)
	ns = slices.Compact(ns)
	return s.unitRefs(ctx, in, unitSource{numbered, func(scope) any { return ns }, ns})
}

// UnitsNear reads the units of turns, in (branch, seq, chunk, unit) order. A span of the scope's lineage continues
// across fork points: it names turns of the lineage, whatever branch they belong to.
func (s *Search) UnitsNear(ctx context.Context, in chat.Within, spans []chat.SeqSpan) ([]chat.UnitRef, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	out, err := s.unitRefs(ctx, in, unitSource{ofTurns, func(r scope) any { return r.near(spans) }, nil})
	slices.SortFunc(out, func(a, b chat.UnitRef) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ChunkOrdinal, b.ChunkOrdinal),
			cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.N, b.N))
	})
	return out, err
}

// Separators between the columns and the rows of a list that is read as one text.
const (
	columnSign = "\x1f"
	rowSign    = "\x1e"
)

// unitSource says which units are read.
type unitSource struct {
	from string          // SQL with one parameter: the list
	list func(scope) any // their numbers, or turns as [branch, from, to]
	ns   []int64         // their numbers, if they are known
}

const (
	numbered = `json_each(?) j CROSS JOIN units u ON u.n = j.value`
	ofTurns  = `json_each(?) j CROSS JOIN units u INDEXED BY idx_units_branch ON u.branch_id = j.value ->> 0
		AND u.turn_seq BETWEEN j.value ->> 1 AND j.value ->> 2`
)

// unitRefs reads units in scope. Units that are cached are not read again.
func (s *Search) unitRefs(ctx context.Context, in chat.Within, source unitSource) ([]chat.UnitRef, error) {
	var out []chat.UnitRef
	err := s.Read(ctx, "search.read", func(db *gorm.DB) error {
		r, err := scopeOf(db, in)
		if err != nil {
			return err
		}
		list, err := chat.MarshalJSON(source.list(r))
		if err != nil {
			return err
		}
		filter, ok, err := r.placeFilter(db)
		if err != nil {
			return err
		}
		if !ok {
			c, err := r.units()
			if err != nil {
				return err
			}
			out, err = readUnits(db, c, source.from, list)
			return err
		}
		generation, err := generationOf(db)
		if err != nil {
			return err
		}
		ns := source.ns
		if ns == nil {
			if ns, err = sqlite.All[int64](db, `SELECT u.n FROM `+source.from, string(list)); err != nil {
				return err
			}
		}
		out, err = s.unitsOf(db, generation, ns)
		out = slices.DeleteFunc(out, func(u chat.UnitRef) bool { return !filter.contains(u.N, placeOf(u)) })
		return err
	})
	return out, err
}

// readUnits reads the units of a source under a condition. All rows are read as one text: a search reads a thousand
// rows of seventeen columns, and fetching each value through the driver takes twice as long.
func readUnits(db *gorm.DB, c condition, from string, list []byte) ([]chat.UnitRef, error) {
	var rows string
	if err := db.Raw(c.with+`SELECT coalesce(group_concat(concat_ws(char(31), u.n, u.id, u.chunk_id, u.session_id, u.branch_id, u.turn_id, u.turn_seq,
		  c.ordinal, u.ordinal, u.message, c.chunk_type, coalesce(c.file_id, ''), u.start_offset, u.end_offset, u.tokens, t.created_at,
		  replace(substr(u.text, 1, 80), char(30), ' ')), char(30)), '')
		FROM `+from+` CROSS JOIN chunks c ON c.id = u.chunk_id CROSS JOIN turns t INDEXED BY idx_turns_created ON t.id = u.turn_id WHERE true`+c.where,
		slices.Concat(c.head, []any{string(list)}, c.args)...).Row().Scan(&rows); err != nil {
		return nil, err
	}
	var out []chat.UnitRef
	for row := range strings.SplitSeq(rows, rowSign) {
		if row != "" {
			u, err := unitRefOf(row)
			if err != nil {
				return nil, err
			}
			out = append(out, u)
		}
	}
	return out, nil
}

// unitRefOf parses a row of readUnits.
func unitRefOf(row string) (u chat.UnitRef, err error) {
	text := func() string {
		v, rest, _ := strings.Cut(row, columnSign)
		row = rest
		return v
	}
	number := func() int64 {
		n, e := strconv.ParseInt(text(), 10, 64)
		err = cmp.Or(err, e)
		return n
	}
	u.N, u.ID, u.Chunk = number(), chat.UnitID(text()), chat.ChunkID(text())
	u.Session, u.Branch, u.Turn, u.Seq = chat.SessionID(text()), chat.BranchID(text()), chat.TurnID(text()), number()
	u.ChunkOrdinal, u.Ordinal = int(number()), int(number())
	u.Role, u.Type, u.File = chat.Role(text()), chat.ChunkType(text()), chat.FileID(text())
	u.Start, u.End, u.Tokens = int(number()), int(number()), int(number())
	u.At = schema.ParseTime(text())
	if u.File == "" {
		u.Speaker = strings.Clone(SpeakerIn(row)) // the text is the last column
	}
	return u, err
}

// SpeakerIn returns the person named in an indexed text, "[date] name, heading: words"; empty if it only has a role.
func SpeakerIn(indexed string) string {
	_, rest, dated := strings.Cut(indexed, "] ")
	name, _, named := strings.Cut(rest, ": ")
	name, _, _ = strings.Cut(name, ", ") // headings may follow
	if !dated || !named || name == string(chat.RoleUser) || name == string(chat.RoleAssistant) {
		return ""
	}
	return name
}

// UnitTotals returns the number of units and of their tokens.
func (s *Search) UnitTotals(ctx context.Context) (units int, tokens int64, err error) {
	err = s.Read(ctx, "search.totals", func(db *gorm.DB) error {
		return db.Raw(`SELECT count(*), coalesce(sum(tokens), 0) FROM units`).Row().Scan(&units, &tokens)
	})
	return units, tokens, err
}

// UnitCount returns the approximate number of units, used to judge whether a term is rare. It includes row numbers of
// superseded units.
func (s *Search) UnitCount(ctx context.Context) (int, error) {
	return core.Query(ctx, s, "search.count", func(db *gorm.DB) (int, error) {
		return sqlite.One[int](db, "units", "", `SELECT coalesce(max(n), 0) FROM units`)
	})
}
