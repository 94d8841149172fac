package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

const canary = "xylocanary"

// traces returns where a text occurs in a data directory: in the bytes of each file, and in each value of each table,
// unpacked.
func (f *fixture) traces(word string) []string {
	f.Helper()
	var found []string
	f.ok(filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(f.dir, path)
		if strings.HasPrefix(rel, sqlite.BackupDir) {
			return nil // a receipt lists the backups
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(word)) {
			found = append(found, "file "+rel)
		}
		return err
	}))
	return append(found, f.tracesInTables(word)...)
}

// tracesInTables searches every column of every table, including those of the text index.
func (f *fixture) tracesInTables(word string) []string {
	f.Helper()
	var found []string
	tables, err := sqlite.All[string](f.core.DB.Reader, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'units_vocab'`)
	f.ok(err)
	if len(tables) < 30 {
		f.Fatalf("only %d tables", len(tables))
	}
	for _, table := range tables {
		rows, err := f.core.DB.Reader.Raw(`SELECT * FROM "` + table + `"`).Rows()
		f.ok(err)
		columns, err := rows.Columns()
		f.ok(err)
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			f.ok(rows.Scan(values...))
			for i, v := range values {
				for _, text := range readings(*v.(*any)) {
					if strings.Contains(text, word) {
						found = append(found, fmt.Sprintf("%s.%s of %v", table, columns[i], *values[0].(*any)))
						break
					}
				}
			}
		}
		f.ok(rows.Close())
	}
	return append(found, f.tracesInChains(word)...)
}

// readings returns a value as it is stored and, if it is packed, unpacked.
func readings(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []byte:
		out := []string{string(v)}
		if text, err := codec.Unpack(v); err == nil {
			out = append(out, string(text))
		}
		return out
	}
	return nil
}

// tracesInChains searches values that are packed against others. All of them must be readable.
func (f *fixture) tracesInChains(word string) []string {
	f.Helper()
	var found []string
	look := func(name string, text []byte, err error) {
		f.Helper()
		if err != nil {
			f.Errorf("%s cannot be read: %v", name, err)
		}
		if bytes.Contains(text, []byte(word)) {
			found = append(found, name)
		}
	}
	for _, c := range []delta.Chain{delta.RequestChain, delta.ManifestChain} {
		ids, err := sqlite.All[string](f.core.DB.Reader, `SELECT id FROM `+c.Table)
		f.ok(err)
		for _, id := range ids {
			value, err := c.Read(f.core.DB.Reader, id, nil)
			look(c.Table+"."+c.Column+" of "+id, value, err)
		}
	}
	events, err := sqlite.All[schema.EventRow](f.core.DB.Reader, `SELECT * FROM events`)
	f.ok(err)
	for _, r := range events {
		payload, err := core.UnpackPayload(f.core.DB.Reader, r.SessionID, r.Payload)
		look("payload of "+r.SessionID+"/"+sqlite.Itoa(r.EventSeq)+" "+r.Type, payload, err)
	}
	states, err := sqlite.All[schema.StateRow](f.core.DB.Reader, `SELECT * FROM states`)
	f.ok(err)
	for _, r := range states {
		err := r.Unpack(f.core.DB.Reader)
		look("state "+r.ID, []byte(r.Summary), err)
	}
	steps, err := sqlite.All[schema.StepRow](f.core.DB.Reader, `SELECT `+schema.StepColumns+`, response_json, raw_events FROM steps`)
	f.ok(err)
	for _, r := range steps {
		items, err := r.Items()
		look("items of "+r.ID, []byte(items), err)
		raw, err := r.Events()
		look("raw events of "+r.ID, raw, err)
	}
	return found
}

// expectNoTrace asserts that the word occurs nowhere.
func (f *fixture) expectNoTrace(word string) {
	f.Helper()
	if found := f.traces(word); len(found) > 0 {
		f.Errorf("%q is still in:\n%s", word, strings.Join(found, "\n"))
	}
}

// secretSession creates a session that contains the canary wherever text can be, a session whose memory quoted it, and one
// that is unrelated to it.
type secretive struct {
	session, other, clean chat.Session
	branch                chat.BranchID
	turns                 []chat.Turn
	quoting               chat.Turn
	step                  chat.Step
}

func (f *fixture) secretSession() secretive {
	f.Helper()
	var d secretive
	say := func(s string) string { return s + " " + canary + " " + strings.Repeat(s+" and more of it. ", 60) }
	s, b, err := f.CreateSession(f.ctx, chat.NewSession{Title: "about " + canary, SystemPrompt: "know " + canary})
	f.ok(err)
	d.session, d.branch = s, b.ID
	f.ok(f.SetFolder(f.ctx, []chat.SessionID{s.ID}, "folder "+canary))
	f.ok(f.RenameSession(f.ctx, s.ID, canary+" again"))
	for i := range 4 {
		d.turns = append(d.turns, f.committed(b.ID, say(fmt.Sprint("question ", i)), say(fmt.Sprint("answer ", i))))
		f.index(d.turns[i].ID)
	}
	f.secretDerived(b.ID, d.turns)
	steps, err := f.Steps(f.ctx, d.turns[3].ID)
	f.ok(err)
	d.step = steps[0]
	f.ok(os.MkdirAll(filepath.Join(f.dir, sqlite.StreamDir), 0o700))
	f.ok(os.WriteFile(filepath.Join(f.dir, filepath.FromSlash(d.step.StreamPath)), []byte(say("journal")), 0o600))
	f.ok(f.PutSetting(f.ctx, "last_session", string(s.ID)))
	f.ok(f.PutSetting(f.ctx, "task.1", `{"title":"Import x","result":{"report":{"skipped":[{"title":"`+canary+` again"}]}}}`))
	f.ok(f.PutSetting(f.ctx, "task.2", `{"title":"Import x","result":{"report":{"skipped":[{"title":"about `+canary+`"}]}}}`)) // the title it had at that time
	f.ok(f.PutSetting(f.ctx, "task.3", `{"title":"Export ABOUT-`+canary+`.md","result":{"path":"/home/x/ABOUT-`+canary+`.md"}}`))
	dragged := filepath.Join(f.dir, sqlite.DragDir, string(s.ID), "0123")
	f.ok(os.MkdirAll(dragged, 0o700))
	f.ok(os.WriteFile(filepath.Join(dragged, canary+".md"), []byte(say("dragged")), 0o600))
	f.fill(embedder, 100)
	f.ok(f.ObserveCalibration(f.ctx, "recall", "recall", 1000, 1230))

	other, ob := f.session("other")
	d.other = other
	texts, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks WHERE session_id = ? ORDER BY n`, s.ID)
	f.ok(err)
	chunks, err := f.ChunkTexts(f.ctx, texts)
	f.ok(err)
	common := benchText(1500)
	for i := range 5 { // the second turn recalls the secret; the requests of later ones are deltas of its request
		turn := f.accept(ob.ID, fmt.Sprint("and what was it, ", i))
		var memory []chat.ChunkText
		if i == 1 {
			memory, d.quoting = chunks[:min(4, len(chunks))], turn
		}
		_, _, step := f.remember(turn, common+fmt.Sprint(i), memory...)
		_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
		f.ok(err)
	}
	clean, cb := f.session("clean")
	d.clean = clean
	f.index(f.committed(cb.ID, "nothing of that here", "no, nothing").ID)
	f.verifyClean()
	return d
}

// secretDerived puts the canary into everything that is derived from turns or attached to a session.
func (f *fixture) secretDerived(b chat.BranchID, turns []chat.Turn) {
	f.Helper()
	f.pin(b, "pinned "+canary)
	child := f.fork(b, turns[1].ID)
	f.ok(f.RenameBranch(f.ctx, child.ID, "branch "+canary))
	f.committed(child.ID, "on the side "+canary, "so "+canary)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: child.ID, Message: chat.UserText("unsent " + canary)}))
	n := summaryOf(b, 1, 3)
	n.Content += " " + canary
	_, err := f.AddSummary(f.ctx, n)
	f.ok(err)
	file, err := f.AddFile(f.ctx, chat.NewFile{SessionID: turns[0].SessionID, Name: canary + ".txt", MediaType: "text/plain",
		Content: []byte("the file says " + canary), Tokens: 4})
	f.ok(err)
	f.clock.Advance(time.Millisecond)
	turn, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b, Provider: "recall", Model: "recall", User: chat.Message{Role: chat.RoleUser,
		Blocks: chat.Blocks{chat.Text{Text: "read"}, chat.Document{File: file.ID, Name: file.Name, MediaType: "text/plain", Text: "the file says " + canary, Complete: true}}}})
	f.ok(err)
	_, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Outcome: chat.OutcomeFailed, Failure: &chat.Failure{Code: chat.CodeInvalid, Message: canary}})
	f.ok(err)
	f.answerWithTools(b, "write it down", `{"say":"`+canary+`"}`, "written: "+canary, "I wrote it down.")
	f.addPermissions(turns[0].SessionID)
	f.describeChunks(turns[0].SessionID)
	for _, statement := range []string{
		fmt.Sprintf(`INSERT INTO blobs SELECT x'%x', session_id, 'image/png', 3, created_at, CAST('xylocanary' AS BLOB) FROM turns WHERE id = ?`, codec.Hash([]byte(canary))),
		`INSERT INTO import_keys SELECT 'chatgpt', 'xylocanary', session_id, id, created_at FROM turns WHERE id = ?`,
	} {
		f.ok(f.core.DB.Writer.Exec(statement, turns[2].ID).Error)
	}
}

// describeChunks gives each chunk of a session a summary by the librarian with the canary.
func (f *fixture) describeChunks(session chat.SessionID) {
	f.Helper()
	ids, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks WHERE session_id = ?`, session)
	f.ok(err)
	for _, id := range ids {
		f.ok(f.PutChunkSummary(f.ctx, chat.ChunkSummary{
			Chunk: id, Text: "It names " + canary + ".", GeneratedBy: "m", Validation: []byte(`{"of":"` + canary + `"}`),
		}))
	}
	texts, err := f.ChunkTexts(f.ctx, ids)
	f.ok(err)
	if len(texts) == 0 || !strings.Contains(texts[0].Brief(), canary) {
		f.Fatalf("no chunk of session %s has the librarian's summary", session)
	}
}

// TestADeletedSessionLeavesNoTrace: its content is in no table, packed or not, on no free page and in no other file;
// the other sessions can still be read.
func TestADeletedSessionLeavesNoTrace(t *testing.T) {
	f := newFixture(t)
	d := f.secretSession()
	if len(f.traces(canary)) < 30 {
		t.Fatalf("the canary is in too few places: %q", f.traces(canary))
	}
	f.ok(os.MkdirAll(filepath.Join(f.dir, sqlite.BackupDir), 0o700))
	backup, err := f.backupPart.Archive.Backup(f.ctx, filepath.Join(f.dir, sqlite.BackupDir))
	f.ok(err)
	before, err := f.Manifest(f.ctx, d.quoting.ID)
	f.ok(err)
	preview, err := f.PreviewDeletion(f.ctx, chat.DeletionSession, string(d.session.ID))
	f.ok(err)
	if !slices.Equal(preview.Sessions, []string{"other"}) || preview.Title != canary+" again" || preview.Reason != "" {
		t.Errorf("%+v", preview)
	}
	f.verifyClean()
	receipt, err := f.Delete(f.ctx, chat.DeletionSession, string(d.session.ID))
	f.ok(err)
	if !slices.Equal(receipt.Deleted, preview.Deleted) {
		t.Errorf("the preview said %v, the receipt %v", preview.Deleted, receipt.Deleted)
	}
	if want := []string{sqlite.BackupDir + "/" + filepath.Base(backup.Path)}; !slices.Equal(receipt.Backups, want) || !slices.Equal(preview.Backups, want) {
		t.Errorf("the receipt lists %v, the preview %v", receipt.Backups, preview.Backups)
	}
	f.expectNoTrace(canary)
	for _, id := range []string{string(d.session.ID), string(d.turns[0].ID)} {
		for _, trace := range f.tracesInTables(id) {
			if !strings.HasPrefix(trace, "receipts.") && !strings.Contains(trace, "content_erased") && !strings.HasPrefix(trace, "events.") {
				t.Errorf("%s is named by %s", id, trace)
			}
		}
	}
	if _, err := os.Lstat(filepath.Join(f.dir, sqlite.DragDir, string(d.session.ID))); err == nil {
		t.Error("the file that was dragged out is still there")
	}
	f.verifyClean()
	_, err = f.Session(f.ctx, d.session.ID)
	f.refused(err, chat.CodeNotFound)
	after, err := f.Manifest(f.ctx, d.quoting.ID)
	f.ok(err)
	var m struct {
		Deleted string `json:"erased"`
	}
	if json.Unmarshal(after, &m) != nil || m.Deleted != receipt.ID || bytes.Equal(before, after) {
		t.Errorf("the manifest of the quoting turn is %s", after)
	}
	f.reopen()
	f.verifyClean()
	f.expectReplayable(d.other.ID)
	receipts, err := f.Receipts(f.ctx)
	f.ok(err)
	if len(receipts) != 1 || receipts[0].Subject != string(d.session.ID) || receipts[0].Kind != chat.DeletionSession {
		t.Errorf("%+v", receipts)
	}
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM receipts`).Error)
	f.expectFindingIn("receipts")
}

// expectReplayable asserts that the ledger replays from the beginning to what is stored.
func (f *fixture) expectReplayable(s chat.SessionID) {
	f.Helper()
	state, _, err := f.Replay(f.ctx, s)
	f.ok(err)
	if len(state.Sessions) != 1 {
		f.Errorf("%s replays to %d sessions", s, len(state.Sessions))
	}
}

// expectFindingIn asserts that verify reports a record of a table.
func (f *fixture) expectFindingIn(table string) {
	f.Helper()
	found, err := f.Verify(f.ctx)
	f.ok(err)
	if !slices.ContainsFunc(found, func(x chat.Finding) bool { return x.Table == table }) {
		f.Errorf("verify finds nothing in %s: %v", table, found)
	}
}
