package search

import (
	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// placeFilter is a scope as a condition on the places of units. It selects the same units as scope.units does in SQL,
// without reading their rows.
type placeFilter struct {
	scope
	lineage  map[chat.BranchID][]core.Segment // in the scope of a session: the originals, which are excluded
	only     map[chat.SessionID]bool          // nil: any session
	hidden   map[chat.SessionID]bool
	beyond   map[int64]bool // units of originals that are in scope nevertheless
	excluded map[int64]bool // units of the excluded turns
}

// placeFilter returns the filter of a scope; false if more than its place decides whether a unit is in scope.
func (r scope) placeFilter(db *gorm.DB) (out placeFilter, ok bool, err error) {
	if len(r.Types) > 0 || !r.Since.IsZero() || !r.Until.IsZero() {
		return out, false, nil
	}
	out = placeFilter{scope: r, lineage: map[chat.BranchID][]core.Segment{}, hidden: map[chat.SessionID]bool{}}
	segments := r.ownLineage
	if r.Scope == chat.ScopeSession {
		segments = r.originals
	}
	for _, g := range segments {
		out.lineage[chat.BranchID(g.Branch)] = append(out.lineage[chat.BranchID(g.Branch)], g)
	}
	if r.Only != nil {
		out.only = make(map[chat.SessionID]bool, len(r.Only))
		for _, id := range r.Only {
			out.only[id] = true
		}
	}
	if r.Scope == chat.ScopeAll && !r.noHidden {
		files, err := chat.MarshalJSON(append([]chat.SessionID{}, r.files...))
		if err != nil {
			return out, false, err
		}
		list, err := sqlite.All[chat.SessionID](db, hiddenSessions, r.Archived, string(files))
		if err != nil {
			return out, false, err
		}
		for _, id := range list {
			out.hidden[id] = true
		}
	}
	if out.excluded, err = unitsOfTurns(db, r.ExcludeTurns, ``); err != nil {
		return out, false, err
	}
	if out.beyond, err = unitsOfTurns(db, r.Shortened, ``); err != nil {
		return out, false, err
	}
	documents, err := unitsOfTurns(db, r.Beyond, ` AND (SELECT file_id FROM chunks WHERE id = u.chunk_id) IS NOT NULL`)
	for n := range documents {
		out.beyond[n] = true
	}
	return out, err == nil, err
}

// unitsOfTurns returns the numbers of the units of turns.
func unitsOfTurns(db *gorm.DB, turns []chat.TurnID, where string) (map[int64]bool, error) {
	out := map[int64]bool{}
	if len(turns) == 0 {
		return out, nil
	}
	list, err := chat.MarshalJSON(turns)
	if err != nil {
		return nil, err
	}
	ns, err := sqlite.All[int64](db, `SELECT u.n FROM json_each(?) j CROSS JOIN units u ON u.turn_id = j.value WHERE true`+where, string(list))
	for _, n := range ns {
		out[n] = true
	}
	return out, err
}

// contains reports whether a unit is in scope.
func (f placeFilter) contains(n int64, at place) bool {
	switch {
	case f.only != nil && !f.only[at.session], f.excluded[n], f.Role != "" && f.Role != at.role:
		return false
	case f.Scope == chat.ScopeLineage:
		return at.session == f.Session && (f.onLineage(at) || f.beyond[n])
	case f.Scope == chat.ScopeSession:
		return at.session == f.Session && (!f.onLineage(at) || f.beyond[n])
	case f.Branch != "" && at.session == f.Session:
		return f.onLineage(at) || f.beyond[n]
	}
	return !f.hidden[at.session]
}

// onLineage reports whether a place is on the segments.
func (f placeFilter) onLineage(at place) bool {
	for _, g := range f.lineage[at.branch] {
		if at.seq > g.From && at.seq <= g.To {
			return true
		}
	}
	return false
}
