package store

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
	"contextinfinity/test/testtier"
)

// contentColumns are all columns with content or data derived from it, and the expressions for the ids of their
// records.
var contentColumns = []struct {
	table, column, id string
}{
	{"sessions", "title", "id"}, {"sessions", "system_prompt", "id"}, {"branches", "label", "id"},
	{"turns", "user_message_json", "id"}, {"turns", "final_assistant_message_json", "id"}, {"turns", "usage_json", "id"},
	{"turns", "error_json", "id"}, {"turns", "manifest", "id"}, {"turns", "user_hash", "id"}, {"turns", "assistant_hash", "id"},
	{"steps", "request_json", "id"}, {"steps", "response_json", "id"}, {"steps", "raw_events", "id"}, {"steps", "normalized_items_json", "id"},
	{"steps", "items_z", "id"}, {"steps", "outcome_json", "id"}, {"steps", "usage_json", "id"},
	{"states", "summary", "id"}, {"states", "summary_z", "id"}, {"states", "pinned_facts", "id"}, {"states", "validation_json", "id"},
	{"states", "content_hash", "id"}, {"pins", "text", "id"}, {"pins", "content_hash", "id"}, {"pin_orders", "pins_json", "id"},
	{"summaries", "content", "id"}, {"summaries", "content_hash", "id"}, {"summaries", "validation_json", "id"}, {"files", "content", "id"}, {"files", "content_hash", "id"}, {"files", "name", "id"},
	{"chunks", "summary", "id"}, {"chunks", "content_hash", "id"}, {"units", "text", "id"}, {"units", "content_hash", "id"},
	{"events", "payload", "session_id || '/' || event_seq"}, {"events", "payload_hash", "session_id || '/' || event_seq"},
	{"events", "prev_hash", "session_id || '/' || event_seq"}, {"events", "hash", "session_id || '/' || event_seq"},
	{"events", "entity_id", "session_id || '/' || event_seq"}, {"events", "created_at", "session_id || '/' || event_seq"},
	{"snapshots", "content", "session_id || '/' || event_seq"}, {"snapshots", "content_hash", "session_id || '/' || event_seq"},
}

// flips is how many rows of a column are tried, and how many bytes of each row.
const flips = 2

// replayedStates returns the states of all sessions, as the tables and as the ledgers give them.
func (f *fixture) replayedStates(db *gorm.DB, sessions []string) ([]chat.Finding, []byte) {
	f.Helper()
	a := verify.NewAudit()
	a.DB = db
	var states bytes.Buffer
	for _, id := range sessions {
		a.Replay(id)
		for _, s := range []*ledger.State{a.Have, a.Want} {
			states.Write(f.encoded(s))
		}
	}
	return a.Found, states.Bytes()
}

// TestAFlippedByteOfAnyContentIsReported flips one bit at a time and expects verify to report the record. Packed
// formats have a few bits without a meaning; if such a bit is flipped, the data must read as before. The exhaustive form
// tries every byte of the rows.
func TestAFlippedByteOfAnyContentIsReported(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	d := seed(f)
	f.addDocument(d.Archived)
	names := f.names(d)
	f.unguard()
	sessions, err := sqlite.All[string](f.core.DB.Reader, `SELECT id FROM sessions ORDER BY id`)
	f.ok(err)
	for _, id := range sessions {
		f.takeSnapshot(id)
	}
	for _, sql := range noTriggers {
		f.ok(f.core.DB.Writer.Exec(sql).Error)
	}
	view := f.core.DB.Writer.Begin()
	_, want := f.replayedStates(view, sessions)
	view.Rollback()
	tried, harmless := 0, 0
	for _, c := range contentColumns {
		rows, err := sqlite.All[struct {
			Rowid   int64
			ID      string
			Content []byte
		}](f.core.DB.Writer, fmt.Sprintf(`SELECT rowid, %[1]s AS id, CAST(%[2]s AS BLOB) AS content FROM %[3]s WHERE length(%[2]s) > 0
			ORDER BY length(%[2]s) DESC, rowid LIMIT %[4]d`, c.id, c.column, c.table, flips))
		f.ok(err)
		if len(rows) == 0 {
			t.Errorf("%s.%s is empty everywhere", c.table, c.column)
		}
		for i, r := range rows {
			step := testtier.Sizes(max(len(r.Content)/flips, 1), max(len(r.Content)/(2*flips), 1), 1)
			for at := (7 * i) % step; at < len(r.Content); at += step {
				flipped := bytes.Clone(r.Content)
				flipped[at] ^= 1 << (at % 7)
				found, states := f.flipped(c.table, c.column, r.Rowid, flipped, sessions)
				tried++
				if (replacer{strings.NewReplacer()}).in(found, c.table, r.ID) {
					continue
				}
				if len(found) > 0 || !bytes.Equal(states, want) {
					t.Errorf("%s.%s of %s, byte %d: not named among %v", c.table, c.column, r.ID, at, found)
				}
				harmless++
			}
		}
	}
	t.Logf("%d flips, %d of them without a meaning", tried, harmless)
	if harmless > tried/10 {
		t.Errorf("%d of %d flips mean nothing", harmless, tried)
	}
	for _, c := range contentColumns[3:30] {
		f.ok(f.core.DB.Writer.Exec(fmt.Sprintf(`UPDATE %s SET %s = CASE typeof(%[2]s) WHEN 'text' THEN %[2]s || 'x' ELSE CAST(%[2]s || 'x' AS BLOB) END WHERE rowid = (SELECT max(rowid) FROM %[1]s WHERE %[2]s IS NOT NULL)`, c.table, c.column)).Error)
	}
	f.readEverything(names)
}

// addDocument adds a document, and a step with a provider's complete response.
func (f *fixture) addDocument(s chat.Session) {
	f.Helper()
	read := f.attach(s.ActiveBranch, f.file(s.ID, "plan.txt", "the plan is to begin"))
	f.commitAll(s.ActiveBranch)
	i := chat.Indexing{TurnID: read.ID, Chunks: chunksOf(read), Status: chat.IndexOK}
	i.Chunks[0].Summary = "a plan"
	f.ok(f.Index(f.ctx, i))
	turn := f.accept(s.ActiveBranch, "and then")
	end := f.ended(f.respond(turn), chat.StepFailed, "")
	end.Response = []byte(`{"id":"resp_1","error":{"message":"overloaded"}}`)
	_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Step: end, Outcome: chat.OutcomeFailed})
	f.ok(err)
}

// flipped returns the findings and the content after the bytes of a column were changed.
func (f *fixture) flipped(table, column string, rowid int64, to []byte, sessions []string) ([]chat.Finding, []byte) {
	f.Helper()
	db := f.core.DB.Writer.Begin()
	defer db.Rollback()
	f.ok(db.Exec(fmt.Sprintf(`UPDATE %s SET %s = CASE typeof(%[2]s) WHEN 'text' THEN CAST(? AS TEXT) ELSE ? END WHERE rowid = ?`, table, column), string(to), to, rowid).Error)
	return f.replayedStates(db, sessions)
}
