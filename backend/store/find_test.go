package store

import (
	"context"

	"contextinfinity/backend/chat"
)

// foundUnit is a unit that a search found, with its place and text.
type foundUnit struct {
	Turn    chat.TurnID
	Session chat.SessionID
	Title   string
	Text    string // empty if its source cannot be read
	Score   float64
}

// find searches and reads the units that it found.
func (f *fixture) find(in chat.Within, limit int, terms ...string) []foundUnit {
	f.Helper()
	scores, err := f.SearchUnits(f.ctx, terms, in, limit)
	f.ok(err)
	ns := make([]int64, len(scores))
	for i, s := range scores {
		ns[i] = s.N
	}
	units, err := f.Units(f.ctx, in, ns)
	f.ok(err)
	byN := map[int64]chat.UnitRef{}
	for _, u := range units {
		byN[u.N] = u
	}
	out := make([]foundUnit, 0, len(scores))
	for _, s := range scores {
		u := byN[s.N]
		unit := foundUnit{Turn: u.Turn, Session: u.Session, Score: s.Score}
		chunks, err := f.ChunkTexts(context.Background(), []chat.ChunkID{u.Chunk})
		f.ok(err)
		for _, c := range chunks {
			unit.Text, unit.Title = c.Source[u.Start:u.End], c.SessionTitle
		}
		out = append(out, unit)
	}
	return out
}

// everywhere covers all sessions that are not archived.
var everywhere = chat.Within{Scope: chat.ScopeAll}
