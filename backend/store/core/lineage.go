package core

import (
	"context"
	"math"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Segment is a part of a lineage: turns (From, To] of one branch, its states up to StateTo, and the pins made on it
// before the lineage left it.
type Segment struct {
	Branch   string
	Session  string
	From, To int64
	StateTo  int64
	LeftAt   string // created_at of the branch that forked off here; in the last segment: EndOfTime
	LeftBy   string // its id, to order events in the same millisecond
}

// EndOfTime sorts after every stored time and id.
const EndOfTime = "~"

// MaxDepth limits the walk to the root: a damaged database may contain a cycle.
const MaxDepth = 10_000

// Segments resolves a branch of a conversation to its lineage, oldest first. One of a project's file is refused
// (schema.RefuseFile).
func Segments(db *gorm.DB, branch chat.BranchID) ([]Segment, error) {
	segs, err := SegmentsOrFile(db, branch)
	if err == nil {
		err = schema.RefuseFile(db, segs[0].Session)
	}
	if err != nil {
		return nil, err
	}
	return segs, nil
}

// OnLineage returns the result of reads about a branch's lineage, from a consistent view of the database.
func OnLineage[R any](ctx context.Context, s Reader, op string, branch chat.BranchID, do func(*gorm.DB, []Segment) (R, error)) (R, error) {
	return Query(ctx, s, op, func(db *gorm.DB) (found R, err error) {
		segs, err := Segments(db, branch)
		if err != nil {
			return found, err
		}
		return do(db, segs)
	})
}

// InScope returns the rows of a query about a branch's lineage, which begins with ScopeCTE.
func InScope[R any](db *gorm.DB, segs []Segment, query string) ([]R, error) {
	scope, err := ScopeJSON(segs)
	if err != nil {
		return nil, err
	}
	return sqlite.All[R](db, query, scope)
}

// SegmentsOrFile is Segments for the branch of a conversation or of a project's file, in one query.
func SegmentsOrFile(db *gorm.DB, branch chat.BranchID) ([]Segment, error) {
	segs, err := sqlite.All[Segment](db, `
		WITH RECURSIVE line (branch, session, parent, "from", "to", base_seq, state_to, created_at, left_at, left_by, depth) AS (
		  SELECT id, session_id, parent_branch, fork_seq, ?, base_seq, ?, created_at, ?, ?, 0 FROM branches WHERE id = ?
		  UNION ALL
		  SELECT b.id, b.session_id, b.parent_branch, b.fork_seq, min(l."to", l."from"), b.base_seq, min(l.state_to, l.base_seq),
		         b.created_at, l.created_at, l.branch, l.depth + 1
		  FROM line l JOIN branches b ON b.id = l.parent WHERE l.depth < ?
		)
		SELECT branch, session, "from", "to", state_to, left_at, left_by FROM line ORDER BY depth DESC`,
		int64(math.MaxInt64), int64(math.MaxInt64), EndOfTime, EndOfTime, branch, MaxDepth)
	if err != nil {
		return nil, err
	}
	if len(segs) == 0 {
		return nil, chat.Errorf(chat.CodeNotFound, "", "There is no branch %s.", branch)
	}
	if len(segs) > MaxDepth {
		return nil, sqlite.CorruptRecord("branches", string(branch), nil)
	}
	return segs, nil
}

// Shows reports whether a turn belongs to a lineage.
func Shows(segs []Segment, turn schema.TurnRow) bool {
	return slices.ContainsFunc(segs, func(g Segment) bool {
		return g.Branch == turn.BranchID && turn.TurnSeq > g.From && turn.TurnSeq <= g.To
	})
}

// ScopeJSON returns the segments as a JSON array for json_each: [[branch, from, to, state_to, left_at, left_by], ...]:
// a single bound parameter, however deep the forks.
func ScopeJSON(segs []Segment) (string, error) {
	rows := lists.Map(segs, func(g Segment) []any { return []any{g.Branch, g.From, g.To, g.StateTo, g.LeftAt, g.LeftBy} })
	b, err := chat.MarshalJSON(rows)
	return string(b), err
}

// ScopeCTE names the rows of a ScopeJSON parameter.
const ScopeCTE = `WITH seg AS MATERIALIZED (
	SELECT value ->> 0 AS branch, value ->> 1 AS "from", value ->> 2 AS "to", value ->> 3 AS state_to,
	       value ->> 4 AS left_at, value ->> 5 AS left_by FROM json_each(?)) `

// LastSeq returns the turn_seq of the newest turn of a lineage; 0: none.
func LastSeq(db *gorm.DB, segs []Segment) (int64, error) {
	own := segs[len(segs)-1]
	return sqlite.One[int64](db, "branch", own.Branch,
		`SELECT coalesce(max(turn_seq), ?) FROM turns WHERE branch_id = ?`, own.From, own.Branch)
}

// AllTurns is an unlimited upper bound of turn_seq.
const AllTurns = math.MaxInt64
