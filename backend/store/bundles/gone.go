package bundles

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

const opGone = "vault.gone"

// Gone lists the sessions that were permanently deleted, and that a vault had.
func (s *Bundles) Gone(ctx context.Context) ([]bundle.Gone, error) {
	return core.Query(ctx, s, opGone, goneIn)
}

func goneIn(db *gorm.DB) ([]bundle.Gone, error) {
	whole, err := core.Gone(db)
	parts, err2 := core.PartsGone(db, "")
	return append(whole, parts...), errors.Join(err, err2)
}

// carriedOut reports whether what was deleted in a session elsewhere is deleted here, or its session is not here.
func carriedOut(db *gorm.DB, g bundle.Gone) (bool, error) {
	found, err := sqlite.One[struct{ There, Known bool }](db, "session", g.Session, `SELECT EXISTS (SELECT 1 FROM events WHERE session_id = ?) AS there,
		EXISTS (SELECT 1 FROM events WHERE entity_id = ? AND session_id = ? AND type = ?) AS known`, g.Session, g.Of, g.Session, ledger.EventContentDeleted)
	if err != nil || !found.There || !found.Known {
		return !found.There, err
	}
	left, err := undeleted(db, g.Session, nil)
	if chat.CodeOf(err) == chat.CodeConflict {
		return false, nil
	}
	return !slices.Contains(left, chat.TurnID(g.Of)), err
}

// Undeleted returns the turns whose content another device of the vault deleted, and of which something is here: according to what
// is here of a session, and to events that are to come. A turn that is empty here counts too, if the other device found more of it.
// CodeConflict: something here uses a document of one, so nothing is to be deleted. What a bundle says of deletions does not
// count: it may come from another person.
func (s *Bundles) Undeleted(ctx context.Context, session chat.SessionID, coming []bundle.Parcel) ([]chat.TurnID, error) {
	return core.Query(ctx, s, opGone, func(db *gorm.DB) ([]chat.TurnID, error) { return undeleted(db, session, coming) })
}

func undeleted(db *gorm.DB, session chat.SessionID, coming []bundle.Parcel) (out []chat.TurnID, err error) {
	parts, err := core.PartsGone(db, session)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	deletions, err := core.DeletionsIn(db, string(session))
	if err != nil {
		return nil, err
	}
	all, err := core.DeletionEvents(db, string(session))
	if err != nil {
		return nil, err
	}
	for _, p := range coming {
		deletions.Add(p.Event)
		all = append(all, p.Event)
	}
	for _, e := range all {
		if !slices.ContainsFunc(parts, func(g bundle.Gone) bool { return g.Of == e.Entity }) || slices.Contains(out, chat.TurnID(e.Entity)) {
			continue
		}
		if left, err := leftOf(db, session, deletions, e); err != nil {
			return nil, err
		} else if left {
			out = append(out, chat.TurnID(e.Entity))
		}
	}
	return out, nil
}

// leftOf reports whether something is here of what a content_erased event says was deleted.
func leftOf(db *gorm.DB, session chat.SessionID, deletions ledger.Deletions, e ledger.Event) (bool, error) {
	d, ok := deletedBy(e)
	if !ok {
		return false, nil
	}
	left, err := events.Listed(db, string(session), deletions, e)
	if err != nil {
		return false, err
	}
	if here, err := sqlite.All[int](db, `SELECT 1 FROM turns WHERE id = ?`, e.Entity); err != nil {
		return false, err
	} else if len(here) == 0 { // quotes can be deleted without it
		return slices.ContainsFunc(left, func(l events.Left) bool { return l.Type == string(ledger.EventToolCallEnded) }), nil
	}
	turns := []string{e.Entity} // and its retries, as the other device deleted them
	for _, l := range left {
		if l.Type == string(ledger.EventTurnAccepted) {
			turns = append(turns, l.EntityID)
		}
	}
	if used, err := usedHere(db, turns, d.Files); err != nil || used != "" {
		return true, cmp.Or(err, error(sqlite.Conflict("The document %s was permanently deleted on another computer with its turn, and another turn, a draft or a waiting message here uses it. Nothing of that was deleted here.", used).
			WithHint("delete what uses it, or send and delete it; then synchronize again")))
	}
	documents, err := sqlite.All[int](db, `SELECT 1 FROM files WHERE id IN ? AND session_id = ? LIMIT 1`, append(d.Files, ""), session)
	return len(left)+len(documents) > 0, err
}

// deletedBy reads what an event says was deleted.
func deletedBy(e ledger.Event) (d ledger.ContentDeleted, ok bool) {
	if e.Type != ledger.EventContentDeleted || e.Payload == nil {
		return d, false
	}
	d, err := events.PayloadOf(e, func(_ ledger.Event, d ledger.ContentDeleted) (ledger.ContentDeleted, error) { return d, nil })
	return d, err == nil
}

// documentsDeleted returns the documents that a session's events say were deleted.
func documentsDeleted(db *gorm.DB, session string) (map[chat.FileID]bool, error) {
	out := map[chat.FileID]bool{}
	all, err := core.DeletionEvents(db, session)
	for _, e := range all {
		d, _ := deletedBy(e)
		for _, id := range d.Files {
			out[id] = true
		}
	}
	return out, err
}

// usedHere returns the name of one of some documents that something else than some turns uses here; empty: none is.
func usedHere(db *gorm.DB, turns []string, files []chat.FileID) (string, error) {
	if len(files) == 0 {
		return "", nil
	}
	names, err := sqlite.All[string](db, `SELECT f.name FROM files f WHERE f.id IN ? AND `+core.FileUsed+` LIMIT 1`, files, turns)
	return append(names, "")[0], err
}

// Replacements returns what permanent deletions put in place of some events of a session here; nothing for those that they did not
// change. open: of some events it is not known yet which is to stand.
func (s *Bundles) Replacements(ctx context.Context, session chat.SessionID, parcels []bundle.Parcel) (out map[ledger.Spot]bundle.Parcel, open bool, err error) {
	out = map[ledger.Spot]bundle.Parcel{}
	err = s.Read(ctx, opGone, func(db *gorm.DB) error {
		deletions, err := core.DeletionsIn(db, string(session))
		if err != nil || len(deletions) == 0 {
			return err
		}
		x := exporter{ctx: ctx, db: db, session: string(session), noRequests: true}
		for _, p := range parcels {
			if p.Event.Type == ledger.EventContentDeleted && len(p.Contents) > 0 {
				before := len(p.Contents)
				if p.Contents, err = current(db, deletions, p); err != nil {
					return err
				}
				if len(p.Contents) < before {
					out[p.Event.Spot()] = p
				}
				continue
			}
			if len(deletions[p.Event.Spot()]) == 0 || p.Event.Payload == nil {
				continue
			}
			rows, err := core.EventAt(db, session, p.Event.Spot())
			for _, r := range rows {
				there := p.Event.Payload
				p.Event.Payload, err = x.decoded.Payload(db, r)
				switch {
				case err != nil || p.Event.Payload == nil || bytes.Equal(p.Event.Payload, there):
				case deletions.Newer(p.Event, there):
					p.Contents = nil
					out[p.Event.Spot()] = p
				default:
					here := p.Event.Payload
					p.Event.Payload = there
					open = open || !deletions.Newer(p.Event, here)
				}
			}
			if err != nil {
				return err
			}
		}
		for at, p := range out {
			if slices.Contains(describing, p.Event.Type) {
				if p.Contents, err = x.contentsOf(p.Event); err != nil {
					return err
				}
				out[at] = p
			}
		}
		return nil
	})
	return out, open, err
}

// Contents returns the hashes of all contents that a session names.
func (s *Bundles) Contents(ctx context.Context, session chat.SessionID) (hashes []string, err error) {
	err = s.Read(ctx, opGone, func(db *gorm.DB) error {
		x := exporter{ctx: ctx, db: db, session: string(session), noRequests: true}
		for c, err := range x.contents {
			if err != nil {
				return err
			}
			hashes = append(hashes, schema.HexHash(c.Bytes))
		}
		return nil
	})
	return hashes, err
}

// current returns which of the payloads that came with a deletion still stand, as far as is known here.
func current(db *gorm.DB, deletions ledger.Deletions, p bundle.Parcel) (out []bundle.Content, err error) {
	d, _ := deletedBy(p.Event)
	for _, c := range p.Contents {
		keep := true
		for _, listed := range d.Events {
			if listed.SHA256 != schema.HexHash(c.Bytes) {
				continue
			}
			rows, err := core.EventAt(db, chat.SessionID(p.Event.SessionID), ledger.Spot{Lane: listed.Lane, Number: listed.Seq})
			for _, r := range rows {
				payload, err := core.UnpackPayload(db, r.SessionID, r.Payload)
				if err != nil {
					return nil, err
				}
				keep = keep && !deletions.Newer(r.Event(payload), c.Bytes)
			}
			if err != nil {
				return nil, err
			}
		}
		if keep {
			out = append(out, c)
		}
	}
	return out, nil
}

// PutGone adds what is known of the deletion of a session, or of something in one.
func (s *Bundles) PutGone(ctx context.Context, more bundle.Gone) error {
	return s.Write(ctx, opGone, func(t *core.Tx) error {
		gone, known, err := core.GoneOf(t.DB, more.Session, more.Of)
		if err != nil {
			return err
		}
		if !known {
			gone.Knew = more.Knew
		}
		if more.At != "" && (more.At < gone.At || !known) {
			gone.At = more.At
		}
		gone.Files = append(gone.Files, more.Files...)
		gone.Contents = append(gone.Contents, more.Contents...)
		gone.Answered = append(gone.Answered, more.Answered...)
		return core.PutGone(t, gone)
	})
}

// Erased records that a file of the vault has nothing more of a session that was deleted, and what only it named is gone.
func (s *Bundles) Erased(ctx context.Context, session chat.SessionID, of, file string) error {
	return s.Write(ctx, opGone, func(t *core.Tx) error {
		gone, _, err := core.GoneOf(t.DB, session, of)
		if err != nil {
			return err
		}
		gone.Files = slices.DeleteFunc(gone.Files, func(name string) bool { return name == file })
		if of == "" || len(gone.Files) == 0 { // otherwise the other files may name them
			gone.Contents = nil
		}
		return core.PutGone(t, gone)
	})
}

// ByHand returns when a session last came in a bundle, while there was a vault; empty: it did not.
func (s *Bundles) ByHand(ctx context.Context, session chat.SessionID) (string, error) {
	key := core.ByHandKey + string(session)
	values, err := core.All[string](ctx, s, opGone, `SELECT value FROM settings WHERE key = ?`, key)
	return append(values, "")[0], err
}

// putByHand notes that a session came in a bundle: who deleted it elsewhere before does not delete it here too.
func putByHand(t *core.Tx, session string) error {
	return t.Run(`INSERT INTO settings (key, value, updated_at) SELECT ?, ?, ? FROM settings WHERE key = ? AND value <> ''
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
		core.ByHandKey+session, t.Stamp(), t.Stamp(), core.VaultKey)
}

// Aside makes a copy of a session with new ids, once: it was deleted elsewhere, and has been continued here.
func (s *Bundles) Aside(ctx context.Context, session chat.SessionID) (chat.SessionID, error) {
	from := &assembled{s: s, ctx: ctx, session: session, whole: true}
	if err := s.Read(ctx, opGone, func(db *gorm.DB) error { return from.assemble(db, nil) }); err != nil {
		return "", err
	}
	in, err := validate(ctx, from, session, nil)
	if err != nil {
		return "", err
	}
	in.mayCopy, in.unmergeable = true, true
	out, err := in.importTo(s)
	return out.Session, err
}
