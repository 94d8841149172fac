package search

import (
	"cmp"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/sqlite"
)

// scope is chat.Within resolved to the units that a memory search may see (SPEC 8).
type scope struct {
	chat.Within
	// ownLineage is the branch's lineage up to Within.Before, nil without a branch.
	ownLineage []core.Segment
	// originals are the turns of the lineage from Within.Before on, sent in full.
	originals []core.Segment
	// files are the sessions of the files of the session's project: only the scopes all and project include them.
	files []chat.SessionID
	// noHidden: none of the sessions in scope is hidden.
	noHidden bool
	// fullLineage is where units in scope can be: ownLineage, or the whole lineage if documents of its originals are
	// in scope.
	fullLineage []core.Segment
}

// scopeOf resolves a scope. If none is named, it is the narrowest that fits the other fields, so that a sibling is
// never included by accident.
func scopeOf(db *gorm.DB, in chat.Within) (scope, error) {
	if in.Scope == "" {
		switch {
		case in.Branch != "":
			in.Scope = chat.ScopeLineage
		case in.Session != "":
			in.Scope = chat.ScopeSession
		default:
			in.Scope = chat.ScopeAll
		}
	}
	r := scope{Within: in}
	if in.Branch != "" {
		segs, err := core.Segments(db, in.Branch)
		if err != nil {
			return r, err
		}
		if in.Scope != chat.ScopeSession || in.Session == "" {
			r.Session = chat.SessionID(segs[0].Session)
		}
		r.ownLineage, r.originals = cutAt(segs, in.Before)
		r.fullLineage = segs
	}
	var err error
	if r.Beyond, err = extraTurns(db, r.originals, in.Beyond); err != nil {
		return r, err
	}
	if r.Shortened, err = extraTurns(db, r.originals, in.Shortened); err != nil {
		return r, err
	}
	if !r.includesOriginals() {
		r.fullLineage = r.ownLineage
	}
	switch in.Scope {
	case chat.ScopeLineage:
		if in.Branch == "" {
			return r, sqlite.Invalid("A search of a lineage must name a branch.")
		}
	case chat.ScopeSession:
		if r.Session == "" {
			return r, sqlite.Invalid("A search of a session must name the session.")
		}
	case chat.ScopeAll:
		hidden, err := sqlite.One[bool](db, "sessions", "", `SELECT EXISTS (SELECT 1 FROM sessions WHERE archived_at IS NOT NULL AND (NOT ? OR source = 'files'))`, in.Archived)
		if r.noHidden = !hidden; err != nil || r.noHidden {
			return r, err
		}
		p, err := records.ProjectScopeOf(db, r.Session)
		r.files = p.Files
		return r, err
	case chat.ScopeProject:
		if r.Session == "" {
			return r, sqlite.Invalid("A search of a project must name a session of the project.")
		}
		p, err := records.ProjectScopeOf(db, r.Session)
		if err != nil {
			return r, err
		}
		r.Scope, r.noHidden, r.Only = chat.ScopeAll, true, intersect(slices.Concat([]chat.SessionID{r.Session}, p.Sessions, p.Files), in.Only)
	default:
		return r, sqlite.Invalid("%q is not a scope of memory.", in.Scope)
	}
	return r, nil
}

// includesOriginals reports whether some of the originals are in scope, at least in part.
func (r scope) includesOriginals() bool { return len(r.Beyond)+len(r.Shortened) > 0 }

// intersect returns the sessions that are also in only; all of them if only is nil.
func intersect(sessions, only []chat.SessionID) []chat.SessionID {
	return slices.DeleteFunc(sessions, func(id chat.SessionID) bool { return only != nil && !slices.Contains(only, id) })
}

// extraTurns keeps those turns that are originals of the lineage: naming another one, such as a sibling's, does not
// include it.
func extraTurns(db *gorm.DB, originals []core.Segment, turns []chat.TurnID) ([]chat.TurnID, error) {
	if len(turns) == 0 || len(originals) == 0 {
		return nil, nil
	}
	scope, err := core.ScopeJSON(originals)
	if err != nil {
		return nil, err
	}
	list, err := chat.MarshalJSON(turns)
	if err != nil {
		return nil, err
	}
	return sqlite.All[chat.TurnID](db, core.ScopeCTE+`SELECT u.id FROM json_each(?) j CROSS JOIN turns u ON u.id = j.value WHERE `+inSegments, scope, string(list))
}

// cutAt splits a lineage before a turn_seq; 0: no split.
func cutAt(segs []core.Segment, before int64) (first, rest []core.Segment) {
	first = []core.Segment{}
	for _, g := range segs {
		if before <= 0 || g.From+1 < before {
			part := g
			if before > 0 {
				part.To = min(g.To, before-1)
			}
			first = append(first, part)
		}
		if before > 0 && g.To >= before {
			part := g
			part.From = max(g.From, before-1)
			rest = append(rest, part)
		}
	}
	return first, rest
}

// condition is SQL about units u: with comes before the SELECT, its arguments first; where begins with AND.
type condition struct {
	with, where string
	head, args  []any
}

func (c *condition) and(where string, args ...any) {
	c.where += ` AND ` + where
	c.args = append(c.args, args...)
}

const (
	inSegments = `EXISTS (SELECT 1 FROM seg WHERE seg.branch = u.branch_id AND u.turn_seq > seg."from" AND u.turn_seq <= seg."to")`
	// inBeyond selects units of a turn, or of a document, that the prompt contains only in part.
	inBeyond = `(u.turn_id IN (SELECT value FROM json_each(?)) OR u.turn_id IN (SELECT value FROM json_each(?)) AND (SELECT file_id FROM chunks WHERE id = u.chunk_id) IS NOT NULL)`
	inView   = `u.session_id NOT IN (` + hiddenSessions + `)`
	// hiddenSessions selects archived sessions, unless they are requested, and the files of other projects.
	hiddenSessions = `SELECT id FROM sessions WHERE archived_at IS NOT NULL AND (NOT ? OR source = 'files')
		AND id NOT IN (SELECT value FROM json_each(?))`
)

// units returns the scope as a condition on units u.
func (r scope) units() (condition, error) {
	var c condition
	if err := c.scope(r); err != nil {
		return c, err
	}
	if r.Only != nil {
		list, err := chat.MarshalJSON(r.Only)
		if err != nil {
			return c, err
		}
		c.and(`u.session_id IN (SELECT value FROM json_each(?))`, string(list))
	}
	if len(r.ExcludeTurns) > 0 {
		list, err := chat.MarshalJSON(r.ExcludeTurns)
		if err != nil {
			return c, err
		}
		c.and(`u.turn_id NOT IN (SELECT value FROM json_each(?))`, string(list))
	}
	if r.Role != "" {
		c.and(`u.message = ?`, r.Role)
	}
	if len(r.Types) > 0 {
		list, err := chat.MarshalJSON(r.Types)
		if err != nil {
			return c, err
		}
		c.and(`(SELECT chunk_type FROM chunks WHERE id = u.chunk_id) IN (SELECT value FROM json_each(?))`, string(list))
	}
	if !r.Since.IsZero() {
		c.and(`(SELECT created_at FROM turns WHERE id = u.turn_id) >= ?`, chat.FormatTime(r.Since))
	}
	if !r.Until.IsZero() {
		c.and(`(SELECT created_at FROM turns WHERE id = u.turn_id) < ?`, chat.FormatTime(r.Until))
	}
	return c, nil
}

func (c *condition) scope(r scope) error {
	shortened, err := chat.MarshalJSON(append([]chat.TurnID{}, r.Shortened...))
	if err != nil {
		return err
	}
	beyond, err := chat.MarshalJSON(append([]chat.TurnID{}, r.Beyond...))
	if err != nil {
		return err
	}
	fileSessions, err := chat.MarshalJSON(append([]chat.SessionID{}, r.files...))
	if err != nil {
		return err
	}
	turns, list, files := string(shortened), string(beyond), string(fileSessions)
	switch {
	case r.Scope == chat.ScopeLineage:
		c.and(`u.session_id = ? AND (`+inSegments+` OR `+inBeyond+`)`, r.Session, turns, list)
		return c.segments(r.ownLineage)
	case r.Scope == chat.ScopeSession:
		c.and(`u.session_id = ?`, r.Session)
		if len(r.originals) > 0 {
			c.and(`(NOT `+inSegments+` OR `+inBeyond+`)`, turns, list)
			return c.segments(r.originals)
		}
	case r.Branch != "" && r.noHidden:
		c.and(`CASE WHEN u.session_id = ? THEN `+inSegments+` OR `+inBeyond+` ELSE true END`, r.Session, turns, list)
		return c.segments(r.ownLineage)
	case r.Branch != "":
		c.and(`CASE WHEN u.session_id = ? THEN `+inSegments+` OR `+inBeyond+` ELSE `+inView+` END`, r.Session, turns, list, r.Archived, files)
		return c.segments(r.ownLineage)
	case !r.noHidden:
		c.and(inView, r.Archived, files)
	}
	return nil
}

func (c *condition) segments(segs []core.Segment) error {
	scope, err := core.ScopeJSON(segs)
	c.with, c.head = core.ScopeCTE, []any{scope}
	return err
}

// rows returns the first and the last row numbers that units in scope can have: those of a session are close together,
// and the text index skips the others quickly.
func (r scope) rows(db *gorm.DB) (first, last int64, err error) {
	if r.Scope == chat.ScopeAll && r.Only != nil {
		list, err := chat.MarshalJSON(r.Only)
		if err != nil {
			return 0, 0, err
		}
		ends, err := sqlite.One[struct{ First, Last int64 }](db, "units", "", `SELECT
			  coalesce(min((SELECT min(n) FROM units WHERE session_id = j.value)), 0) AS first,
			  coalesce(max((SELECT max(n) FROM units WHERE session_id = j.value)), -1) AS last FROM json_each(?) j`, string(list))
		return ends.First, ends.Last, err
	}
	if r.Scope == chat.ScopeAll {
		if r.Newest <= 0 {
			return 0, core.AllTurns, nil
		}
		last, err = sqlite.One[int64](db, "units", "", `SELECT coalesce(max(n), -1) FROM units`)
		return max(last-r.Newest+1, 0), last, err
	}
	ends, err := sqlite.One[struct{ First, Last int64 }](db, "session", r.Session, `
		SELECT coalesce((SELECT min(n) FROM units WHERE session_id = ?), 0) AS first,
		  coalesce((SELECT max(n) FROM units WHERE session_id = ?), -1) AS last`, r.Session, r.Session)
	return ends.First, ends.Last, err
}

// near returns the turns of spans as [branch, from, to], each turn once. A span on the lineage continues across its
// fork points.
func (r scope) near(spans []chat.SeqSpan) [][3]any {
	var parts []chat.SeqSpan
	for _, sp := range spans {
		onLineage := slices.ContainsFunc(r.fullLineage, func(g core.Segment) bool { return g.Branch == string(sp.Branch) })
		if r.Scope == chat.ScopeSession || r.Scope == chat.ScopeAll && !onLineage {
			parts = append(parts, sp)
			continue
		}
		for _, g := range r.fullLineage {
			part := chat.SeqSpan{Branch: chat.BranchID(g.Branch), From: max(sp.From, g.From+1), To: min(sp.To, g.To)}
			if part.From <= part.To {
				parts = append(parts, part)
			}
		}
	}
	slices.SortFunc(parts, func(a, b chat.SeqSpan) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.From, b.From))
	})
	var joined []chat.SeqSpan
	for _, p := range parts {
		if n := len(joined); n > 0 && joined[n-1].Branch == p.Branch && p.From <= joined[n-1].To {
			joined[n-1].To = max(p.To, joined[n-1].To)
			continue
		}
		joined = append(joined, p)
	}
	return lists.Map(joined, func(p chat.SeqSpan) [3]any { return [3]any{p.Branch, p.From, p.To} })
}
