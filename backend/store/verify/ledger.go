package verify

import (
	"slices"
	"strings"

	"contextinfinity/backend/internal/heap"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// tableChecks compare the rows of a table with the ledger of their session. A table without one is compared together
// with the table before it, or not at all.
var tableChecks = map[string]func(*Audit){
	"sessions":     (*Audit).sessions,
	"branches":     (*Audit).branches,
	"states":       (*Audit).states,
	"turns":        (*Audit).turns,
	"summaries":    (*Audit).summaries,
	"pins":         (*Audit).pins,
	"steps":        (*Audit).steps,
	"tool_batches": (*Audit).toolBatches,
	"tool_calls":   (*Audit).toolCalls,
	"files":        (*Audit).files,
	"chunks":       (*Audit).chunks,
	"units":        (*Audit).units,
	"retrieved":    (*Audit).retrievals,
}

// replays checks the sessions one by one: the chain of each ledger, its snapshots, the contents of its records, and
// the records against the ledger's replay. Only one session's state is held in memory.
func (a *Audit) replays() {
	type session struct {
		ID    string
		Empty int64
	}
	sessions, err := sqlite.All[session](a.DB, schema.EmptyTablesQuery, ledger.EventContentDeleted)
	if err != nil { // a table is damaged: every table is read for every session, so that unreadable rows are reported
		sessions, err = sqlite.All[session](a.DB, `SELECT id, 0 AS empty FROM (`+schema.EverySession+`)`)
	}
	if err != nil {
		sessions, err = sqlite.All[session](a.DB, `SELECT id, 0 AS empty FROM sessions ORDER BY id`)
	}
	a.expect(err == nil, findUnreadable, "sessions", "", "The table cannot be read.")
	for _, s := range sessions {
		if a.DB.Statement.Context.Err() != nil {
			break
		}
		a.empty = s.Empty
		a.Replay(s.ID)
	}
	a.session, a.empty = "", 0
}

// mayHold reports whether the current session may have rows in a table (schema.EmptyTables).
func (a *Audit) mayHold(table string) bool {
	n := slices.Index(schema.EmptyTables, table)
	return n < 0 || a.empty&(1<<n) == 0
}

// Replay replays the ledger of a session and compares the rows of the session with the result.
func (a *Audit) Replay(session string) {
	a.session, a.Want, a.Have, a.named = session, ledger.NewState(session), ledger.NewState(session), map[string]bool{}
	a.ledger()
	if a.loosen != nil {
		defer func() { a.loosen(); a.loosen = nil }()
	}
	a.records(ledger.Compare)
	for id, c := range a.Want.Calibrations {
		known := a.calibrated[id]
		if len(known) > 0 && c.Revision > known[0].Revision {
			known = nil
		}
		if len(known) == 0 || c.Revision == known[0].Revision {
			a.calibrated[id] = append(known, c)
		}
	}
}

// records compares the rows of the session with its state.
func (a *Audit) records(compare func(have, want *ledger.State) []ledger.Difference) {
	for _, t := range schema.SessionTables {
		if check := tableChecks[t.Name]; check != nil {
			check(a)
		}
	}
	for _, d := range compare(a.Have, a.Want) {
		a.differs(d)
	}
}

// differs reports a row that does not match the ledger's replay. An unreadable row was already reported as such.
func (a *Audit) differs(d ledger.Difference) {
	if a.named[d.Table+"/"+d.ID] {
		return
	}
	switch {
	case d.Unknown:
		a.add(FindReplay, d.Table, d.ID, "The ledger does not record it.")
		return
	case d.Missing:
		a.add(FindReplay, d.Table, d.ID, "The ledger records it, and it is missing.")
		return
	}
	var fields []string
	for _, f := range d.Fields {
		if f == "retrieved" {
			a.add(FindReplay, "retrieved", d.ID, "Its record of retrieved memory is not what the ledger says.")
		} else {
			fields = append(fields, f)
		}
	}
	if len(fields) > 0 {
		a.add(FindReplay, d.Table, d.ID, "It is not what the ledger says: %s.", strings.Join(fields, ", "))
	}
}

// exclude excludes an unreadable record from the comparison.
func (a *Audit) exclude(table, id string) {
	if a.named != nil {
		a.named[table+"/"+id] = true
	}
}

// ledger checks the session's chain, replays it, and checks its snapshots on the way.
func (a *Audit) ledger() {
	snapshots := a.snapshots()
	a.deletions()
	tails, position := ledger.Tails{}, core.Positions(0)
	order := "event_seq"
	lanes, err := core.HasLanes(a.DB, a.session)
	a.expect(err == nil, findUnreadable, "events", a.session, "Its lanes cannot be read.")
	if lanes {
		order = "lane_seq, lane"
	}
	each(a, "events", "*", order, func(r schema.EventRow) {
		payload, err := a.payload(r)
		if codec.IsLong(len(payload)) && a.loosen == nil {
			a.loosen = heap.Tighten()
		}
		e := position.Next(r, payload)
		id := r.SessionID + "/" + sqlite.Itoa(r.EventSeq)
		for _, fault := range tails.Follow(e) {
			a.add(findLedger, "events", id, "%s", fault)
		}
		a.times("events", id, &r.CreatedAt)
		a.apply(id, e, err)
		if snapshot, ok := snapshots[e.Seq]; ok {
			a.expect(snapshot == records.StateSum(a.Want), records.FindSnapshot, "snapshots", id, "It is not what the ledger makes of the events up to it.")
			delete(snapshots, e.Seq)
		}
	})
	for seq := range snapshots {
		a.add(records.FindSnapshot, "snapshots", a.session+"/"+sqlite.Itoa(seq), "There is no such event.")
	}
}

// deletions reads which parts of the session's ledger were deleted permanently, and compares each with its receipt.
func (a *Audit) deletions() {
	a.deleted = ledger.Deletions{}
	var err error
	if a.early == nil {
		a.early, err = core.SessionsReplaced(a.DB)
	}
	if a.early[a.session] {
		err = core.ReplacedIn(a.DB, a.session, a.deleted)
	}
	a.expect(err == nil, findUnreadable, "settings", "", "The permanent deletions cannot be read.")
	if !a.mayHold(schema.DeletedContent) {
		return
	}
	a.deleted, err = core.DeletionsIn(a.DB, a.session)
	a.expect(err == nil, findUnreadable, "events", a.session, "The permanent deletions cannot be read.")
	receipts, err := sqlite.All[string](a.DB, `SELECT id FROM receipts`)
	a.expect(err == nil, findUnreadable, "receipts", "", "The table cannot be read.")
	recorded := map[string]bool{"": true}
	for _, all := range a.deleted {
		for _, e := range all {
			if !recorded[e.Receipt] && !slices.Contains(receipts, e.Receipt) {
				a.add(findLedger, "receipts", e.Receipt, "The ledger of session %s records this permanent deletion, and its receipt is missing.", a.session)
			}
			recorded[e.Receipt] = true
		}
	}
}

// apply replays a readable event; the replay continues after an unreadable one.
func (a *Audit) apply(id string, e ledger.Event, err error) {
	a.Want.EventSeq = e.Seq - 1 // the gap was reported
	defer a.Want.Advance(e)
	switch {
	case err != nil || e.Payload == nil:
		a.add(findLedger, "events", id, "Its payload cannot be read.")
	case !a.deleted.Certifies(e):
		a.add(findLedger, "events", id, "Its payload does not match its hash, and no permanent deletion put it there.")
	default:
		err = a.Want.Apply(e)
		a.expect(err == nil, findLedger, "events", id, "It cannot be replayed: %v.", err)
	}
}

// payload decodes an event's payload; recent ones are cached for the events based on them.
func (a *Audit) payload(e schema.EventRow) ([]byte, error) { return a.decoded.Payload(a.DB, e) }

// calibrations checks calibrations against the newest one in any ledger; two from different data directories may have
// the same revision.
func (a *Audit) calibrations() {
	seen := map[string]bool{}
	each(a, "calibrations", "*", "provider, model_id", func(r schema.CalibrationRow) {
		id := r.Provider + "/" + r.ModelID
		seen[id] = true
		a.times("calibrations", id, &r.UpdatedAt)
		a.expect(r.Samples >= 1 && r.Samples <= events.CalibrationSamples && r.Factor == events.CalibrationFactor(r.Mean),
			findHistory, "calibrations", id, "Its factor is not that of its mean.")
		recorded := a.calibrated[id]
		if len(recorded) == 0 {
			recorded = []*ledger.Calibration{{Factor: r.Factor}}
		}
		a.expect(slices.ContainsFunc(recorded, func(w *ledger.Calibration) bool { return r.Revision == w.Revision && r.Factor == w.Factor }),
			FindReplay, "calibrations", id, "It is not what the ledger says.")
	})
	for id := range a.calibrated {
		a.expect(seen[id], FindReplay, "calibrations", id, "The ledger records it, and it is missing.")
	}
}
