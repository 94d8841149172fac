package bundles

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// What came from another device through a vault is put together with what exists here to one ledger, which is then
// imported like that of a bundle.

const opReceive = "vault.receive"

// errDiverged means that two devices wrote the same lane, or that documents exist here that were deleted elsewhere only there.
var errDiverged = chat.Errorf(chat.CodeConflict, opReceive,
	"It cannot be merged with what is here, so nothing of it was changed: a copy of this data wrote under the same name, or a document that was permanently deleted there exists here.").
	WithHint("delete the document here too, or export the session there and import it here: it becomes a copy")

// Lanes returns the number of the last event of each lane of a session; none if it does not exist here.
func (s *Bundles) Lanes(ctx context.Context, session chat.SessionID) (map[string]int64, error) {
	return core.Query(ctx, s, "vault.lanes", func(db *gorm.DB) (map[string]int64, error) { return core.LastNumbers(db, session) })
}

// DeletedHere reports whether a session was permanently deleted, here or in the vault.
func (s *Bundles) DeletedHere(ctx context.Context, session chat.SessionID) (bool, error) {
	return core.Query(ctx, s, opReceive, func(db *gorm.DB) (bool, error) { return deletedHere(db, session) })
}

func deletedHere(db *gorm.DB, session chat.SessionID) (bool, error) {
	found, err := sqlite.All[int](db, `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?)
		AND (EXISTS (SELECT 1 FROM receipts WHERE subject = ?) OR EXISTS (SELECT 1 FROM settings WHERE key = ?))`,
		session, chat.DeletionSession+" "+string(session), core.GoneKey+string(session))
	return len(found) > 0, err
}

// ThisDevice returns the id of this device, and its name for people.
func (s *Bundles) ThisDevice() (id, name string) { return s.Device().ID, s.Device().Name }

// Existing returns those of some events that exist here, and reports whether these are all.
func (s *Bundles) Existing(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (known []bundle.Parcel, all bool, err error) {
	here, err := core.All[schema.EventRow](ctx, s, opReceive, `SELECT event_seq, lane, lane_seq, hash FROM events WHERE session_id = ?`, session)
	if err != nil {
		return nil, false, err
	}
	hashes := map[ledger.Spot][]byte{}
	for _, r := range here {
		hashes[r.Event(nil).Spot()] = r.Hash
	}
	for _, p := range parcels {
		if bytes.Equal(hashes[p.Event.Spot()], p.Event.Hash) {
			known = append(known, p)
		}
	}
	return known, len(known) == len(parcels), nil
}

// Receive adds the events of other devices to a session, all or none. Those that exist here are left out; what they
// follow must be among them or here.
func (s *Bundles) Receive(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (out chat.Imported, err error) {
	if s.DB.Writer == nil {
		return out, chat.Errorf(chat.CodeLocked, opReceive, "The data is open read-only.")
	}
	parcels, keys, err := withoutImportKeys(parcels)
	if err != nil {
		return out, err
	}
	for range bundleTries {
		if out, err = s.receive(ctx, session, parcels); !errors.Is(err, errChanged) {
			break
		}
	}
	if err == nil && len(keys) > 0 {
		err = s.Write(ctx, opReceive, func(t *core.Tx) error { return putImportKeys(t, session, keys) })
	}
	return out, sqlite.MapError(opReceive, err)
}

func (s *Bundles) receive(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (chat.Imported, error) {
	if out, done, err := s.extend(ctx, session, parcels); done || ctx.Err() != nil {
		return out, cmp.Or(err, ctx.Err())
	}
	from := &assembled{s: s, ctx: ctx, session: session}
	err := s.Read(ctx, opReceive, func(db *gorm.DB) error { return from.assemble(db, parcels) })
	if err != nil || len(from.added) == 0 {
		return chat.Imported{Session: session}, err
	}
	in, err := validate(ctx, from, session, nil)
	if err != nil {
		return chat.Imported{}, err
	}
	in.replaced = from.replaced
	out, err := in.importTo(s)
	if err == nil && (len(from.replaced) > 0 || in.deleted > 0) {
		err = s.Write(ctx, opReceive, func(t *core.Tx) error { return core.PutReplaced(t, session, nil) })
	}
	return out, err
}

// Uncertified returns the sessions with a payload that a vault has in place of another one, and of which the event that says so
// has not come.
func (s *Bundles) Uncertified(ctx context.Context) ([]chat.SessionID, error) {
	return core.Query(ctx, s, opReceive, func(db *gorm.DB) (out []chat.SessionID, err error) {
		all, err := core.SessionsReplaced(db)
		for _, id := range slices.Sorted(maps.Keys(all)) {
			open, err := core.Uncertified(db, id)
			if err != nil {
				return nil, err
			}
			if open {
				out = append(out, chat.SessionID(id))
			}
		}
		return out, err
	})
}

// assembled is the ledger of a session as it exists here, with events that were added.
type assembled struct {
	s       *Bundles
	ctx     context.Context
	session chat.SessionID
	upTo    int64 // where the last event of before is stored here; what is written later is not part of it
	lanes   bool
	whole   bool            // with the contents of what is here
	added   []bundle.Parcel // in the order of the ledger
	// replaced are payloads of these that the events themselves may not certify yet.
	replaced  []ledger.DeletedEvent
	deletions ledger.Deletions
	// If all that was added comes after what is here, only that is read.
	last  ledger.Event // here
	tails ledger.Tails
}

// assemble takes the events that do not exist here.
func (a *assembled) assemble(db *gorm.DB, parcels []bundle.Parcel) error {
	rows, err := sqlite.All[schema.EventRow](db, `SELECT event_seq, lane, lane_seq, hash FROM events WHERE session_id = ?`, a.session)
	if err != nil {
		return err
	}
	here := map[ledger.Spot][]byte{}
	last := map[string]int64{}
	for _, r := range rows {
		at := r.Event(nil).Spot()
		here[at], last[r.Lane] = r.Hash, max(last[r.Lane], at.Number)
		a.upTo, a.lanes = max(a.upTo, r.EventSeq), a.lanes || r.LaneSeq != 0
	}
	for _, p := range parcels {
		at := p.Event.Spot()
		if hash, known := here[at]; known || at.Number <= last[at.Lane] {
			if !bytes.Equal(hash, p.Event.Hash) {
				return errDiverged
			}
			continue
		}
		here[at] = p.Event.Hash
		a.lanes = a.lanes || at.Lane != ""
		a.added = append(a.added, p)
		if p.Replaced {
			a.replaced = append(a.replaced, ledger.DeletedEvent{Lane: at.Lane, Seq: at.Number, SHA256: schema.HexHash(p.Event.Payload)})
		}
	}
	a.deletions = ledger.Deletions{}
	if err := core.ReplacedIn(db, string(a.session), a.deletions); err != nil {
		return err
	}
	for _, r := range a.replaced {
		a.deletions.AddEarly(r)
	}
	slices.SortFunc(a.added, func(x, y bundle.Parcel) int { return order(x.Event, y.Event) })
	return nil
}

// order is the order of a ledger.
func order(x, y ledger.Event) int {
	return cmp.Or(cmp.Compare(x.Number(), y.Number()), cmp.Compare(x.Lane, y.Lane))
}

// Read implements source. What is here has contents only if the whole is read.
func (a *assembled) Read(do func(ledger.Event, []bundle.Content) error) (torn bool, err error) {
	err = a.s.Read(a.ctx, opReceive, func(db *gorm.DB) error {
		x := exporter{ctx: a.ctx, db: db, session: string(a.session), upTo: a.upTo}
		here := x.events()
		if a.last.Seq > 0 {
			here = func(func(ledger.Event, error) bool) {}
		}
		return bundle.ReadLedger(a.session, a.lanes, a.last, a.tails, a.deletions, a.merged(here), func(e ledger.Event, contents []bundle.Content) (err error) {
			if a.whole {
				if contents, err = x.contentsOf(e); err != nil {
					return err
				}
			}
			return do(e, contents)
		})
	})
	return false, err
}

// merged yields the events that exist here and those that were added, with their positions.
func (a *assembled) merged(here iter.Seq2[ledger.Event, error]) iter.Seq2[bundle.Parcel, error] {
	return func(yield func(bundle.Parcel, error) bool) {
		position, rest := a.last.Seq, a.added
		put := func(p bundle.Parcel, err error) bool {
			number := p.Event.Number()
			position++
			if p.Event.Seq, p.Event.LaneSeq = position, 0; a.lanes {
				p.Event.LaneSeq = number
			}
			return yield(p, err)
		}
		for e, err := range here {
			for err == nil && len(rest) > 0 && order(rest[0].Event, e) < 0 {
				if !put(rest[0], nil) {
					return
				}
				rest = rest[1:]
			}
			if !put(bundle.Parcel{Event: e}, err) {
				return
			}
		}
		for _, p := range rest {
			if !put(p, nil) {
				return
			}
		}
	}
}
