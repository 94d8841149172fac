package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
	"contextinfinity/test/testtier"
)

func TestVerifyIsCleanOnEverything(t *testing.T) {
	f := newFixture(t)
	seed(f)
	f.verifyClean()
	f.reopen()
	f.verifyClean()
	f.ok(f.Store.Close())
	ro, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
	f.ok(err)
	defer ro.Close()
	found, err := ro.Verify(f.ctx)
	f.ok(err)
	if len(found) != 0 {
		t.Fatalf("read-only: %v", found)
	}
}

// corruption is a change that bypasses the store, and the record that verify must report.
type corruption struct {
	name  string
	sql   []string // $X represents a record of the seeded database
	table string
	id    string
}

// noTriggers lets statements bypass the text index.
var noTriggers = []string{"DROP TRIGGER units_fts_insert", "DROP TRIGGER units_fts_delete", "DROP TRIGGER units_fts_update", "DROP TRIGGER units_fts_updated"}

var corruptions = []corruption{
	{"user message rewritten", []string{`UPDATE turns SET user_message_json = replace(user_message_json, 'lineage', 'passage') WHERE id = '$T1'`}, "turns", "$T1"},
	{"user message not JSON", []string{`UPDATE turns SET user_message_json = '{"role":' WHERE id = '$T1'`}, "turns", "$T1"},
	{"answer rewritten with its hash", []string{`UPDATE turns SET final_assistant_message_json = '{"role":"assistant","blocks":[]}',
		assistant_hash = (SELECT user_hash FROM turns WHERE id = '$T2') WHERE id = '$T1'`}, "turns", "$T1"},
	{"answer removed", []string{`UPDATE turns SET final_assistant_message_json = NULL, assistant_hash = NULL WHERE id = '$T2'`}, "turns", "$T2"},
	{"answer torn", []string{`UPDATE turns SET final_assistant_message_json = substr(final_assistant_message_json, 1, 20) WHERE id = '$T2'`}, "turns", "$T2"},
	{"phase set back", []string{`UPDATE turns SET phase = 'ResponseFinalized' WHERE id = '$T5'`}, "turns", "$T5"},
	{"phase set forward", []string{`UPDATE turns SET phase = 'Done', index_status = 'ok' WHERE id = '$T5'`}, "turns", "$T5"},
	{"failed turn made final", []string{`UPDATE turns SET phase = 'ResponseFinalized' WHERE id = '$T6'`}, "turns", "$T6"},
	{"outcome changed", []string{`UPDATE turns SET outcome = 'truncated' WHERE id = '$T1'`}, "turns", "$T1"},
	{"committed turn without state", []string{`UPDATE turns SET state_after = NULL WHERE id = '$T1'`}, "turns", "$T1"},
	{"turn given another state", []string{`UPDATE turns SET state_after = state_before WHERE id = '$T5'`}, "turns", "$T5"},
	{"turn moved to another branch", []string{`UPDATE turns SET branch_id = '$INSIDE', turn_seq = 4 WHERE id = '$T9'`}, "turns", "$T9"},
	{"turn deleted", []string{`DELETE FROM metrics WHERE turn_id = '$T8'`, `DELETE FROM jobs WHERE turn_id = '$T8'`,
		`DELETE FROM steps WHERE turn_id = '$T8'`, `DELETE FROM turns WHERE id = '$T8'`}, "turns", "$T8"},
	{"gap in turn_seq", []string{`UPDATE turns SET turn_seq = 12 WHERE id = '$T9'`}, "turns", "$T9"},
	{"manifest torn", []string{`UPDATE turns SET manifest = substr(manifest, 1, length(manifest) - 3) WHERE id = '$T1'`}, "turns", "$T1"},
	{"usage not JSON", []string{`UPDATE turns SET usage_json = '{"input' WHERE id = '$T1'`}, "turns", "$T1"},
	{"time garbled", []string{`UPDATE turns SET updated_at = 'yesterday' WHERE id = '$T1'`}, "turns", "$T1"},
	{"summary rewritten", []string{`UPDATE states SET summary = 'nothing happened' WHERE id = '$S1'`}, "states", "$S1"},
	{"summary rewritten with its hash", []string{`UPDATE states SET summary = '', pinned_facts = '', content_hash =
		(SELECT content_hash FROM states WHERE origin = 'root' LIMIT 1) WHERE id = '$S1'`}, "states", "$S1"},
	{"state with another parent", []string{`UPDATE states SET parent_id = (SELECT base_state FROM branches WHERE id = '$MAIN') WHERE id = '$S2'`}, "states", "$S2"},
	{"state_seq skipped", []string{`UPDATE states SET state_seq = 40 WHERE id = '$HEAD'`}, "states", "$HEAD"},
	{"second root", []string{`DROP INDEX idx_states_one_root`, `UPDATE states SET parent_id = NULL, origin = 'root' WHERE id = '$S1'`}, "sessions", "$SESSION"},
	{"head set back", []string{`UPDATE branches SET head_state = base_state, head_seq = 0 WHERE id = '$MAIN'`}, "branches", "$MAIN"},
	{"epoch changed", []string{`UPDATE branches SET epoch = epoch + 3 WHERE id = '$MAIN'`}, "branches", "$MAIN"},
	{"fork point moved", []string{`UPDATE branches SET fork_seq = 1 WHERE id = '$CHILD'`}, "branches", "$CHILD"},
	{"active branch of another session", []string{`UPDATE sessions SET active_branch = '$CHILD' WHERE id = '$ARCHIVED'`}, "sessions", "$ARCHIVED"},
	{"title changed unseen", []string{`UPDATE sessions SET title = 'another' WHERE id = '$SESSION'`}, "sessions", "$SESSION"},
	{"reference to nothing", []string{`UPDATE turns SET retry_of = 'nobody' WHERE id = '$T4'`}, "turns", "$T4"},
	{"event deleted", []string{`DELETE FROM events WHERE session_id = '$SESSION' AND event_seq = 7`}, "events", "$SESSION/8"},
	{"last event deleted", []string{`DELETE FROM events WHERE session_id = '$ARCHIVED' AND event_seq =
		(SELECT max(event_seq) FROM events WHERE session_id = '$ARCHIVED')`}, "sessions", "$ARCHIVED"},
	{"event payload torn", []string{`UPDATE events SET payload = substr(payload, 1, 9) WHERE session_id = '$SESSION' AND event_seq = 5`}, "events", "$SESSION/5"},
	{"event payload exchanged", []string{`UPDATE events SET payload = (SELECT payload FROM events WHERE session_id = '$SESSION' AND event_seq = 1)
		WHERE session_id = '$SESSION' AND event_seq = 5`}, "events", "$SESSION/5"},
	{"event chain rewritten", []string{`UPDATE events SET payload_hash = zeroblob(32) WHERE session_id = '$SESSION' AND event_seq = 6`}, "events", "$SESSION/6"},
	{"event of an unknown type", []string{`UPDATE events SET type = 'something' WHERE session_id = '$SESSION' AND event_seq = 3`}, "events", "$SESSION/3"},
	{"event time changed", []string{`UPDATE events SET created_at = '2020-01-01T00:00:00.000Z' WHERE session_id = '$SESSION' AND event_seq = 4`}, "events", "$SESSION/4"},
	{"request torn", []string{`UPDATE steps SET request_json = substr(request_json, 1, 10) WHERE id = '$STEP'`}, "steps", "$STEP"},
	{"raw events exchanged", []string{`UPDATE steps SET raw_events = x'005b5d' WHERE id = '$STEP'`}, "steps", "$STEP"},
	{"items not JSON", []string{`UPDATE steps SET normalized_items_json = '[{' WHERE id = '$STEP'`}, "steps", "$STEP"},
	{"byte counts swapped", []string{`UPDATE steps SET stream_durable_bytes = 1 WHERE id = '$STEP'`}, "steps", "$STEP"},
	{"step reopened", []string{`UPDATE steps SET status = 'running', ended_at = NULL WHERE id = '$STEP'`}, "steps", "$STEP"},
	{"attempt number skipped", []string{`UPDATE steps SET attempt = 3 WHERE id = '$STEP'`}, "steps", "$STEP"},
	{"pin rewritten", []string{`UPDATE pins SET text = 'the deadline is Monday' WHERE id = '$PIN'`}, "pins", "$PIN"},
	{"pin deleted", []string{`DELETE FROM pins WHERE replaces = '$PIN'`, `DELETE FROM pins WHERE id = '$PIN'`}, "pins", "$PIN"},
	{"chunk rewritten", []string{`UPDATE chunks SET rendered_text = 'something else' WHERE id = '$CHUNK'`}, "chunks", "$CHUNK"},
	{"chunk offsets moved", []string{`UPDATE chunks SET start_offset = 2, end_offset = 5 WHERE id = '$CHUNK'`}, "chunks", "$CHUNK"},
	{"unit rewritten past the index", append(noTriggers, `UPDATE units SET text = 'entirely different words' WHERE id = '$UNIT'`), "units", "$UNIT"},
	{"unit gone from the index", []string{`DELETE FROM units_fts_docsize WHERE id = (SELECT n FROM units WHERE id = '$UNIT')`}, "units", "$UNIT"},
	{"unit deleted past the index", append(noTriggers, `DELETE FROM units WHERE id = '$UNIT'`), "units", "$UNIT"},
	{"index emptied of a unit", []string{`INSERT INTO units_fts (units_fts, rowid, indexed_text) SELECT 'delete', n, indexed_text FROM unit_index WHERE n = (SELECT n FROM units WHERE id = '$UNIT')`}, "units", "$UNIT"},
	{"queued message not JSON", []string{`UPDATE queued_messages SET message_json = 'words' WHERE branch_id = '$CHILD'`}, "queued_messages", "$QUEUED"},
	{"draft not JSON", []string{`UPDATE drafts SET message_json = 'words' WHERE branch_id = '$CHILD'`}, "drafts", "$CHILD"},
	{"range summary rewritten", []string{`UPDATE summaries SET content = 'nothing happened' WHERE id = '$WIDE'`}, "summaries", "$WIDE"},
	{"range summary rewritten with its hash", []string{`UPDATE summaries SET (content, content_hash) =
		(SELECT o.content, o.content_hash FROM summaries o WHERE o.id = '$SUM') WHERE id = '$WIDE'`}, "summaries", "$WIDE"},
	{"range summary that does not reduce", []string{`UPDATE summaries SET token_count = original_tokens WHERE id = '$WIDE'`}, "summaries", "$WIDE"},
	{"range moved", []string{`UPDATE summaries SET from_seq = 2 WHERE id = '$WIDE'`}, "summaries", "$WIDE"},
	{"range over turns that are not committed", []string{`UPDATE summaries SET to_seq = 9 WHERE id = '$WIDE'`}, "summaries", "$WIDE"},
	{"superseded by nothing", []string{`UPDATE summaries SET superseded_by = 'nobody' WHERE id = '$SUM'`}, "summaries", "$SUM"},
	{"superseded by itself", []string{`UPDATE summaries SET superseded_by = id WHERE id = '$SUM'`}, "summaries", "$SUM"},
	{"superseded one brought back", []string{`UPDATE summaries SET superseded_by = NULL WHERE id = '$SUM'`}, "summaries", "$SUM"},
	{"range summary of another branch", []string{`UPDATE summaries SET branch_id = '$EARLY' WHERE id = '$WIDE'`}, "summaries", "$WIDE"},
	{"range summary deleted", []string{`DELETE FROM summaries WHERE id = '$SUM'`}, "summaries", "$SUM"},
	{"size of a turn that is not there", []string{`INSERT INTO turn_tokens VALUES ('nobody', 'e', 1)`}, "turn_tokens", "nobody/e"},
	{"size of a turn that is not final", []string{`INSERT INTO turn_tokens VALUES ('$T9', 'e', 1)`}, "turn_tokens", "$T9/e"},
	{"temperature changed unseen", []string{`UPDATE sessions SET temperature = 2 WHERE id = '$SESSION'`}, "sessions", "$SESSION"},
	{"effort changed unseen", []string{`UPDATE sessions SET effort = 'high' WHERE id = '$SESSION'`}, "sessions", "$SESSION"},
	{"calibration changed", []string{`UPDATE calibrations SET factor = 1.5`}, "calibrations", "recall/recall"},
	{"calibration changed with its mean", []string{`UPDATE calibrations SET factor = 1.5, mean = 1.5`}, "calibrations", "recall/recall"},
	{"calibration deleted", []string{`DELETE FROM calibrations`}, "calibrations", "recall/recall"},
	{"key frame torn", []string{`UPDATE steps SET request_json = substr(request_json, 1, 90) WHERE id = '$REQ0'`}, "steps", "$REQ3"},
	{"key frame exchanged", []string{`UPDATE steps SET request_json = (SELECT request_json FROM steps WHERE id = '$STEP') WHERE id = '$REQ0'`}, "steps", "$REQ1"},
	{"linked request torn", []string{`UPDATE steps SET request_json = substr(request_json, 1, 9) WHERE id = '$REQ1'`}, "steps", "$REQ2"},
	{"link of a request deleted", []string{`DELETE FROM request_links WHERE step_id = '$REQ2'`}, "steps", "$REQ2"},
	{"link of a request changed", []string{`UPDATE request_links SET base = '$REQ0' WHERE step_id = '$REQ2'`}, "steps", "$REQ2"},
	{"links in a circle", []string{`INSERT INTO request_links VALUES ('$REQ0', '$REQ3', 1, NULL)`}, "steps", "$REQ0"},
	{"link to nothing", []string{`UPDATE request_links SET base = 'nobody' WHERE step_id = '$REQ2'`}, "request_links", "$REQ2"},
	{"base of a manifest torn", []string{`UPDATE turns SET manifest = substr(manifest, 1, 90) WHERE id = '$MAN0'`}, "turns", "$MAN3"},
	{"link of a manifest deleted", []string{`DELETE FROM manifest_links WHERE turn_id = '$MAN1'`}, "turns", "$MAN1"},
	{"linked summary torn", []string{`UPDATE states SET summary_z = substr(summary_z, 1, 9) WHERE id = '$STATE1'`}, "states", "$STATE2"},
	{"base of other summaries rewritten", []string{`UPDATE states SET summary = 'other words' WHERE id = '$STATE0'`}, "states", "$STATE2"},
	{"two summaries", []string{`UPDATE states SET summary = 'more' WHERE id = '$STATE2'`}, "states", "$STATE2"},
	{"summary with a base that does not exist", []string{`UPDATE states SET summary_z = x'03010101' WHERE id = '$STATE2'`}, "states", "$STATE2"},
	{"base of a payload torn", []string{`UPDATE events SET payload = substr(payload, 1, 50) WHERE entity_id = '$STATE0' AND type = 'state_committed'`}, "events", "$STATEEVENT"},
	{"payload with itself as base", []string{`UPDATE events SET payload = CAST(x'0301' || char(event_seq) AS BLOB) WHERE session_id || '/' || event_seq = '$STATEEVENT'`}, "events", "$STATEEVENT"},
	{"vector torn", []string{`UPDATE unit_embeddings SET vector = substr(vector, 1, 7) WHERE namespace_id = 1 AND unit_n = 2`}, "unit_embeddings", "1/2"},
	{"vector of another format", []string{`UPDATE unit_embeddings SET vector = CAST(x'07' || substr(vector, 2) AS BLOB) WHERE namespace_id = 2 AND unit_n = 1`}, "unit_embeddings", "2/1"},
	{"vector of another length", []string{`UPDATE unit_embeddings SET vector = CAST(x'010000803f' || substr(vector, 6) AS BLOB) WHERE namespace_id = 1 AND unit_n = 2`}, "unit_embeddings", "1/2"},
	{"vector of another dimension", []string{`UPDATE namespaces SET dimension = 15 WHERE id = 2`}, "unit_embeddings", "2/1"},
	{"vector of no unit", []string{`UPDATE unit_embeddings SET unit_n = 9999 WHERE namespace_id = 1 AND unit_n = 2`}, "unit_embeddings", "1/9999"},
	{"vector in no namespace", []string{`DELETE FROM namespaces WHERE id = 2`}, "unit_embeddings", "2/1"},
	{"vector deleted past its count", []string{`DROP TRIGGER unit_embeddings_delete`, `DELETE FROM unit_embeddings WHERE namespace_id = 1 AND unit_n = 2`}, "namespaces", "1"},
	{"namespace of another embedder", []string{`UPDATE namespaces SET model = 'other' WHERE id = 1`}, "namespaces", "1"},
	{"two namespaces serve", []string{`UPDATE namespaces SET state = 'serving'`}, "namespaces", "2"},
	{"no generation of vectors", []string{`DELETE FROM vector_generation`}, "vector_generation", ""},
	{"retrieval changed", []string{`UPDATE retrieved SET score = 1 WHERE rank = 2 AND turn_n = (SELECT n FROM turns WHERE id = '$PREPARED')`}, "retrieved", "$PREPARED"},
	{"retrieval of another chunk", []string{`UPDATE retrieved SET turn_n = 9998, chunk_n = 9999
		WHERE rank = 2 AND turn_n = (SELECT n FROM turns WHERE id = '$PREPARED')`}, "retrieved", "9998/9999"},
	{"retrievals deleted", []string{`DELETE FROM retrieved`}, "retrieved", "$PREPARED"},
	{"retrieval nobody recorded", []string{`UPDATE retrieved SET turn_n = (SELECT n FROM turns WHERE id = '$T1') WHERE rank = 2`}, "retrieved", "$T1"},
	{"list of quotations torn", []string{`UPDATE request_links SET quotes = x'ff' WHERE step_id = '$QUOTING'`}, "steps", "$QUOTING"},
	{"list of quotations exchanged", []string{`UPDATE request_links SET quotes = x'01' WHERE step_id = '$QUOTING'`}, "steps", "$QUOTING"},
	{"list of quotations deleted", []string{`DELETE FROM request_links WHERE step_id = '$QUOTING'`}, "steps", "$QUOTING"},
	{"quoted chunk moved", []string{`UPDATE chunks SET start_offset = start_offset + 1 WHERE id = '$QUOTED'`}, "steps", "$QUOTING"},
	{"quoted chunk renumbered", []string{`UPDATE chunks SET n = 9999 WHERE id = '$QUOTED'`}, "steps", "$QUOTING"},
	{"quoted message rewritten", []string{`UPDATE turns SET user_message_json = replace(user_message_json, 'a', 'o') WHERE id =
		(SELECT source_turn FROM chunks WHERE id = '$QUOTED')`}, "steps", "$QUOTING"},
	{"quotation that deletion would not find", []string{`DELETE FROM retrieved WHERE turn_n = (SELECT n FROM turns WHERE id = (SELECT turn_id FROM steps
		WHERE id = '$QUOTING'))`}, "request_links", "$QUOTING"},
	{"manifest with another list of quotations", []string{`UPDATE manifest_links SET quotes = x'0101' WHERE turn_id = (SELECT turn_id FROM steps WHERE id = '$QUOTING')`}, "turns", "$QUOTINGTURN"},
	{"chunk given to a document", []string{`UPDATE chunks SET file_id = 'nobody' WHERE id = '$CHUNK'`}, "chunks", "$CHUNK"},
	{"unit deleted", []string{`DELETE FROM units WHERE id = '$UNIT'`}, "units", "$UNIT"},
	{"phase of no such name", []string{`UPDATE turns SET phase = 'Finished' WHERE id = '$T1'`}, "turns", "$T1"},
}

// TestVerifyReportsEachCorruption; the everyday form tries every third.
func TestVerifyReportsEachCorruption(t *testing.T) {
	f := newFixture(t)
	names := f.names(seed(f))
	f.unguard()
	for _, c := range testtier.Sample(corruptions, len(corruptions)/3) {
		t.Run(c.name, func(t *testing.T) {
			db := f.core.DB.Writer.Begin()
			defer db.Rollback() // restores the database for the next case
			for _, sql := range c.sql {
				f.ok(db.Exec(names.Replace(sql)).Error)
			}
			a := verify.NewAudit()
			f.ok(a.Tables(f.ctx, db))
			agrees, err := a.CompareTextIndex(db)
			f.ok(err)
			if !agrees {
				f.ok(a.LookUpUnits(f.ctx, db))
			}
			if !names.in(a.Found, c.table, c.id) {
				t.Fatalf("not named among %v", a.Found)
			}
		})
	}
	f.verifyClean()
}

// TestDamageLeavesTheRestReadable applies many corruptions at once: lists and all other records can still be read,
// and verify reports each corruption.
func TestDamageLeavesTheRestReadable(t *testing.T) {
	f := newFixture(t)
	names := f.names(seed(f))
	f.unguard()
	applied := 0
	for _, c := range corruptions {
		switch c.name {
		case "user message not JSON", "answer torn", "request torn", "items not JSON", "event payload torn", "draft not JSON",
			"unit rewritten past the index", "fork point moved", "epoch changed", "chunk rewritten", "pin rewritten":
			for _, sql := range c.sql {
				f.ok(f.core.DB.Writer.Exec(names.Replace(sql)).Error)
			}
			applied++
		}
	}
	if applied != 11 {
		t.Fatalf("%d corruptions of these names", applied)
	}
	f.readEverything(names)
	found, err := f.Verify(f.ctx)
	f.ok(err)
	for _, c := range []struct{ table, id string }{{"turns", "$T1"}, {"turns", "$T2"}, {"steps", "$STEP"}, {"events", "$SESSION/5"},
		{"drafts", "$CHILD"}, {"units", "$UNIT"}, {"branches", "$CHILD"}, {"branches", "$MAIN"}, {"chunks", "$CHUNK"}, {"pins", "$PIN"}} {
		if !names.in(found, c.table, c.id) {
			t.Errorf("%s %s is not named", c.table, names.Replace(c.id))
		}
	}
}

// unguard turns off the checks of the database.
func (f *fixture) unguard() {
	f.Helper()
	for _, sql := range []string{`PRAGMA foreign_keys = OFF`, `PRAGMA ignore_check_constraints = ON`} {
		f.ok(f.core.DB.Writer.Exec(sql).Error)
	}
}

// replacer replaces the names in corruptions with ids.
type replacer struct{ *strings.Replacer }

func (f *fixture) names(d seeded) replacer {
	f.Helper()
	pairs := []string{
		"$MAIN", string(d.Main.ID), "$CHILD", string(d.Child.ID), "$INSIDE", string(d.Inside.ID), "$SESSION", string(d.Session.ID),
		"$ARCHIVED", string(d.Archived.ID), "$STEP", string(d.Step.ID), "$QUEUED", string(d.Queued), "$PIN", string(d.Pins[0].ID),
		"$QUOTINGTURN", string(d.Quoting.TurnID), "$QUOTING", string(d.Quoting.ID), "$QUOTED", string(d.Quoted), "$PREPARED", string(d.Prepared.ID),
	}
	pairs = append(pairs, "$SUM", d.Summaries[0].ID, "$WIDE", d.Summaries[2].ID, "$EARLY", string(d.Early.ID))
	for i, st := range d.States {
		pairs = append(pairs, "$STATE"+sqlite.Itoa(int64(i)), string(st.ID))
	}
	for i, step := range d.Linked {
		pairs = append(pairs, "$REQ"+sqlite.Itoa(int64(i)), string(step.ID), "$MAN"+sqlite.Itoa(int64(i)), string(d.Manifests[i]))
	}
	for i, turn := range d.Turns {
		pairs = append(pairs, "$T"+sqlite.Itoa(int64(i+1)), string(turn.ID))
	}
	for name, query := range map[string]string{
		"$STATEEVENT": `SELECT session_id || '/' || event_seq FROM events WHERE type = 'state_committed' AND entity_id = '` + string(d.States[2].ID) + `'`,
		"$S1":         `SELECT id FROM states WHERE branch_id = '` + string(d.Main.ID) + `' AND state_seq = 1`,
		"$S2":         `SELECT id FROM states WHERE branch_id = '` + string(d.Main.ID) + `' AND state_seq = 2`,
		"$HEAD":       `SELECT head_state FROM branches WHERE id = '` + string(d.Main.ID) + `'`,
		"$CHUNK":      `SELECT id FROM chunks WHERE source_turn = '` + string(d.Turns[0].ID) + `' ORDER BY ordinal LIMIT 1`,
		"$UNIT":       `SELECT id FROM units WHERE turn_id = '` + string(d.Turns[1].ID) + `' ORDER BY n LIMIT 1`,
	} {
		id, err := sqlite.One[string](f.core.DB.Reader, name, "", query)
		f.ok(err)
		pairs = append(pairs, name, id)
	}
	return replacer{strings.NewReplacer(pairs...)}
}

func (r replacer) in(found []chat.Finding, table, id string) bool {
	return slices.ContainsFunc(found, func(x chat.Finding) bool { return x.Table == table && x.ID == r.Replace(id) })
}

// copied opens a copy of a database.
func copied(t *testing.T, master string) *fixture {
	t.Helper()
	f := &fixture{TB: t, ctx: t.Context(), dir: t.TempDir()}
	data, err := os.ReadFile(master)
	f.ok(err)
	f.ok(os.WriteFile(filepath.Join(f.dir, sqlite.DatabaseFile), data, 0o600))
	s, err := Open(f.ctx, Options{DataDir: f.dir})
	f.ok(err)
	f.Store = s
	t.Cleanup(func() { _ = s.Close() })
	return f
}

// readEverything checks that lists and undamaged turns can be read.
func (f *fixture) readEverything(names replacer) {
	f.Helper()
	sessions, err := f.Sessions(f.ctx, chat.SessionQuery{})
	f.ok(err)
	if len(sessions) != 2 {
		f.Fatalf("%d sessions", len(sessions))
	}
	turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: chat.BranchID(names.Replace("$MAIN"))})
	f.ok(err)
	if len(turns) < 8 {
		f.Fatalf("only %d turns", len(turns))
	}
	for _, b := range []string{"$MAIN", "$CHILD"} {
		_, err = f.Pins(f.ctx, chat.BranchID(names.Replace(b)))
		f.ok(err)
		_, err = f.States(f.ctx, chat.BranchID(names.Replace(b)))
		f.ok(err)
	}
	f.find(everywhere, 20, "zebra")
}

// TestADamagedMessageIsIsolated: the turn reports what cannot be read and shows the rest.
func TestADamagedMessageIsIsolated(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "one", "first answer")
	damaged := f.full(b.ID, "two", "second answer")
	f.full(b.ID, "three", "third answer")
	f.ok(f.core.DB.Writer.Exec(`UPDATE turns SET user_message_json = '{"role":"user","blo' WHERE id = ?`, damaged.ID).Error)
	turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: b.ID})
	f.ok(err)
	if len(turns) != 3 || turns[1].Failure == nil || turns[1].Failure.Code != chat.CodeCorrupt || !strings.Contains(turns[1].Failure.Message, string(damaged.ID)) {
		t.Fatalf("turns %+v", turns)
	}
	if turns[0].Failure != nil || turns[2].User.RenderedText() != "three" || turns[1].Assistant.RenderedText() != "second answer" {
		t.Fatalf("the damage affects others: %+v", turns)
	}
}

// A connection that searched before the text index grew does not report it as damaged.
func TestVerifyAfterASearch(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	pool, err := f.core.DB.Reader.DB()
	f.ok(err)
	pool.SetMaxOpenConns(1)
	say := func(times int) {
		for i := range times {
			f.index(f.full(main.ID, fmt.Sprintf("hello %d world", i), "an answer").ID)
		}
	}
	say(4)
	_, err = f.SearchUnits(f.ctx, []string{"hello"}, chat.Within{Scope: chat.ScopeAll}, 5)
	f.ok(err)
	say(60) // enough to make the index merge its segments
	f.verifyClean()
}
