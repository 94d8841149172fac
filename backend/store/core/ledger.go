package core

import (
	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A ledger that only one device has written has no lanes: the number of an event is its event_seq. The first event of
// another device numbers all of them (lane_seq); event_seq then is the order in which they were stored here.

// LedgerTail is the end of the lane of a session to which this device writes.
type LedgerTail struct {
	EventSeq int64 // of the newest event of any lane
	Hash     []byte
	Lane     string
	Clock    int64 // the highest number of any lane; 0: the session has no lanes
}

// Payload is an event's payload as stored, and the hash of its content.
type Payload struct{ Packed, Hash []byte }

// Append adds an event to the session's ledger.
func (t *Tx) Append(session chat.SessionID, kind ledger.Type, entity string, p Payload) error {
	tail, err := t.Tail(session)
	if err != nil {
		return err
	}
	row := schema.EventRow{
		SessionID: string(session), EventSeq: tail.EventSeq + 1, Type: string(kind), EntityID: entity,
		CreatedAt: t.Stamp(), PayloadHash: p.Hash, PrevHash: tail.Hash, Payload: p.Packed, Lane: tail.Lane,
	}
	if tail.Clock > 0 {
		row.LaneSeq = tail.Clock + 1
	}
	row.Hash = row.Event(nil).Sum()
	if err := t.DB.Create(&row).Error; err != nil {
		return err
	}
	t.tails[session] = LedgerTail{row.EventSeq, row.Hash, row.Lane, row.LaneSeq}
	return nil
}

// Tail returns the end of this device's lane of a session.
func (t *Tx) Tail(session chat.SessionID) (LedgerTail, error) {
	if tail, ok := t.tails[session]; ok {
		return tail, nil
	}
	rows, err := sqlite.All[struct {
		EventSeq int64
		Hash     []byte
		BegunBy  string
		Clock    int64
	}](t.DB, `SELECT e.event_seq, e.hash, s.begun_by,
			coalesce((SELECT max(lane_seq) FROM events WHERE session_id = s.id AND lane_seq <> 0), 0) AS clock
		FROM sessions s JOIN events e ON e.session_id = s.id WHERE s.id = ? ORDER BY e.event_seq DESC LIMIT 1`, session)
	if err != nil || len(rows) == 0 {
		return LedgerTail{Hash: ledger.Genesis().Hash}, err
	}
	r := rows[0]
	tail := LedgerTail{EventSeq: r.EventSeq, Hash: r.Hash, Clock: r.Clock}
	if r.BegunBy != t.Device.Home {
		tail.Lane = t.Device.ID
	}
	if tail.Clock == 0 && tail.Lane != "" {
		tail.Clock = r.EventSeq
		err = NumberEvents(t, session)
	}
	if err == nil && tail.Clock > 0 {
		var last []ledger.Tail
		if last, err = laneTail(t.DB, session, tail.Lane); err == nil {
			tail.Hash = append(last, ledger.Genesis())[0].Hash
		}
	}
	return tail, err
}

// laneTail returns the end of a lane, or nothing, in a session with lanes.
func laneTail(db *gorm.DB, session chat.SessionID, lane string) ([]ledger.Tail, error) {
	return sqlite.All[ledger.Tail](db, `SELECT lane_seq AS seq, hash FROM events
		WHERE session_id = ? AND lane = ? AND lane_seq <> 0 ORDER BY lane_seq DESC LIMIT 1`, session, lane)
}

// HasLanes reports whether several devices have written to a session's ledger, so that its events are numbered.
func HasLanes(db *gorm.DB, session string) (bool, error) {
	found, err := sqlite.All[int](db, `SELECT 1 FROM events WHERE session_id = ? AND lane_seq <> 0 LIMIT 1`, session)
	return len(found) > 0, err
}

// LastEvent returns the place and hash of the last event in the order of the ledger, without the events that were stored
// here after one (upTo), and reports whether all of those follow it.
func LastEvent(db *gorm.DB, session string, upTo int64) (last schema.EventRow, follow bool, err error) {
	lanes, err := HasLanes(db, session)
	if err != nil {
		return last, false, err
	}
	query := `SELECT event_seq, lane, lane_seq, hash FROM events WHERE session_id = ? AND event_seq = ?`
	if lanes { // +event_seq: otherwise SQLite reads the whole session by its key, and sorts it
		query = `SELECT event_seq, lane, lane_seq, hash FROM events WHERE session_id = ? AND +event_seq <= ? AND lane_seq <> 0
			ORDER BY lane_seq DESC, lane DESC LIMIT 1`
	}
	rows, err := sqlite.All[schema.EventRow](db, query, session, upTo)
	if err != nil || len(rows) == 0 {
		return last, false, err
	}
	between, err := sqlite.All[int](db, `SELECT 1 FROM events WHERE session_id = ? AND event_seq > ? AND lane_seq <> 0 AND (lane_seq, lane) < (?, ?) LIMIT 1`,
		session, upTo, rows[0].LaneSeq, rows[0].Lane)
	return rows[0], len(between) == 0, err
}

// TailsUpTo returns the end of each lane, without the events that were stored here after one.
func TailsUpTo(db *gorm.DB, session string, upTo int64) (ledger.Tails, error) {
	lanes, err := sqlite.All[string](db, `SELECT DISTINCT lane FROM events WHERE session_id = ? AND lane_seq <> 0`, session)
	if err != nil {
		return nil, err
	}
	query := `SELECT event_seq, lane, lane_seq, hash FROM events WHERE session_id = ? AND +event_seq <= ? AND lane = ? AND lane_seq <> 0
		ORDER BY lane_seq DESC LIMIT 1`
	if len(lanes) == 0 {
		lanes, query = []string{""}, `SELECT event_seq, lane, lane_seq, hash FROM events WHERE session_id = ? AND event_seq <= ? AND lane = ?
			ORDER BY event_seq DESC LIMIT 1`
	}
	tails := ledger.Tails{}
	for _, lane := range lanes {
		rows, err := sqlite.All[schema.EventRow](db, query, session, upTo, lane)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			tails[lane] = r.Event(nil).Tail()
		}
	}
	return tails, nil
}

// NumberEvents gives the events of a session that had one lane their numbers.
func NumberEvents(t *Tx, session chat.SessionID) error {
	if numbered, err := HasLanes(t.DB, string(session)); err != nil || numbered {
		return err
	}
	return t.Run(`UPDATE events SET lane_seq = event_seq WHERE session_id = ? AND lane_seq = 0`, session)
}

// InOrder completes a query of a session's events: the rest of its condition, and the order of the ledger, which is
// the same on every device.
func InOrder(lanes bool) string {
	if lanes {
		return ` AND lane_seq <> 0 ORDER BY lane_seq, lane`
	}
	return ` ORDER BY event_seq`
}

// Positions numbers events that are read in the order of the ledger: Seq is a position in it, not where this data
// directory stored the event.
type Positions int64

// Next returns a row's event with its position.
func (p *Positions) Next(r schema.EventRow, payload []byte) ledger.Event {
	*p++
	e := r.Event(payload)
	if r.LaneSeq != 0 {
		e.Seq = int64(*p)
	}
	return e
}
