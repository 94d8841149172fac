package bundles

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// WriteBundle writes a session as a bundle (SPEC 12): its whole ledger and the contents that the ledger names by
// hash, all from one moment. Drafts, jobs, measurements and vectors are left out, and, unless withQuotes is set, the
// requests that quoted other conversations or files of projects; leftOut is the number of requests that are not in it.
// After an error the content of w is not a valid bundle.
func (s *Bundles) WriteBundle(ctx context.Context, session chat.SessionID, w io.Writer, withQuotes bool) (leftOut int, err error) {
	err = s.Read(ctx, "bundle.write", func(db *gorm.DB) error {
		row, err := schema.SessionByID(db, session)
		if err != nil {
			return err
		}
		open, err := core.Uncertified(db, string(session))
		if err != nil {
			return err
		}
		if open { // a bundle has no seal that would certify it
			return sqlite.Conflict("Something in the session was permanently deleted on another computer, and what says so there has not arrived. It was not exported.").
				WithHint("wait until the folder is synchronized completely, or synchronize the other devices")
		}
		state, _, err := records.ReplaySession(db, string(session))
		if err != nil {
			return err
		}
		memory, err := records.MemoryOf(db, state)
		if err != nil {
			return err
		}
		lanes, err := lanesHere(db, string(session))
		if err != nil {
			return err
		}
		if len(lanes) == 1 && lanes[""] > 0 {
			lanes = nil
		}
		x := exporter{ctx: ctx, db: db, session: string(session), withQuotes: withQuotes}
		if x.quoting, err = quotingRequests(db, string(session), state); err != nil {
			return err
		}
		leftOut = x.leftOut()
		return bundle.Write(w, bundle.Session{
			Meta: bundle.Meta{
				Program: "ContextInfinity", Version: s.Version, SessionID: session, Title: row.Title, CreatedAt: row.CreatedAt,
				ExportedAt: chat.FormatTime(s.Clock.Now()), Head: bundle.Head{EventSeq: state.EventSeq, Hash: state.EventHash},
				LeftOut: leftOut, Lanes: len(lanes),
				Counts: bundle.Counts{Branches: len(state.Branches), Turns: len(state.Turns), Documents: len(state.Files)},
			},
			Events: x.events(), Contents: x.contents,
			Snapshot: ledger.Snapshot{Version: ledger.SnapshotVersion, State: state, Memory: memory},
		})
	})
	return leftOut, err
}

// exporter reads what is exported, one record at a time.
type exporter struct {
	ctx      context.Context
	db       *gorm.DB
	session  string
	decoded  core.RecentValues // payloads
	requests core.RecentValues
	// quoting are the requests that quoted other conversations.
	quoting    map[string]quotingRequest
	deleted    map[chat.FileID]bool // documents, permanently
	withQuotes bool
	noRequests bool  // all are left out
	upTo       int64 // the last event, in the order in which they were stored here; 0: all
}

// events yields the ledger in order, or the events of some types.
func (x *exporter) events(types ...ledger.Type) iter.Seq2[ledger.Event, error] {
	return func(yield func(ledger.Event, error) bool) {
		lanes, err := core.HasLanes(x.db, x.session)
		if err != nil {
			yield(ledger.Event{}, err)
			return
		}
		where, args := ` AND (event_seq <= ? OR 0 = ?)`, []any{x.session, x.upTo, x.upTo}
		if len(types) > 0 && !lanes { // with lanes, positions are counted
			where, args = where+` AND type IN ?`, append(args, types)
		}
		rows, err := x.db.Raw(`SELECT * FROM events WHERE session_id = ?`+where+core.InOrder(lanes), args...).Rows()
		if err != nil {
			yield(ledger.Event{}, err)
			return
		}
		defer rows.Close()
		position := core.Positions(0)
		for rows.Next() {
			var r schema.EventRow
			if err = x.db.ScanRows(rows, &r); err != nil {
				break
			}
			e := position.Next(r, nil)
			if len(types) > 0 && !slices.Contains(types, e.Type) {
				continue
			}
			e.Payload, err = x.decoded.Payload(x.db, r)
			if err != nil {
				err = sqlite.CorruptRecord("events", r.SessionID+"/"+sqlite.Itoa(r.EventSeq), err)
			}
			if !yield(e, errors.Join(err, x.ctx.Err())) {
				return
			}
		}
		if err = errors.Join(err, rows.Err()); err != nil {
			yield(ledger.Event{}, err)
		}
	}
}

// describing selects the events that name contents by hash.
var describing = []ledger.Type{ledger.EventStepStarted, ledger.EventStepEnded, ledger.EventTurnPrepared, ledger.EventFileAdded}

// contents yields the contents that the events name by hash, in their order.
func (x *exporter) contents(yield func(bundle.Content, error) bool) {
	for e, err := range x.events(describing...) {
		var list []bundle.Content
		if err == nil {
			list, err = x.contentsOf(e)
		}
		if err != nil {
			yield(bundle.Content{}, err)
			return
		}
		for _, c := range list {
			if c.Seq = e.Seq; !yield(c, nil) {
				return
			}
		}
	}
}

// contentsOf returns the contents of one event; most have none.
func (x *exporter) contentsOf(e ledger.Event) ([]bundle.Content, error) {
	if e.Payload == nil {
		return nil, nil
	}
	switch e.Type {
	case ledger.EventStepStarted:
		return events.PayloadOf(e, x.request)
	case ledger.EventStepEnded:
		return events.PayloadOf(e, x.answer)
	case ledger.EventTurnPrepared:
		return events.PayloadOf(e, x.context)
	case ledger.EventFileAdded:
		return events.PayloadOf(e, x.document)
	}
	return nil, nil
}

// collector collects contents and checks each against its event's hash; a mismatch means damage.
type collector struct {
	list []bundle.Content
	bad  bool
}

func (t *collector) add(kind bundle.Kind, hash string, b []byte, err error) {
	if err != nil || schema.HexHash(b) != hash {
		t.bad = true
	}
	t.list = append(t.list, bundle.Content{Kind: kind, Bytes: b})
}

func (t *collector) result(table, id string) ([]bundle.Content, error) {
	if t.bad {
		return nil, sqlite.CorruptRecord(table, id, nil).WithHint("nothing was exported; run verify to see what is damaged: a backup may contain it")
	}
	return t.list, nil
}

func (x *exporter) request(e ledger.Event, p ledger.StepStarted) ([]bundle.Content, error) {
	if p.RequestSHA256 == schema.HexHash(nil) {
		return nil, nil
	}
	if x.noRequests || x.leavesOut(e.Entity) {
		why := schema.QuotesOthers
		if x.noRequests {
			why = schema.StaysThere
		}
		mark, err := schema.LeftOutRequest(why, p.RequestSHA256, p.RequestBytes)
		return []bundle.Content{{Kind: bundle.Request, Bytes: mark}}, err
	}
	request, err := delta.RequestChain.Read(x.db, e.Entity, &x.requests)
	if err == nil {
		x.requests.Put(e.Entity, request)
	}
	var t collector
	if sum, marked := schema.RequestSHA256(request); marked && sum == p.RequestSHA256 {
		return []bundle.Content{{Kind: bundle.Request, Bytes: request}}, nil // left out of the bundle that it came in
	}
	t.add(bundle.Request, p.RequestSHA256, request, err)
	return t.result("steps", e.Entity)
}

func (x *exporter) answer(e ledger.Event, p ledger.StepEnded) ([]bundle.Content, error) {
	if p.ResponseSHA256 == "" && p.EventsSHA256 == "" {
		return nil, nil
	}
	row, err := sqlite.One[schema.StepRow](x.db, "step", e.Entity, `SELECT response_json, raw_events, `+schema.ItemColumns+` FROM steps WHERE id = ?`, e.Entity)
	if err != nil {
		return nil, err
	}
	var t collector
	if p.ResponseSHA256 != "" {
		response, err := codec.Unpack(row.ResponseJSON)
		t.add(bundle.Response, p.ResponseSHA256, response, err)
	}
	if p.EventsSHA256 != "" {
		events, err := row.Events()
		t.add(bundle.RawEvents, p.EventsSHA256, events, err)
	}
	return t.result("steps", e.Entity)
}

// context returns a turn's manifest and what was retrieved for it. Of a context that has since been assembled again only what is
// still the same is known.
func (x *exporter) context(e ledger.Event, p ledger.TurnPrepared) ([]bundle.Content, error) {
	var t collector
	if p.ManifestSHA256 != "" && p.ManifestSHA256 != schema.HexHash(nil) {
		manifest, err := delta.ManifestChain.Read(x.db, e.Entity, nil)
		t.add(bundle.Manifest, p.ManifestSHA256, manifest, err)
	}
	if p.RetrievedSHA256 != "" {
		record, err := events.RetrievedRecord(x.db, e.Entity, p.RetrievedSHA256)
		t.add(bundle.Retrieved, p.RetrievedSHA256, record, err)
	}
	if t.bad { // damaged, or of a later context
		later, err := sqlite.All[int](x.db, `SELECT 1 FROM events WHERE entity_id = ? AND session_id = ? AND type = ?
			AND CASE lane_seq WHEN 0 THEN event_seq ELSE lane_seq END > ?`, e.Entity, x.session, e.Type, e.Number())
		if err != nil || len(later) > 0 {
			return nil, err
		}
	}
	return t.result("turns", e.Entity)
}

// document returns a document with its text; nothing if it was deleted permanently.
func (x *exporter) document(e ledger.Event, p ledger.FileAdded) ([]bundle.Content, error) {
	var err error
	if x.deleted == nil {
		x.deleted, err = documentsDeleted(x.db, x.session)
	}
	if err != nil || p.SHA256 == "" || x.deleted[chat.FileID(e.Entity)] {
		return nil, err
	}
	contents, err := x.fileContents(e.Entity)
	if err != nil {
		return nil, err
	}
	var t collector
	for _, c := range contents {
		t.add(c.Kind, map[bundle.Kind]string{bundle.Document: p.SHA256, bundle.Words: p.TextSHA256}[c.Kind], c.Bytes, nil)
	}
	return t.result("files", e.Entity)
}

// fileContents returns the bytes of a document, and its text unless the bytes are the text.
func (x *exporter) fileContents(id string) ([]bundle.Content, error) {
	row, err := sqlite.One[struct {
		Content []byte
		Text    *string
	}](x.db, "document", id, `SELECT content, text FROM files WHERE id = ?`, id)
	contents := []bundle.Content{{Kind: bundle.Document, Bytes: row.Content}}
	if row.Text != nil {
		contents = append(contents, bundle.Content{Kind: bundle.Words, Bytes: []byte(*row.Text)})
	}
	return contents, err
}
