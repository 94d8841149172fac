package bundles

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// What arrives usually follows everything that is here: one device was used, then another. Then only that is validated and
// applied, on the state that the newest snapshot leads to, and only the turns that it touches are compared with the ledger.
// Everything else, and whatever fails here, is put together as a whole.

// extend is receive for events that follow all that are here; done: it was done.
func (s *Bundles) extend(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (out chat.Imported, done bool, err error) {
	out.Session = session
	from := &assembled{s: s, ctx: ctx, session: session, deletions: ledger.Deletions{}}
	var state *ledger.State
	follows := false
	err = s.Read(ctx, opReceive, func(db *gorm.DB) (err error) {
		if follows, err = from.follow(db, parcels); follows && len(from.added) > 0 {
			state, err = from.here(db)
		}
		return err
	})
	if err != nil || !follows || len(from.added) == 0 {
		return out, follows, err
	}
	in, err := validate(ctx, from, session, state)
	if err != nil {
		return out, false, err
	}
	unchanged := func(t *core.Tx) error {
		last, err := sqlite.One[int64](t.DB, "session", session, `SELECT coalesce(max(event_seq), 0) FROM events WHERE session_id = ?`, session)
		if err == nil && last != from.upTo {
			err = errChanged
		}
		return err
	}
	err = in.write(s, unchanged, func(t *core.Tx) error {
		add := func() error { return in.replay(t, in.before, nil, &out) }
		if from.lanes {
			add = func() error { return in.merge(t, &out) }
		}
		if err := add(); err != nil {
			return err
		}
		return in.finish(t, &out)
	})
	return out, err == nil || errors.Is(err, errChanged), err
}

// follow takes the events that do not exist here, and reports whether they can be added: they all follow what is here, and
// delete nothing.
func (a *assembled) follow(db *gorm.DB, parcels []bundle.Parcel) (bool, error) {
	ends, err := sqlite.All[int64](db, `SELECT max(event_seq) FROM events WHERE session_id = ? HAVING max(event_seq) IS NOT NULL`, a.session)
	if err != nil || len(ends) == 0 {
		return false, err
	}
	a.upTo = ends[0]
	row, _, err := core.LastEvent(db, string(a.session), a.upTo)
	if err != nil {
		return false, err
	}
	a.last, a.lanes = row.Event(nil), row.LaneSeq != 0
	for _, p := range parcels {
		if order(p.Event, a.last) <= 0 {
			here, err := core.EventAt(db, a.session, p.Event.Spot())
			if err != nil || len(here) == 0 || !bytes.Equal(here[0].Hash, p.Event.Hash) {
				return false, err
			}
			continue
		}
		if p.Replaced || p.Event.Type == ledger.EventContentDeleted || !p.Event.Intact() {
			return false, nil
		}
		a.lanes = a.lanes || p.Event.Lane != ""
		a.added = append(a.added, p)
	}
	slices.SortFunc(a.added, func(x, y bundle.Parcel) int { return order(x.Event, y.Event) })
	a.added = slices.CompactFunc(a.added, func(x, y bundle.Parcel) bool { return bytes.Equal(x.Event.Hash, y.Event.Hash) })
	early := ledger.Deletions{}
	err = core.ReplacedIn(db, string(a.session), early)
	return err == nil && len(early) == 0, err
}

// here returns the state of what is here, and makes its end the one that the events follow.
func (a *assembled) here(db *gorm.DB) (*ledger.State, error) {
	state, replayed, err := records.ReplaySession(db, string(a.session))
	if err != nil {
		return nil, err
	}
	number := a.last.Number()
	a.tails, a.last = replayed.Tails, ledger.Event{Seq: state.EventSeq, Lane: a.last.Lane}
	if a.lanes {
		a.last.LaneSeq = number
	}
	return state, nil
}

// touched returns the ids of the turns, states and summaries that the events read may have changed.
func (in *incoming) touched() []string {
	ids := maps.Clone(in.entities)
	for id := range in.entities {
		if r := in.state.Steps[id]; r != nil {
			ids[r.TurnID] = true
		}
		if r := in.state.Files[id]; r != nil {
			ids[r.TurnID] = true
		}
		batch := id
		if r := in.state.ToolCalls[id]; r != nil {
			batch = r.BatchID
		}
		if r := in.state.ToolBatches[batch]; r != nil {
			ids[r.TurnID] = true
		}
	}
	for id, r := range in.state.Turns {
		if in.entities[r.StateAfter] {
			ids[id] = true
		}
	}
	for id, r := range in.state.Summaries {
		if in.entities[id] && r.SupersededBy != "" {
			ids[r.SupersededBy] = true
		}
		if in.entities[r.SupersededBy] {
			ids[id] = true
		}
	}
	for id := range maps.Clone(ids) { // and their branches
		if r := in.state.Turns[id]; r != nil {
			ids[r.BranchID] = true
		}
		if r := in.state.States[id]; r != nil {
			ids[r.BranchID] = true
		}
	}
	return slices.Collect(maps.Keys(ids))
}
