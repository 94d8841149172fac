package bundles

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// A session that went on on several devices is merged lane by lane: each device wrote its own lane and its own
// branches, so the events that are missing here are added, and none that exists is touched (docs/adr/0022).

// lanesHere returns how many events of each lane exist here; nothing if the session does not.
func lanesHere(db *gorm.DB, session string) (map[string]int, error) {
	lanes, err := core.HasLanes(db, session)
	if err != nil {
		return nil, err
	}
	query := `SELECT '' AS lane, count(*) AS n FROM events WHERE session_id = ? HAVING count(*) > 0`
	if lanes {
		query = `SELECT lane, count(*) AS n FROM events WHERE session_id = ? AND lane_seq <> 0 GROUP BY lane`
	}
	rows, err := sqlite.All[struct {
		Lane string
		N    int
	}](db, query, session)
	out := map[string]int{}
	for _, r := range rows {
		out[r.Lane] = r.N
	}
	return out, err
}

// hashIn returns the hash of the nth event of a lane here.
func hashIn(db *gorm.DB, session, lane string, n int) ([]byte, error) {
	lanes, err := core.HasLanes(db, session)
	if err != nil {
		return nil, err
	}
	if !lanes {
		return sqlite.One[[]byte](db, "event", n, `SELECT hash FROM events WHERE session_id = ? AND event_seq = ?`, session, n)
	}
	return sqlite.One[[]byte](db, "event", n, `SELECT hash FROM events WHERE session_id = ? AND lane = ? AND lane_seq <> 0
		ORDER BY lane_seq LIMIT 1 OFFSET ?`, session, lane, n-1)
}

// mergeable compares the bundle's lanes with those that exist here. one: neither side has named lanes, so there is
// nothing to merge. more and less say which side has events that the other one lacks. Mergeable are two ledgers of
// which each lane continues the other's.
func (in *incoming) mergeable(db *gorm.DB, here map[string]int) (one, merges, more, less bool, err error) {
	one = len(in.lanes) == 1 && len(here) == 1 && in.lanes[""] != nil && here[""] > 0
	for lane, n := range here {
		less = less || n > len(in.lanes[lane])
	}
	for lane, hashes := range in.lanes {
		more = more || len(hashes) > here[lane]
		common := min(len(hashes), here[lane])
		if common == 0 {
			continue
		}
		hash, err := hashIn(db, in.session, lane, common)
		if err != nil || !bytes.Equal(hash, hashes[common-1][:]) {
			return one, false, more, less, err
		}
	}
	// Documents that were deleted permanently elsewhere still exist here: removing them is the user's decision.
	for _, d := range in.deletions {
		if d.n <= here[d.lane] {
			continue
		}
		for _, id := range d.files {
			found, err := sqlite.All[int](db, `SELECT 1 FROM files WHERE id = ?`, id)
			if err != nil || len(found) > 0 {
				return one, false, more, less, err
			}
		}
	}
	return one, true, more, less, nil
}

// deletion is the nth event of a lane, which deleted content permanently.
type deletion struct {
	lane  string
	n     int
	files []chat.FileID
}

// merge adds the events that are missing here. out says what they brought.
func (in *incoming) merge(t *core.Tx, out *chat.Imported) error {
	here := map[string]int{}
	if in.before == 0 {
		var err error
		if here, err = lanesHere(t.DB, in.session); err != nil {
			return err
		}
	}
	if err := core.NumberEvents(t, chat.SessionID(in.session)); err != nil {
		return err
	}
	last, err := sqlite.One[int64](t.DB, "session", in.session, `SELECT max(event_seq) FROM events WHERE session_id = ?`, in.session)
	if err != nil {
		return err
	}
	if err := in.putReplaced(t); err != nil {
		return err
	}
	now, p := t.Now, &events.Applier{Tx: t, Session: in.session}
	read, machines, first := map[string]int{}, map[string]int{}, int64(0)
	_, err = in.from.Read(func(e ledger.Event, contents []bundle.Content) error {
		if err := in.ctx.Err(); err != nil {
			return err
		}
		if read[e.Lane]++; read[e.Lane] <= here[e.Lane] || e.Seq > in.end() {
			return nil
		}
		position := e.Seq
		if first == 0 {
			first = position
		}
		last++
		e.Seq, e.LaneSeq = last, e.Number()
		if err := in.play(p, e, e.Entity, contents, out); err != nil {
			return playFault(position, err)
		}
		if e.Type == ledger.EventTurnAccepted {
			machines[in.machineOf(e.Entity)]++
		}
		if e.Type == ledger.EventContentDeleted {
			in.deletedElsewhere = true
		}
		return nil
	})
	if err == nil {
		err = p.FlushStep(ledger.Event{})
	}
	if err == nil && in.before == 0 { // otherwise what came is the last
		err = in.settle(t, p, first)
	}
	if err != nil {
		return err
	}
	t.Now = now
	in.merged = machines
	return in.checkRecords(t, in.session)
}

// settle makes what depends on the order of all events right again, after some came at a position between others.
func (in *incoming) settle(t *core.Tx, p *events.Applier, first int64) error {
	if err := t.Run(`DELETE FROM snapshots WHERE session_id = ? AND event_seq >= ?`, in.session, first); err != nil {
		return err
	}
	state, _, err := records.ReplaySession(t.DB, in.session)
	if err != nil {
		return err
	}
	return p.LastValues(state.Sessions[in.session].UpdatedAt)
}

// machineOf returns the name of the device on which a turn was written; empty: not known.
func (in *incoming) machineOf(turn string) string {
	return in.machines[in.state.Turns[turn].BranchID]
}

// mergedFrom says what came from which machine.
func (in *incoming) mergedFrom() string {
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(in.merged), func(a, b string) int {
		return cmp.Or(in.merged[b]-in.merged[a], cmp.Compare(a, b))
	}) {
		turns := "1 turn"
		if n := in.merged[name]; n != 1 {
			turns = sqlite.Itoa(int64(n)) + " turns"
		}
		parts = append(parts, turns+" from "+cmp.Or(name, "the machine where the session began"))
	}
	text := "The session has also been continued on another machine. "
	if len(parts) == 0 {
		text += "Merged: its changes there; no turns were missing."
	} else {
		text += "Merged: " + strings.Join(parts, ", ") + "."
	}
	if in.deletedElsewhere {
		text += " Some content was permanently deleted there; what this data still contains of it was kept. Delete it here too if it is to be gone."
	}
	return text
}
