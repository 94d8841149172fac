package bundles

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// A duplicate is a separate session with a single branch: the events of a branch's lineage, with new ids and their
// original times. Nothing is shared with the original. What belongs only to provider calls (requests, raw streams,
// manifests, measurements) stays with the original, as do drafts and vectors; the turns are indexed again.

// duplication copies the events of a lineage. Ids are those of the original.
type duplication struct {
	tx       *core.Tx
	original exporter
	copying  *events.Copying
	apply    *events.Applier
	kept     map[string]bool // records whose events are copied
	turns    map[chat.TurnID]int64
	leftOut  int           // open turns
	last     int64         // turn_seq of the last turn
	pending  []chat.TurnID // final turns that no copied state summary covers yet
	head     chat.StateID  // the last copied state summary
	epoch    int64         // of the copy's branch
	files    map[chat.FileID]bool
}

// Duplicate creates a session from the lineage of a branch. A turn that is still open is left out.
func (s *Bundles) Duplicate(ctx context.Context, branch chat.BranchID, title string) (out chat.Duplicate, err error) {
	const op = "session.duplicate"
	err = s.Write(ctx, op, func(t *core.Tx) error {
		return s.Read(ctx, op, func(db *gorm.DB) error { // the writer is held, so the original does not change
			d := duplication{
				tx: t, original: exporter{ctx: ctx, db: db}, kept: map[string]bool{}, turns: map[chat.TurnID]int64{},
				files: map[chat.FileID]bool{},
			}
			copied, err := d.run(branch, title)
			out = chat.Duplicate{Session: copied.Session(), Turns: len(d.turns), LeftOut: d.leftOut}
			return err
		})
	})
	return out, err
}

func (d *duplication) run(branch chat.BranchID, title string) (schema.SessionRow, error) {
	segs, err := core.Segments(d.original.db, branch)
	if err != nil {
		return schema.SessionRow{}, err
	}
	if err := d.gather(segs); err != nil {
		return schema.SessionRow{}, err
	}
	id, err := d.create(segs, title)
	if err != nil {
		return schema.SessionRow{}, err
	}
	now := d.tx.Now
	for e, err := range d.original.events() {
		if err != nil {
			return schema.SessionRow{}, err
		}
		if err := d.copyEvent(e); err != nil {
			return schema.SessionRow{}, err
		}
	}
	if err := d.apply.FlushStep(ledger.Event{}); err != nil {
		return schema.SessionRow{}, err
	}
	d.tx.Now = now
	if err := enqueueJobs(d.tx, string(id)); err != nil {
		return schema.SessionRow{}, err
	}
	return schema.SessionByID(d.tx.DB, id)
}

// gather finds the records that are copied.
func (d *duplication) gather(segs []core.Segment) error {
	const ofLineage = `FROM seg JOIN turns t ON t.branch_id = seg.branch AND t.turn_seq > seg."from"
		AND t.turn_seq <= seg."to"`
	turns, err := core.InScope[struct {
		ID      chat.TurnID
		TurnSeq int64
		Phase   chat.Phase
	}](d.original.db, segs, core.ScopeCTE+`SELECT t.id, t.turn_seq, t.phase `+ofLineage)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if !t.Phase.Finalized() && t.Phase != chat.PhaseFailed {
			d.leftOut++
			continue
		}
		d.turns[t.ID], d.last = t.TurnSeq, max(d.last, t.TurnSeq)
		d.kept[string(t.ID)] = true
	}
	rest, err := core.InScope[struct{ ID, Turn string }](d.original.db, segs, core.ScopeCTE+`, step AS (
		  SELECT s.id, s.turn_id `+ofLineage+` JOIN steps s ON s.turn_id = t.id WHERE s.ended_at IS NOT NULL)
		SELECT id, turn_id AS turn FROM step
		UNION ALL SELECT b.id, b.turn_id FROM step JOIN tool_batches b ON b.step_id = step.id
		UNION ALL SELECT c.id, b.turn_id FROM step JOIN tool_batches b ON b.step_id = step.id
		  JOIN tool_calls c ON c.batch_id = b.id
		UNION ALL SELECT st.id, '' FROM seg JOIN states st ON st.branch_id = seg.branch
		  AND st.state_seq BETWEEN 1 AND seg.state_to
		UNION ALL SELECT p.id, '' FROM seg JOIN pins p ON p.branch_id = seg.branch WHERE `+records.VisiblePin+`
		UNION ALL SELECT p.id, '' FROM seg JOIN pin_orders p ON p.branch_id = seg.branch WHERE `+records.VisiblePin+`
		UNION ALL SELECT r.id, '' FROM seg JOIN summaries r ON r.branch_id = seg.branch AND r.to_seq - 1 <= seg."to"`)
	for _, r := range rest {
		d.kept[r.ID] = r.Turn == "" || d.kept[r.Turn]
	}
	return err
}

// create creates the copy without turns, with the session's own settings.
func (d *duplication) create(segs []core.Segment, title string) (chat.SessionID, error) {
	o, err := schema.SessionByID(d.original.db, chat.SessionID(segs[0].Session))
	if err != nil {
		return "", err
	}
	root, err := sqlite.One[chat.StateID](d.original.db, "state", o.ID,
		`SELECT id FROM states WHERE session_id = ? AND origin = ?`, o.ID, chat.StateRoot)
	if err != nil {
		return "", err
	}
	d.original.session, d.head = o.ID, root
	session, branch, err := records.CreateSession(d.tx, chat.NewSession{
		Title: title, SystemPrompt: o.SystemPrompt, Source: chat.SourceDuplicate,
	})
	if err != nil {
		return "", err
	}
	id := chat.SessionID(session.ID)
	for _, c := range []struct {
		kind ledger.Type
		text string
	}{{ledger.EventSessionModel, o.Model}, {ledger.EventSessionFolder, o.Folder}} {
		if c.text == "" {
			continue
		}
		if err := records.SetSession(d.tx, id, c.kind, ledger.TextChanged{Text: c.text}); err != nil {
			return "", err
		}
	}
	if own := o.Session().Settings(); own != (chat.SessionSettings{SystemPrompt: o.SystemPrompt}) {
		if err := records.SetSettings(d.tx, id, own); err != nil {
			return "", err
		}
	}
	ids := map[string]string{string(root): branch.HeadState}
	for _, g := range segs {
		ids[g.Branch] = branch.ID
	}
	tail, err := d.tx.Tail(id)
	d.copying = events.ContinueCopying(d.tx.Now, session.ID, ids, ledger.Tail{Seq: tail.EventSeq, Hash: tail.Hash}, d.edit)
	d.apply = events.On(d.tx, id)
	return id, err
}

func (d *duplication) copyEvent(e ledger.Event) error {
	if !d.kept[e.Entity] {
		return nil
	}
	var err error
	switch e.Type {
	case ledger.EventTurnIndexed, ledger.EventContentDeleted:
		return nil // the payloads never held what was deleted
	case ledger.EventTurnFinalized:
		d.pending = append(d.pending, chat.TurnID(e.Entity))
	case ledger.EventSummarySuperseded: // by what may extend beyond the lineage
		visible, err := events.PayloadOf(e, func(_ ledger.Event, p ledger.SummarySuperseded) (bool, error) {
			return d.kept[p.By], nil
		})
		if err != nil || !visible {
			return err
		}
	}
	if err = d.play(e, nil); err != nil || e.Type != ledger.EventTurnAccepted {
		return err
	}
	return d.documents(e)
}

func (d *duplication) play(e ledger.Event, contents []bundle.Content) error {
	copied, err := d.copying.Event(e, contents)
	if err != nil {
		return sqlite.CorruptRecord("events", e.SessionID+"/"+sqlite.Itoa(e.Seq), err).
			WithHint("nothing was copied; run verify to see what is damaged")
	}
	return d.apply.Play(*copied, contents)
}

// edit changes what an event says about records that are not copied.
func (d *duplication) edit(e ledger.Event, data any) {
	switch p := data.(type) {
	case *ledger.TurnAccepted:
		if !d.kept[string(p.RetryOf)] {
			p.RetryOf = ""
		}
		p.StateBefore = d.head
	case *ledger.TurnPrepared:
		p.ManifestSHA256, p.RetrievedSHA256 = schema.HexHash(nil), ""
	case *ledger.StepStarted:
		p.StreamPath, p.RequestSHA256, p.RequestBytes = "", schema.HexHash(nil), 0
	case *ledger.StepEnded:
		p.ResponseSHA256, p.EventsSHA256 = "", ""
	case *ledger.StateCommitted:
		n := 0
		for n < len(d.pending) && d.turns[d.pending[n]] <= p.CoversSeq {
			n++
		}
		p.Turns, d.pending = append([]chat.TurnID{}, d.pending[:n]...), d.pending[n:]
		d.epoch++
		p.Epoch, d.head = d.epoch, chat.StateID(e.Entity)
	case *ledger.PinChanged:
		if !d.kept[string(p.Replaces)] {
			p.Replaces = ""
		}
		p.AfterTurn = min(p.AfterTurn, d.last)
	case *ledger.PinsMoved:
		p.Pins = slices.DeleteFunc(p.Pins, func(id chat.PinID) bool { return !d.kept[string(id)] })
		p.AfterTurn = min(p.AfterTurn, d.last)
	}
}

// documents copies the documents of a turn's message, unless an earlier turn had them: the original may have them from
// a turn of another branch.
func (d *duplication) documents(accepted ledger.Event) error {
	named := map[chat.FileID]int64{}
	if err := documentsIn(accepted, named); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		if d.files[id] {
			continue
		}
		d.files[id] = true
		f, err := schema.FileByID(d.original.db, id)
		if err != nil {
			return err
		}
		contents, err := d.original.fileContents(string(id))
		if err != nil {
			return err
		}
		e := accepted
		e.Type, e.Entity = ledger.EventFileAdded, string(id)
		if e.Payload, err = ledger.Payload(ledger.FileAdded{
			TurnID: chat.TurnID(accepted.Entity), Name: f.Name, MediaType: f.MediaType, Size: f.Size, Tokens: f.Tokens,
			SHA256: schema.HexHash(contents[0].Bytes), TextSHA256: schema.HexHash(contents[len(contents)-1].Bytes),
		}); err != nil {
			return err
		}
		if err := d.play(e, contents); err != nil {
			return err
		}
	}
	return nil
}
