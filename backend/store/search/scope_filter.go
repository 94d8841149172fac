package search

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// scopeFilter is a scope by branches. It is immutable.
type scopeFilter struct {
	session  chat.SessionID // the session of spans; empty: there are none
	spans    map[chat.BranchID]seqs
	siblings bool // branches of session without a span are fully included
	others   bool // other sessions are included, except those in archived
	archived map[chat.SessionID]bool
	only     map[chat.SessionID]bool // if not nil, only these other sessions are included
}

// seqs are the turns with after < turn_seq <= upTo.
type seqs struct{ after, upTo int64 }

func (v *scopeFilter) Span(session chat.SessionID, branch chat.BranchID) (after, upTo int64, ok bool) {
	if session == v.session {
		if sp, named := v.spans[branch]; named {
			return sp.after, sp.upTo, sp.after < sp.upTo
		}
		return 0, core.AllTurns, v.siblings
	}
	return 0, core.AllTurns, v.others && !v.archived[session] && (v.only == nil || v.only[session])
}

// ScopeFilter returns the scope as the vector index needs it: by branch. Roles, types, dates and single turns are
// filtered by Units. If the scope's lineage is cut inside an ancestor that continues, or a document or part of a turn
// after the cut is in scope, the span includes the cut turns too, and Units excludes them.
func (s *Search) ScopeFilter(ctx context.Context, in chat.Within) (chat.ScopeFilter, error) {
	v := &scopeFilter{spans: map[chat.BranchID]seqs{}, archived: map[chat.SessionID]bool{}}
	err := s.Read(ctx, "search.scope", func(db *gorm.DB) error {
		r, err := scopeOf(db, in)
		if err != nil {
			return err
		}
		v.session = r.Session
		switch r.Scope {
		case chat.ScopeLineage:
			v.narrow(r.fullLineage)
		case chat.ScopeSession:
			v.siblings = true
			v.leaveOut(r)
		case chat.ScopeAll:
			v.others = true
			if r.Branch == "" {
				v.session = ""
			}
			v.narrow(r.fullLineage)
			if r.Only != nil {
				v.only = map[chat.SessionID]bool{}
				for _, id := range r.Only {
					v.only[id] = true
				}
			}
			if r.noHidden {
				return nil
			}
			hidden, err := sqlite.All[chat.SessionID](db, `SELECT id FROM sessions WHERE archived_at IS NOT NULL AND (NOT ? OR source = 'files')`, in.Archived)
			for _, id := range hidden {
				v.archived[id] = true
			}
			for _, id := range r.files {
				delete(v.archived, id)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (v *scopeFilter) narrow(segs []core.Segment) {
	for _, g := range segs {
		v.spans[chat.BranchID(g.Branch)] = seqs{g.From, g.To}
	}
}

// leaveOut ends branches at the turns that the prompt contains as originals, if nothing comes after those.
func (v *scopeFilter) leaveOut(r scope) {
	for _, g := range r.originals {
		if g.To == core.AllTurns && !r.includesOriginals() {
			v.spans[chat.BranchID(g.Branch)] = seqs{0, g.From}
		}
	}
}
