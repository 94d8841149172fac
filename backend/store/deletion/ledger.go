package deletion

import (
	"errors"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// reword replaces payloads of the events of some types about a record. The affected sessions' ledgers are updated
// once each at the end.
func reword[P any](e *Operation, session chat.SessionID, entity string, types []ledger.Type, change func(*P)) error {
	rows, err := sqlite.All[schema.EventRow](e.DB, `SELECT * FROM events WHERE entity_id = ? AND session_id = ? AND type IN ? ORDER BY event_seq`,
		entity, session, types)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := rewordRow(e, r, change); err != nil {
			return err
		}
	}
	return nil
}

// rewordLast is reword for only the last such event.
func rewordLast[P any](e *Operation, session chat.SessionID, entity string, kind ledger.Type, change func(*P)) error {
	rows, err := sqlite.All[schema.EventRow](e.DB, `SELECT * FROM events WHERE entity_id = ? AND session_id = ? AND type = ?
		ORDER BY event_seq DESC LIMIT 1`, entity, session, kind)
	if err != nil || len(rows) == 0 {
		return err
	}
	return rewordRow(e, rows[0], change)
}

// rewordRow records the replacement of a payload. An unreadable payload is cleared: it may contain the text, and
// verify has reported it before.
func rewordRow[P any](e *Operation, r schema.EventRow, change func(*P)) error {
	session := chat.SessionID(r.SessionID)
	if e.payloads[session] == nil {
		e.payloads[session] = map[int64][]byte{}
	}
	payload, reworded := e.payloads[session][r.EventSeq]
	if !reworded {
		var err error
		if payload, err = e.decoded.Payload(e.DB, r); err != nil || payload == nil {
			e.payloads[session][r.EventSeq] = nil
			return nil
		}
	}
	if payload == nil {
		return nil
	}
	changed, err := ledger.Rewrite(payload, change)
	if err != nil {
		e.payloads[session][r.EventSeq] = nil
		return nil
	}
	e.payloads[session][r.EventSeq] = changed
	return nil
}

// certifyPayloads writes the reworded payloads and the event that certifies them.
func (e *Operation) certifyPayloads() error {
	for _, session := range slices.Sorted(maps.Keys(e.payloads)) {
		if err := e.certifyPayloadsOf(session, e.payloads[session]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Operation) certifyPayloadsOf(session chat.SessionID, payloads map[int64][]byte) error {
	lacks, err := e.lacks(session, payloads)
	if err != nil {
		return err
	}
	if err := e.rebase(session, payloads); err != nil {
		return err
	}
	record := ledger.ContentDeleted{Receipt: e.receipt, Events: []ledger.DeletedEvent{}, Files: e.deletedFiles}
	if string(session) != e.subject.Session {
		record.Files = nil
	}
	for _, seq := range slices.Sorted(maps.Keys(payloads)) {
		payload := payloads[seq]
		if err := e.remove("events", `UPDATE events SET payload = ? WHERE session_id = ? AND event_seq = ?`, codec.Pack(payload), session, seq); err != nil {
			return err
		}
		if payload != nil {
			row, err := sqlite.One[schema.EventRow](e.DB, "event", seq,
				`SELECT event_seq, lane, lane_seq FROM events WHERE session_id = ? AND event_seq = ?`, session, seq)
			if err != nil {
				return err
			}
			spot := row.Event(nil).Spot()
			record.Events = append(record.Events, ledger.DeletedEvent{Lane: spot.Lane, Seq: spot.Number, SHA256: schema.HexHash(payload), Lacks: lacks[spot]})
		}
	}
	// A snapshot holds earlier content, including what the head knew.
	if err := e.remove("snapshots", `DELETE FROM snapshots WHERE session_id = ?`, session); err != nil {
		return err
	}
	if err := events.Record(e.Tx, session, ledger.EventContentDeleted, e.subject.Subject, record); err != nil {
		return err
	}
	return e.partGone(session)
}

// lacks returns what earlier deletions took from the events whose payloads are about to change, without those in the lane of this
// device, which say so themselves: that lane may be younger than its data, or the device took what another one left.
func (e *Operation) lacks(session chat.SessionID, payloads map[int64][]byte) (map[ledger.Spot][]string, error) {
	deletions, err := core.DeletionsIn(e.DB, string(session))
	if err != nil || len(deletions) == 0 {
		return nil, err
	}
	tail, err := e.Tail(session)
	if err != nil {
		return nil, err
	}
	out := map[ledger.Spot][]string{}
	for _, seq := range slices.Sorted(maps.Keys(payloads)) {
		row, err := sqlite.One[schema.EventRow](e.DB, "event", seq, `SELECT * FROM events WHERE session_id = ? AND event_seq = ?`, session, seq)
		if err != nil {
			return nil, err
		}
		at := row.Event(nil).Spot()
		before, err := core.UnpackPayload(e.DB, string(session), row.Payload)
		if len(deletions[at]) == 0 || err != nil { // it cannot be read: nothing is known of it
			continue
		}
		of, _ := deletions.Lacks(at, before)
		for _, d := range deletions[at] {
			if d.By.Lane == tail.Lane && d.By != (ledger.Spot{}) {
				delete(of, d.Of)
			}
		}
		out[at] = slices.Sorted(maps.Keys(of))
	}
	return out, nil
}

// travels reports whether the other devices delete what is deleted in a session, because a vault has it or will have it.
func (e *Operation) travels(session chat.SessionID) (has core.InVault, travels bool, err error) {
	if has, travels, err = core.InVaultOf(e.DB, session); err == nil && !travels {
		travels, err = core.HasVault(e.DB)
	}
	return has, travels, err
}

// partGone notes that files of a vault have what was deleted in a session, and that the other devices will be informed. Without a
// vault, a deletion is one of this device only.
func (e *Operation) partGone(session chat.SessionID) error {
	has, travels, err := e.travels(session)
	if err != nil || !travels {
		return err
	}
	part, known, err := core.GoneOf(e.DB, session, e.subject.Subject)
	if err != nil {
		return err
	}
	if !known {
		part.At = e.Stamp()
	}
	part.Files = append(part.Files, has.Files...)
	return core.PutGone(e.Tx, part)
}

// rebase repacks what is packed against a payload that is about to change, without a base.
func (e *Operation) rebase(session chat.SessionID, payloads map[int64][]byte) error {
	rows, err := sqlite.All[struct {
		EventSeq int64
		Head     []byte
	}](e.DB, `SELECT event_seq, substr(payload, 1, 16) AS head FROM events WHERE session_id = ? AND substr(payload, 1, 1) = x'03'
		ORDER BY event_seq DESC`, session)
	if err != nil {
		return err
	}
	for _, r := range rows {
		_, ref, ok := codec.BaseOf(r.Head)
		_, changes := payloads[ref]
		_, itself := payloads[r.EventSeq]
		if !ok || !changes || itself {
			continue
		}
		row, err := sqlite.One[schema.EventRow](e.DB, "event", r.EventSeq, `SELECT * FROM events WHERE session_id = ? AND event_seq = ?`, session, r.EventSeq)
		if err != nil {
			return err
		}
		payload, err := core.UnpackPayload(e.DB, string(session), row.Payload)
		if err != nil {
			return errors.Join(errors.New("an event that depends on the deleted content cannot be read"), err)
		}
		if err := e.Run(`UPDATE events SET payload = ? WHERE session_id = ? AND event_seq = ?`, codec.Pack(payload), session, r.EventSeq); err != nil {
			return err
		}
	}
	return nil
}
