package records

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A snapshot is taken when a ledger has grown by SnapshotEvery events since the last one, or by its snapshotShare-th
// part if that is more, so that the cost of snapshots stays in proportion to the ledger. The last two are kept, in
// case one is damaged. It contains all events that were here: when some arrive that belong before its last one, it is
// removed.
const (
	SnapshotEvery = 200
	snapshotShare = 50
	SnapshotsKept = 2
)

type SnapshotRow struct {
	SessionID   string
	EventSeq    int64
	CreatedAt   string
	ContentHash []byte // of the content before packing
	Content     []byte
}

func (SnapshotRow) TableName() string { return "snapshots" }

// Snapshot decodes the row; a snapshot that is damaged or belongs to another ledger is an error and not used.
func (r SnapshotRow) Snapshot(db *gorm.DB) (ledger.Snapshot, error) {
	content, err := codec.Unpack(r.Content)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	if !bytes.Equal(codec.Hash(content), r.ContentHash) {
		return ledger.Snapshot{}, errors.New("it does not match its hash")
	}
	snap, err := ledger.DecodeSnapshot(content)
	if err != nil {
		return snap, err
	}
	if snap.State.SessionID != r.SessionID || snap.State.EventSeq > r.EventSeq {
		return snap, errors.New("it belongs to another event")
	}
	last, _, err := core.LastEvent(db, r.SessionID, r.EventSeq)
	if err != nil {
		return snap, err
	}
	if hex.EncodeToString(last.Hash) != snap.State.EventHash {
		return snap, errors.New("the ledger has another event there")
	}
	return snap, nil
}

// Replayed describes how a session's state was rebuilt from its ledger.
type Replayed struct {
	From    int64          // event_seq of the snapshot it started from; 0: the beginning
	Events  int            // that were replayed
	Tails   ledger.Tails   // the end of each lane
	Ignored []chat.Finding // unusable snapshots, newest first
}

// ReplaySession rebuilds a session's state from its ledger alone, starting at the newest intact snapshot (SPEC 3; ZIG
// 4, 5). An event out of sequence, or one that cannot be replayed, is an error that names it.
func ReplaySession(db *gorm.DB, session string) (*ledger.State, Replayed, error) {
	state, replayed, err := newestSnapshot(db, session)
	if err != nil {
		return nil, replayed, err
	}
	replayed.Tails = ledger.Tails{}
	if replayed.From > 0 {
		if replayed.Tails, err = core.TailsUpTo(db, session, replayed.From); err != nil {
			return nil, replayed, err
		}
	}
	lanes, err := core.HasLanes(db, session)
	if err != nil {
		return nil, replayed, err
	}
	deleted, err := core.DeletionsIn(db, session)
	if err != nil {
		return nil, replayed, err
	}
	var bad error
	var decoded core.RecentValues
	position := core.Positions(state.EventSeq)
	err = sqlite.Stream(db, func(r schema.EventRow) {
		if bad == nil {
			bad = ApplyRow(db, &decoded, deleted, state, replayed.Tails, &position, r)
			replayed.Events++
		}
	}, `SELECT * FROM events WHERE session_id = ? AND event_seq > ?`+core.InOrder(lanes), session, replayed.From)
	return state, replayed, errors.Join(bad, err)
}

// ApplyRow replays an event after checking its place in its lane and its hash.
func ApplyRow(
	db *gorm.DB, decoded *core.RecentValues, deleted ledger.Deletions, state *ledger.State, tails ledger.Tails,
	position *core.Positions, r schema.EventRow,
) error {
	id := r.SessionID + "/" + sqlite.Itoa(r.EventSeq)
	payload, err := decoded.Payload(db, r)
	if err != nil {
		return sqlite.CorruptRecord("events", id, err)
	}
	e := position.Next(r, payload)
	if faults := tails.Follow(e); len(faults) > 0 || !deleted.Certifies(e) {
		return sqlite.CorruptRecord("events", id, fmt.Errorf("it is misplaced or damaged: %v", faults))
	}
	if err := state.Apply(e); err != nil {
		return sqlite.CorruptRecord("events", id, err)
	}
	return nil
}

// newestSnapshot returns the state of the newest intact snapshot, or of an empty ledger.
func newestSnapshot(db *gorm.DB, session string) (*ledger.State, Replayed, error) {
	var replayed Replayed
	rows, err := sqlite.All[SnapshotRow](db, `SELECT * FROM snapshots WHERE session_id = ? ORDER BY event_seq DESC`, session)
	if err != nil {
		return nil, replayed, err
	}
	for _, r := range rows {
		snap, err := r.Snapshot(db)
		if err == nil {
			replayed.From = r.EventSeq
			return snap.State, replayed, nil
		}
		replayed.Ignored = append(replayed.Ignored, SnapshotFinding(session+"/"+sqlite.Itoa(r.EventSeq), err))
	}
	return ledger.NewState(session), replayed, nil
}

// FindSnapshot is the kind of finding for a snapshot that is not used.
const FindSnapshot = "snapshot"

func SnapshotFinding(id string, err error) chat.Finding {
	return chat.Finding{
		Kind: FindSnapshot, Table: "snapshots", ID: id,
		Message: fmt.Sprintf("It is not used: %v. The ledger is replayed from before it.", err),
	}
}

// Snapshot takes the snapshots that are due, and returns how many, and which damaged ones were skipped. It reads
// outside of the writing transaction, which only stores a snapshot and deletes those before the last two. A ledger
// that cannot be replayed keeps its snapshots, and does not hold up the others.
func (s *Records) Snapshot(ctx context.Context) (taken int, ignored []chat.Finding, err error) {
	const op = "ledger.snapshot"
	due, err := core.All[string](ctx, s, op, `SELECT id FROM (SELECT s.id,
			  coalesce((SELECT max(e.event_seq) FROM events e WHERE e.session_id = s.id), 0) AS last,
			  coalesce((SELECT max(p.event_seq) FROM snapshots p WHERE p.session_id = s.id), 0) AS taken FROM sessions s)
			WHERE last - taken >= max(?, last / ?) ORDER BY id`, SnapshotEvery, snapshotShare)
	if err != nil {
		return 0, nil, err
	}
	var failed error
	for _, id := range due {
		skipped, err := SnapshotSession(ctx, s.Core, op, id)
		ignored = append(ignored, skipped...)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		taken++
	}
	return taken, ignored, sqlite.MapError(op, failed)
}

func SnapshotSession(ctx context.Context, s *core.Core, op, session string) ([]chat.Finding, error) {
	var row SnapshotRow
	var replayed Replayed
	var end string
	err := s.Read(ctx, op, func(db *gorm.DB) error {
		state, r, err := ReplaySession(db, session)
		replayed = r
		if err != nil {
			return err
		}
		end = state.EventHash
		if row, err = newSnapshot(db, state); err == nil {
			row.EventSeq, err = sqlite.One[int64](db, "session", session, `SELECT max(event_seq) FROM events WHERE session_id = ?`, session)
		}
		return err
	})
	if err != nil {
		return replayed.Ignored, err
	}
	return replayed.Ignored, s.Write(ctx, op, func(t *core.Tx) error {
		last, before, err := core.LastEvent(t.DB, session, row.EventSeq)
		if err != nil || !before || hex.EncodeToString(last.Hash) != end { // events came meanwhile that belong between
			return err
		}
		// It would keep what was deleted meanwhile.
		erased, err := sqlite.All[int](t.DB, `SELECT 1 FROM events WHERE session_id = ? AND event_seq > ? AND type = ? LIMIT 1`,
			session, row.EventSeq, ledger.EventContentDeleted)
		if err != nil || len(erased) > 0 {
			return err
		}
		if err := t.Run(`INSERT OR IGNORE INTO snapshots (session_id, event_seq, created_at, content_hash, content) VALUES (?, ?, ?, ?, ?)`,
			session, row.EventSeq, t.Stamp(), row.ContentHash, row.Content); err != nil {
			return err
		}
		return t.Run(`DELETE FROM snapshots WHERE session_id = ? AND event_seq NOT IN
			(SELECT event_seq FROM snapshots WHERE session_id = ? ORDER BY event_seq DESC LIMIT ?)`, session, session, SnapshotsKept)
	})
}

// newSnapshot encodes a state together with the memory at the head of the active branch.
func newSnapshot(db *gorm.DB, state *ledger.State) (SnapshotRow, error) {
	memory, err := MemoryOf(db, state)
	if err != nil {
		return SnapshotRow{}, err
	}
	content, err := ledger.Snapshot{Version: ledger.SnapshotVersion, State: state, Memory: memory}.Encode()
	if err != nil {
		return SnapshotRow{}, err
	}
	return SnapshotRow{SessionID: state.SessionID, EventSeq: state.EventSeq, ContentHash: codec.Hash(content), Content: codec.Pack(content)}, nil
}

func MemoryOf(db *gorm.DB, state *ledger.State) (ledger.Memory, error) {
	session := state.Sessions[state.SessionID]
	if session == nil {
		return ledger.Memory{}, sqlite.CorruptRecord("sessions", state.SessionID, errors.New("no event created it"))
	}
	branch := session.ActiveBranch
	row, err := schema.BranchOrFile(db, chat.BranchID(branch))
	if err != nil {
		return ledger.Memory{}, err
	}
	head, err := StateByID(db, chat.StateID(row.HeadState))
	if err != nil {
		return ledger.Memory{}, err
	}
	segs, err := core.SegmentsOrFile(db, chat.BranchID(branch))
	if err != nil {
		return ledger.Memory{}, err
	}
	current, err := PinsOn(db, segs)
	pins := lists.Map(current, func(p Pinned) string { return p.Text })
	return ledger.MemoryOf(head.Summary, pins), err
}

// StateSum returns the sum of a state's canonical bytes; empty if it has none.
func StateSum(s *ledger.State) ledger.Sum {
	b, err := s.Encode()
	if err != nil {
		return ""
	}
	return ledger.SumOf(b)
}
