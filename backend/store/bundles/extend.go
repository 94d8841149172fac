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
// applied, on the state that the newest snapshot leads to, and only the turns that it touches are compared with the ledger. So
// a turn costs the same in a session of any length. Everything else, and whatever fails here, is put together as a whole.

// extend is receive for events that follow all that are here; done: it was done.
func (s *Bundles) extend(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (out chat.Imported, done bool, err error) {
	out.Session = session
	from := &assembled{s: s, ctx: ctx, session: session, deletions: ledger.Deletions{}}
	var state *ledger.State
	err = s.Read(ctx, opReceive, func(db *gorm.DB) (err error) {
		state, err = from.follow(db, parcels)
		return err
	})
	if err != nil || state == nil {
		return out, false, err
	}
	if len(from.added) == 0 {
		return out, true, nil
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
		return errors.Join(add(), in.finish(t, &out))
	})
	return out, err == nil || errors.Is(err, errChanged), err
}

// follow takes the events that do not exist here, and returns the state before them; nil: they do not all follow it, or are not
// simply added.
func (a *assembled) follow(db *gorm.DB, parcels []bundle.Parcel) (*ledger.State, error) {
	ends, err := sqlite.All[int64](db, `SELECT max(event_seq) FROM events WHERE session_id = ? HAVING max(event_seq) IS NOT NULL`, a.session)
	if err != nil || len(ends) == 0 {
		return nil, err
	}
	a.upTo = ends[0]
	row, _, err := core.LastEvent(db, string(a.session), a.upTo)
	if err != nil {
		return nil, err
	}
	last := row.Event(nil)
	for _, p := range parcels {
		if order(p.Event, last) <= 0 {
			here, err := core.EventAt(db, a.session, p.Event.Spot())
			if err != nil || len(here) == 0 || !bytes.Equal(here[0].Hash, p.Event.Hash) {
				return nil, err
			}
			continue
		}
		if p.Replaced || p.Event.Type == ledger.EventContentDeleted || !p.Event.Intact() {
			return nil, nil
		}
		a.lanes = a.lanes || p.Event.Lane != ""
		a.added = append(a.added, p)
	}
	early := ledger.Deletions{}
	if err := core.ReplacedIn(db, string(a.session), early); err != nil || len(early) > 0 {
		return nil, err
	}
	slices.SortFunc(a.added, func(x, y bundle.Parcel) int { return order(x.Event, y.Event) })
	a.added = slices.CompactFunc(a.added, func(x, y bundle.Parcel) bool { return bytes.Equal(x.Event.Hash, y.Event.Hash) })
	state, replayed, err := records.ReplaySession(db, string(a.session))
	if err != nil {
		return nil, err
	}
	a.tails, a.lanes = replayed.Tails, a.lanes || row.LaneSeq != 0
	a.last = ledger.Event{Seq: state.EventSeq, Lane: row.Lane}
	if a.lanes {
		a.last.LaneSeq = last.Number()
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
	return slices.Collect(maps.Keys(ids))
}
