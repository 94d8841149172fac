package store

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
	"contextinfinity/test/testtier"
)

// longSession gives a session a number of turns. Some fail, stop, fork or pin, and some are committed as a run. Snapshots
// are taken when they are due.
func (f *fixture) longSession(turns int) (chat.Session, chat.Branch) {
	f.Helper()
	s, main := f.session("long")
	b := main.ID
	for i := range turns {
		f.clock.Advance(time.Second)
		words := fmt.Sprintf("question %d of %s", i, benchText(30+i%40))
		switch i % 20 {
		case 3:
			f.failed(b, words, chat.OutcomeFailed)
		case 7:
			f.kept(b, words)
			f.commitAll(b)
		case 11:
			one, two := f.say(b, words, benchText(60)), f.say(b, words+" again", benchText(80))
			f.commitRun(b, one.ID, two.ID)
		case 13:
			f.pin(b, words)
			f.index(f.full(b, words, benchText(50)).ID)
		case 17:
			last := f.full(b, words, benchText(70))
			f.ok(f.RenameSession(f.ctx, s.ID, words))
			if i%60 == 17 {
				b = f.fork(b, last.ID).ID
			}
		default:
			f.full(b, words, benchText(100+i%50))
		}
		_, _, err := f.Snapshot(f.ctx)
		f.ok(err)
	}
	return s, main
}

// derived returns a session's state as the tables have it.
func (f *fixture) derived(s chat.SessionID) *ledger.State {
	f.Helper()
	a := verify.NewAudit()
	f.ok(f.core.Read(f.ctx, "test", func(db *gorm.DB) error {
		a.DB = db
		a.Replay(string(s))
		return nil
	}))
	if len(a.Found) > 0 {
		f.Fatalf("found %v", a.Found)
	}
	a.Have.EventSeq, a.Have.EventHash, a.Have.Calibrations = a.Want.EventSeq, a.Want.EventHash, a.Want.Calibrations
	return a.Have
}

// fromTheBeginning replays without snapshots.
func (f *fixture) fromTheBeginning(s chat.SessionID) *ledger.State {
	f.Helper()
	state := ledger.NewState(string(s))
	f.ok(f.core.Read(f.ctx, "test", func(db *gorm.DB) error {
		var decoded core.RecentValues
		rows, err := sqlite.All[schema.EventRow](db, `SELECT * FROM events WHERE session_id = ? ORDER BY event_seq`, s)
		f.ok(err)
		tails, position := ledger.Tails{}, core.Positions(0)
		for _, r := range rows {
			f.ok(records.ApplyRow(db, &decoded, nil, state, tails, &position, r))
		}
		return nil
	}))
	return state
}

func (f *fixture) encoded(s *ledger.State) []byte {
	f.Helper()
	b, err := s.Encode()
	f.ok(err)
	return b
}

// expectSameAfterReplay checks that the tables, the complete ledger, and the ledger after the latest snapshot give the same
// state.
func (f *fixture) expectSameAfterReplay(s chat.SessionID) records.Replayed {
	f.Helper()
	tables := f.encoded(f.derived(s))
	if replayed := f.encoded(f.fromTheBeginning(s)); !bytes.Equal(tables, replayed) {
		f.Fatalf("the ledger says\n%s\nthe tables contain\n%s", replayed, tables)
	}
	state, replay, err := f.Replay(f.ctx, s)
	f.ok(err)
	if resumed := f.encoded(state); !bytes.Equal(tables, resumed) {
		f.Fatalf("from the snapshot at %d\n%s\nthe tables contain\n%s", replay.From, resumed, tables)
	}
	return replay
}

// TestReplayOfALedgerGivesByteEqualDerivedState, with 100 turns (1 000 in the exhaustive form).
func TestReplayOfALedgerGivesByteEqualDerivedState(t *testing.T) {
	f := newFixture(t)
	s, _ := f.longSession(testtier.Size(100, 1000))
	replay := f.expectSameAfterReplay(s.ID)
	if replay.From == 0 || replay.Events >= records.SnapshotEvery+40 || len(replay.Ignored) > 0 {
		t.Errorf("replayed %+v", replay)
	}
	kept, err := sqlite.All[int64](f.core.DB.Reader, `SELECT event_seq FROM snapshots ORDER BY event_seq`)
	f.ok(err)
	if len(kept) != records.SnapshotsKept || kept[1]-kept[0] < records.SnapshotEvery || kept[1] != replay.From {
		t.Errorf("snapshots at %v, replayed from %d", kept, replay.From)
	}
	f.verifyClean()
}

// TestReplayEqualsLive drives random histories with forbidden steps, and takes snapshots at random points.
func TestReplayEqualsLive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newEnv(t, rt)
		defer w.Store.Close()
		branch, err := w.Branch(w.ctx, w.branches[0].id)
		w.ok(err)
		session := branch.SessionID
		rt.Repeat(map[string]func(*rapid.T){
			"accept":   func(*rapid.T) { w.accept() },
			"end":      func(*rapid.T) { w.end() },
			"commit":   func(*rapid.T) { w.commit() },
			"fork":     func(*rapid.T) { w.fork() },
			"index":    func(*rapid.T) { w.indexSome() },
			"snapshot": func(*rapid.T) { w.takeSnapshot(string(session)) },
		})
		w.expectSameAfterReplay(session)
		w.verifyClean()
	})
}

// TestEverySeededLedgerReplays covers what long does not create: summaries, documents, archived sessions, settings,
// calibrations, retrieval records.
func TestEverySeededLedgerReplays(t *testing.T) {
	f := newFixture(t)
	d := seed(f)
	for _, s := range []chat.SessionID{d.Session.ID, d.Archived.ID, d.Unsent.SessionID} {
		f.expectSameAfterReplay(s)
		f.takeSnapshot(string(s))
		if replay := f.expectSameAfterReplay(s); replay.From == 0 || replay.Events != 0 {
			t.Errorf("session %s replayed %+v", s, replay)
		}
	}
	f.verifyClean()
}

func TestSnapshotsAreTakenWhenTheyAreDue(t *testing.T) {
	f := newFixture(t)
	s, _ := f.session("s")
	broken, _ := f.session("broken")
	grow := func(session chat.SessionID, n int) {
		for i := range n {
			f.ok(f.RenameSession(f.ctx, session, fmt.Sprint("name ", i)))
		}
	}
	for _, step := range []struct{ grow, taken int }{{records.SnapshotEvery - 10, 0}, {10, 1}, {0, 0}, {records.SnapshotEvery - 1, 0}, {1, 1}, {records.SnapshotEvery, 1}} {
		grow(s.ID, step.grow)
		if n, _, err := f.Snapshot(f.ctx); err != nil || n != step.taken {
			t.Fatalf("after %d more events: %d snapshots, %v", step.grow, n, err)
		}
	}
	grow(s.ID, records.SnapshotEvery)
	grow(broken.ID, records.SnapshotEvery)
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM events WHERE session_id = ? AND event_seq = 9`, broken.ID).Error)
	n, _, err := f.Snapshot(f.ctx)
	f.refused(err, chat.CodeCorrupt)
	if n != 1 {
		t.Errorf("%d snapshots of a broken ledger", n)
	}
	_, _, err = f.Replay(f.ctx, broken.ID)
	f.refused(err, chat.CodeCorrupt)
	if replay := f.expectSameAfterReplay(s.ID); replay.Events != 0 {
		t.Errorf("replayed %+v", replay)
	}
	_, _, err = f.Replay(f.ctx, "nobody")
	f.refused(err, chat.CodeNotFound)
}

// TestASnapshotListsKnownFacts: pins and the points of the state summary, by kind.
func TestASnapshotListsKnownFacts(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	f.pin(b.ID, "the deadline is Friday")
	turn := f.say(b.ID, "what now", "this")
	_, err := f.Commit(f.ctx, chat.Commit{BranchID: b.ID, Turns: []chat.TurnID{turn.ID}, Origin: chat.StateFallback, Summary: "## Facts\n- " +
		"it rains\n\n## Decisions\n- we use Go\n\n## Constraints\n- no network\n\n## Open tasks\n- write the importer\n- test it\n"})
	f.ok(err)
	f.takeSnapshot(string(s.ID))
	rows, err := sqlite.All[records.SnapshotRow](f.core.DB.Reader, `SELECT * FROM snapshots`)
	f.ok(err)
	snap, err := rows[0].Snapshot(f.core.DB.Reader)
	f.ok(err)
	if got, want := fmt.Sprintf("%q", snap.Memory), `{["the deadline is Friday" "it rains"] ["we use Go"] ["write the importer" "test it"]}`; got != want {
		t.Errorf("memory %s, want %s", got, want)
	}
}

// TestADamagedSnapshotIsSkipped: it is reported and the previous one is used; without any, the ledger is replayed
// from the beginning. The result is always the same, byte for byte.
func TestADamagedSnapshotIsSkipped(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	other, _ := f.session("other")
	f.full(b.ID, "one", "first answer")
	f.takeSnapshot(string(s.ID))
	f.full(b.ID, "two", "second answer")
	f.takeSnapshot(string(s.ID))
	f.takeSnapshot(string(other.ID))
	f.full(b.ID, "three", "third answer")
	want := f.encoded(f.derived(s.ID))
	rows, err := sqlite.All[records.SnapshotRow](f.core.DB.Reader, `SELECT * FROM snapshots WHERE session_id = ? ORDER BY event_seq DESC`, s.ID)
	f.ok(err)
	foreign, err := sqlite.One[records.SnapshotRow](f.core.DB.Reader, "snapshot", other.ID, `SELECT * FROM snapshots WHERE session_id = ?`, other.ID)
	f.ok(err)
	newest, older := rows[0], rows[1]
	content, err := codec.Unpack(newest.Content)
	f.ok(err)
	flipped := bytes.Clone(content)
	flipped[len(flipped)/2] ^= 1
	version := bytes.Replace(content, []byte(`{"v":1,`), []byte(`{"v":9,`), 1)
	branched := bytes.Replace(content, []byte(`"event_hash":"`), []byte(`"event_hash":"0`), 1)
	put := func(r records.SnapshotRow, content, hash []byte) {
		f.ok(f.core.DB.Writer.Exec(`UPDATE snapshots SET content = ?, content_hash = ? WHERE session_id = ? AND event_seq = ?`, content, hash, s.ID, r.EventSeq).Error)
	}
	for _, c := range []struct {
		name          string
		content, hash []byte
	}{
		{"torn", newest.Content[:len(newest.Content)/2], newest.ContentHash},
		{"empty", []byte{}, newest.ContentHash},
		{"a byte flipped", codec.Pack(flipped), newest.ContentHash},
		{"another hash", newest.Content, older.ContentHash},
		{"of another version", codec.Pack(version), codec.Hash(version)},
		{"of another session", foreign.Content, foreign.ContentHash},
		{"of an earlier event", older.Content, older.ContentHash},
		{"of another ledger", codec.Pack(branched), codec.Hash(branched)},
		{"not JSON", codec.Pack([]byte("words")), codec.Hash([]byte("words"))},
		{"of no state", codec.Pack([]byte(`{"v":1}`)), codec.Hash([]byte(`{"v":1}`))},
	} {
		t.Run(c.name, func(t *testing.T) {
			put(newest, c.content, c.hash)
			defer put(newest, newest.Content, newest.ContentHash)
			f.expectSkippedSnapshots(t, s.ID, want, older.EventSeq, newest.EventSeq)
			put(older, c.content, c.hash)
			defer put(older, older.Content, older.ContentHash)
			if c.name != "of an earlier event" { // that one is valid where it belongs
				f.expectSkippedSnapshots(t, s.ID, want, 0, newest.EventSeq, older.EventSeq)
			}
		})
	}
	forged := bytes.Replace(content, []byte(`"phase":"Done"`), []byte(`"phase":"Failed"`), 1)
	put(newest, codec.Pack(forged), codec.Hash(forged))
	found, err := f.Verify(f.ctx)
	f.ok(err)
	if len(found) != 1 || found[0].Table != "snapshots" {
		t.Errorf("a snapshot that does not match the events: %v", found)
	}
}

// expectSkippedSnapshots expects replay and verify to report these snapshots, and the state to be the same.
func (f *fixture) expectSkippedSnapshots(t *testing.T, s chat.SessionID, want []byte, from int64, ignored ...int64) {
	t.Helper()
	state, replay, err := f.Replay(f.ctx, s)
	f.ok(err)
	if replay.From != from || len(replay.Ignored) != len(ignored) || !bytes.Equal(f.encoded(state), want) {
		t.Errorf("replayed %+v, want it from %d past %v, to the same state", replay, from, ignored)
	}
	found, err := f.Verify(f.ctx)
	f.ok(err)
	for _, seq := range ignored {
		id := string(s) + "/" + sqlite.Itoa(seq)
		if !(replacer{strings.NewReplacer()}).in(found, "snapshots", id) {
			t.Errorf("verify does not name %s: %v", id, found)
		}
	}
	if len(found) != len(ignored) {
		t.Errorf("verify found %v", found)
	}
}

// takeSnapshot takes a snapshot although none is due.
func (f *fixture) takeSnapshot(session string) {
	f.Helper()
	_, err := records.SnapshotSession(f.ctx, f.core, "test", session)
	f.ok(err)
}
