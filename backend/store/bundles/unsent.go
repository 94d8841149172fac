package bundles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// What a vault lacks is sent, whichever device wrote it: a session that was imported too.

// VaultState returns what PutVault stored; nil: nothing.
func (s *Bundles) VaultState(ctx context.Context) ([]byte, error) {
	values, err := core.All[string](ctx, s, "vault.state", `SELECT value FROM settings WHERE key = ?`, core.VaultKey)
	if err != nil || len(values) == 0 {
		return nil, err
	}
	return []byte(values[0]), nil
}

// NewVault forgets what any vault has, and stores the state of a new one. Deletions are sent to it too.
func (s *Bundles) NewVault(ctx context.Context, state []byte) error {
	return s.Write(ctx, "vault.new", func(t *core.Tx) error {
		if err := t.Run(`DELETE FROM settings WHERE key LIKE ?`, core.InVaultKey+"%"); err != nil {
			return err
		}
		all, err := goneIn(t.DB)
		for _, g := range all {
			if err == nil {
				err = core.PutGone(t, bundle.Gone{Session: g.Session, Of: g.Of, Knew: g.Knew, At: g.At})
			}
		}
		if err != nil {
			return err
		}
		return core.PutSetting(t, core.VaultKey, state)
	})
}

// PutVault stores the state of the vault, and that it has these segments, in one transaction.
func (s *Bundles) PutVault(ctx context.Context, state []byte, segments []bundle.Segment) error {
	return s.Write(ctx, "vault.put", func(t *core.Tx) error {
		for _, g := range segments {
			if err := putSegment(t, g); err != nil {
				return err
			}
		}
		return core.PutSetting(t, core.VaultKey, state)
	})
}

func putSegment(t *core.Tx, g bundle.Segment) error {
	if g.Deleted || g.Of != "" {
		gone, _, err := core.GoneOf(t.DB, g.Session, g.Of)
		if err != nil {
			return err
		}
		gone.Sent = true
		return core.PutGone(t, gone)
	}
	if deleted, err := deletedHere(t.DB, g.Session); err != nil || deleted { // meanwhile: the vault does not bring it back
		gone, known, err2 := core.GoneOf(t.DB, g.Session, "")
		if err = errors.Join(err, err2); err != nil || !known || g.In == "" {
			return err
		}
		gone.Files = append(gone.Files, g.In)
		return core.PutGone(t, gone)
	}
	has, _, err := core.InVaultOf(t.DB, g.Session)
	if err != nil {
		return err
	}
	has.Seq = max(has.Seq, g.Upto)
	for _, p := range g.Parcels {
		has.Lanes[p.Event.Lane] = max(has.Lanes[p.Event.Lane], p.Event.Number())
	}
	if g.In != "" && !slices.Contains(has.Files, g.In) {
		has.Files = append(has.Files, g.In)
	}
	return errors.Join(core.PutInVault(t, g.Session, has), putLate(t, g))
}

// putLate notes that a file of the vault has, or will have, what was deleted in a session: it was written before its
// device knew, or when the text was already on its way.
func putLate(t *core.Tx, g bundle.Segment) error {
	parts, err := core.PartsGone(t.DB, g.Session)
	if err != nil || len(parts) == 0 || g.In == "" {
		return err
	}
	deletions, err := core.DeletionsIn(t.DB, string(g.Session))
	late := slices.ContainsFunc(g.Parcels, func(p bundle.Parcel) bool {
		of, _ := deletions.Lacks(p.Event.Spot(), p.Event.Payload)
		return p.Event.Payload != nil && slices.ContainsFunc(deletions[p.Event.Spot()], func(d ledger.Deletion) bool { return d.Of != "" && !of[d.Of] })
	})
	for _, part := range parts {
		if err == nil && (late || !part.Sent) {
			part.Files = append(part.Files, g.In)
			err = core.PutGone(t, part)
		}
	}
	return err
}

// Unsent returns about as many bytes as limit says, up to the end of a transaction. A session of which everything is in the
// vault may have a segment without events.
func (s *Bundles) Unsent(ctx context.Context, limit int) (bundle.Unsent, error) {
	out := bundle.Unsent{Faults: map[chat.SessionID]error{}}
	err := s.Read(ctx, "vault.unsent", func(db *gorm.DB) error {
		rows, err := sqlite.All[struct {
			ID      chat.SessionID
			Last    int64
			Running bool
		}](db, `SELECT s.id, (SELECT max(event_seq) FROM events e WHERE e.session_id = s.id) AS last,
				EXISTS (SELECT 1 FROM branches b JOIN turns t ON t.branch_id = b.id WHERE b.session_id = s.id
					AND t.phase IN ('Accepted', 'ContextPrepared', 'Responding') AND t.outcome = '' AND `+core.MayFinish+`) AS running
			FROM sessions s WHERE coalesce((SELECT CASE WHEN json_valid(value) THEN value ->> '$.seq' END FROM settings WHERE key = ? || s.id), 0) <> last
				AND s.source <> 'files' ORDER BY s.id`,
			append(s.Device().Finishing(), core.InVaultKey)...)
		if err != nil {
			return err
		}
		mayRead := limit > 0
		all, err := goneIn(db)
		if err != nil {
			return err
		}
		for _, g := range all {
			if g.Sent {
				continue
			}
			if g.Of != "" {
				done, err := carriedOut(db, g)
				if err != nil {
					return err
				}
				if !done {
					continue
				}
			}
			if out.More = out.More || !mayRead; mayRead {
				out.Segments = append(out.Segments, bundle.Segment{Session: g.Session, Knew: g.Knew, Deleted: g.Of == "", At: g.At, Of: g.Of})
			}
		}
		for _, r := range rows {
			if r.Running {
				out.Running = append(out.Running, r.ID)
				continue
			}
			if limit <= 0 {
				out.More = true
				continue
			}
			segments, size, err := s.unsentOf(ctx, db, r.ID, limit)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				out.Faults[r.ID] = err
				continue
			}
			limit -= size
			out.Segments = append(out.Segments, segments...)
		}
		out.More = out.More || mayRead && limit <= 0
		return nil
	})
	return out, err
}

// unsentOf returns what is to be sent of a session, and its size.
func (s *Bundles) unsentOf(ctx context.Context, db *gorm.DB, session chat.SessionID, limit int) ([]bundle.Segment, int, error) {
	has, _, err := core.InVaultOf(db, session)
	if err != nil {
		return nil, 0, err
	}
	places, err := sqlite.All[schema.EventRow](db, `SELECT event_seq, lane, lane_seq FROM events WHERE session_id = ? AND event_seq > ? ORDER BY event_seq`,
		session, has.Seq) // the vault has all before
	if err != nil {
		return nil, 0, err
	}
	last := has.Seq
	if len(places) > 0 {
		last = places[len(places)-1].EventSeq
	}
	lacks := func(r schema.EventRow) bool { return r.Event(nil).Number() > has.Lanes[r.Lane] }
	first := slices.IndexFunc(places, lacks)
	if first < 0 {
		return []bundle.Segment{{Session: session, Upto: last}}, 0, nil
	}
	c := &cutter{
		x: exporter{ctx: ctx, db: db, session: string(session), noRequests: true}, session: session, lacks: lacks,
		limit: limit, deletions: ledger.Deletions{},
	}
	if c.known, err = core.DeletionsIn(db, string(session)); err != nil {
		return nil, 0, err
	}
	if c.parts, err = core.PartsGone(db, session); err != nil {
		return nil, 0, err
	}
	if c.tails, err = core.TailsUpTo(db, string(session), places[first].EventSeq-1); err != nil {
		return nil, 0, err
	}
	rows, err := db.Raw(`SELECT * FROM events WHERE session_id = ? AND event_seq >= ? ORDER BY event_seq`, session, places[first].EventSeq).Rows()
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var r schema.EventRow
		full := false
		if err := db.ScanRows(rows, &r); err != nil {
			return nil, 0, err
		}
		if full, err = c.row(r); err != nil || full {
			return c.out, c.size, err
		}
	}
	c.out[len(c.out)-1].Upto = last
	return c.out, c.size, rows.Err()
}

// cutter cuts the ledger of a session into segments: whenever something that the vault has stands between.
type cutter struct {
	x       exporter
	session chat.SessionID
	lacks   func(schema.EventRow) bool
	limit   int

	out    []bundle.Segment
	tails  ledger.Tails // before the current event
	within bool         // the last event belongs to the last segment
	stamp  string       // its time: events of one transaction have the same
	size   int
	// What is open was replaced by a deletion whose event has not come yet: it belongs into the same file.
	open      []ledger.Event
	deletions ledger.Deletions // in these events
	known     ledger.Deletions // in all that are here
	parts     []bundle.Gone    // what the other devices of the vault delete too
}

// row takes the next event; full: enough was taken before it.
func (c *cutter) row(r schema.EventRow) (full bool, err error) {
	switch {
	case !c.lacks(r):
		c.within = false
		return false, c.follow(r)
	case c.size >= c.limit && r.CreatedAt != c.stamp && len(c.open) == 0:
		return true, nil
	}
	return false, errors.Join(c.x.ctx.Err(), c.add(r))
}

// replacements returns the states and summaries as a deletion left them, if they still are so: for devices without the words by
// which to delete from them. Larger ones would be objects of their own, which other files may name.
func (c *cutter) replacements(e ledger.Event) (out []bundle.Content, err error) {
	d, ok := deletedBy(e)
	if !ok || !slices.ContainsFunc(c.parts, func(g bundle.Gone) bool { return g.Of == e.Entity }) {
		return nil, nil
	}
	for _, listed := range d.Events {
		rows, err := core.EventAt(c.x.db, c.session, ledger.Spot{Lane: listed.Lane, Number: listed.Seq})
		for _, r := range rows {
			if r.Type != string(ledger.EventStateCommitted) && r.Type != string(ledger.EventSummaryCreated) {
				continue
			}
			payload, err := c.x.decoded.Payload(c.x.db, r)
			if err != nil {
				return nil, err
			}
			if schema.HexHash(payload) == listed.SHA256 && len(payload) < largestReplacement {
				out = append(out, bundle.Content{Kind: bundle.Replacement, Bytes: payload})
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// largestReplacement is the size of the largest payload that travels with the event that lists it, in bytes.
const largestReplacement = 60 << 10

func (c *cutter) add(r schema.EventRow) error {
	payload, err := c.x.decoded.Payload(c.x.db, r)
	if err != nil {
		return sqlite.CorruptRecord("events", r.SessionID+"/"+sqlite.Itoa(r.EventSeq), err)
	}
	e := r.Event(payload)
	e.Seq, e.LaneSeq = e.Number(), 0
	p := bundle.Parcel{Event: e}
	if e.Type == ledger.EventContentDeleted {
		p.Contents, err = c.replacements(e)
	} else {
		p.Contents, err = c.x.contentsOf(e)
	}
	if err != nil {
		return err
	}
	if keys, err := importKeys(c.x.db, r); err != nil {
		return err
	} else if len(keys) > 0 {
		p.Contents = keys
	}
	if !e.Intact() {
		if of, _ := c.known.Lacks(e.Spot(), e.Payload); len(of) == 0 { // damaged, or the event that names it has not come
			return sqlite.CorruptRecord("events", r.SessionID+"/"+sqlite.Itoa(r.EventSeq), errors.New("its content is not what was stored"))
		}
		c.open = append(c.open, e)
	}
	c.deletions.Add(e)
	c.open = slices.DeleteFunc(c.open, c.deletions.Certifies)
	if !c.within {
		c.out = append(c.out, bundle.Segment{Session: c.session, Knew: c.tails.Numbers()})
	}
	last := &c.out[len(c.out)-1]
	last.Parcels = append(last.Parcels, p)
	c.within, c.stamp = true, r.CreatedAt
	c.size += len(e.Payload) + 500
	for _, content := range p.Contents {
		c.size += len(content.Bytes)
	}
	return c.follow(r)
}

// follow checks an event's place in its lane: what is damaged here is not sent.
func (c *cutter) follow(r schema.EventRow) error {
	if faults := c.tails.Follow(r.Event(nil)); len(faults) > 0 {
		return sqlite.CorruptRecord("events", r.SessionID+"/"+sqlite.Itoa(r.EventSeq), fmt.Errorf("it is misplaced or damaged: %v", faults))
	}
	return nil
}
