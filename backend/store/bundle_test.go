package store

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/sqlite"
)

// bundled exports a session.
func (f *fixture) bundled(s chat.SessionID) []byte {
	f.Helper()
	var b bytes.Buffer
	_, err := f.WriteBundle(f.ctx, s, &b, true)
	f.ok(err)
	return b.Bytes()
}

func (f *fixture) imported(b []byte) (chat.Imported, []string) {
	f.Helper()
	got, notices, err := f.ImportBundle(f.ctx, bytes.NewReader(b), int64(len(b)), "session.cinf")
	f.ok(err)
	var words []string
	for _, n := range notices {
		words = append(words, n.Text)
	}
	return got, words
}

// entries returns the entries of an archive; meta.json without the time of export.
func entries(tb testing.TB, b []byte) map[string]string {
	tb.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			tb.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		out[e.Name] = string(raw)
	}
	var meta map[string]any
	if err := json.Unmarshal([]byte(out["meta.json"]), &meta); err != nil {
		tb.Fatal(err)
	}
	delete(meta, "exported_at")
	out["meta.json"] = fmt.Sprint(meta)
	return out
}

// dump returns everything that can be read of a session, as text.
func (f *fixture) dump(id chat.SessionID) string {
	f.Helper()
	var b strings.Builder
	write := func(name string, v any, err error) {
		f.Helper()
		f.ok(err)
		raw, err := chat.MarshalJSON(v)
		f.ok(err)
		fmt.Fprintf(&b, "%s %s\n", name, raw)
	}
	session, err := f.Session(f.ctx, id)
	write("session", session, err)
	branches, err := f.Branches(f.ctx, id)
	for i := range branches {
		branches[i].Elsewhere = false // it depends on the device that reads
	}
	write("branches", branches, err)
	files := f.files(id)
	files = slices.DeleteFunc(files, func(d chat.File) bool { return d.TurnID == "" })
	for i := range files {
		content := f.fileContent(files[i].ID)
		words, err := f.FileText(f.ctx, files[i].ID)
		write("document", []any{files[i].ID, content, words}, err)
		files[i].CreatedAt = time.Time{} // the time belongs to the draft that it was attached to
	}
	write("documents", files, nil)
	summaries, err := f.AllSummaries(f.ctx, id)
	write("summaries", summaries, err)
	for _, branch := range branches {
		states, err := f.States(f.ctx, branch.ID)
		write("states", states, err)
		pins, err := f.Pins(f.ctx, branch.ID)
		write("pins", pins, err)
		turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: branch.ID})
		write("turns", turns, err)
		for _, t := range turns {
			steps, err := f.Steps(f.ctx, t.ID)
			write("steps", steps, err)
			for _, st := range steps {
				payload, err := f.StepPayload(f.ctx, st.ID)
				write("payload", payload, err)
			}
			manifest, err := f.Manifest(f.ctx, t.ID)
			write("manifest", string(manifest), err)
		}
		chunks, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: chat.Within{Branch: branch.ID}, Limit: 10_000})
		write("chunks", chunks, err)
	}
	return b.String()
}

// richSession returns a session with one of everything: branches (one archived), tools, reasoning, unknown blocks, an
// image, a document, pins, summaries, failed, incomplete and pending turns, a folder, settings, manifests and requests.
func (f *fixture) richSession() chat.Session {
	f.Helper()
	d := seed(f)
	f.ok(f.SetFolder(f.ctx, []chat.SessionID{d.Session.ID}, "Travels/東京"))
	branch := f.fork(d.Main.ID, d.Turns[4].ID).ID
	doc := f.file(d.Session.ID, "notes.txt", "The treaty of Vesterholm was signed in 1721.\nNobody came.")
	turn := f.attach(branch, doc)
	f.commitAll(branch)
	f.ok(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Status: chat.IndexOK, Chunks: []chat.Chunk{{
		File: doc.ID, Role: chat.RoleUser, End: 44, Text: "The treaty of Vesterholm was signed in 1721.", Type: chat.ChunkUserContext, Tokens: 9, Version: 1,
		Units: []chat.Unit{{Role: chat.RoleUser, End: 44, Tokens: 9, Text: "[2026-01-02] notes.txt: The treaty of Vesterholm was signed in 1721."}},
	}}}))
	f.blocks(branch)
	return f.reloaded(d.Session)
}

func (f *fixture) reloaded(s chat.Session) chat.Session {
	f.Helper()
	s, err := f.Session(f.ctx, s.ID)
	f.ok(err)
	return s
}

// blocks adds a turn with every kind of block.
func (f *fixture) blocks(branch chat.BranchID) {
	f.Helper()
	f.clock.Advance(time.Millisecond)
	t, err := f.Accept(f.ctx, chat.Acceptance{BranchID: branch, Provider: "p", Model: "m", User: chat.Message{
		Role: chat.RoleUser, Name: "Ada", Blocks: chat.Blocks{
			chat.Text{Text: "look <at> this\u2028 & that"}, chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"data":"iVBORw0KGgo="}`)},
		},
	}})
	f.ok(err)
	step := f.respond(t)
	blocks := chat.Blocks{
		chat.Reasoning{Provider: "p", EncryptedContent: "b3BhcXVl", Summary: "thinking"},
		chat.ToolUse{ToolUseID: "c1", Name: "weather", Input: json.RawMessage(`{"city": "Bergen"}`)},
		chat.ToolResult{ToolUseID: "c1", Content: chat.Blocks{chat.Text{Text: "rain"}}, IsError: true},
		chat.Unknown{Provider: "p", Raw: []byte("{\"odd\":  \"<1>\"}\xff\x00")}, chat.Refusal{Text: "no"}, chat.Text{Text: "It rains."},
	}
	end := f.ended(step, chat.StepCompleted, "It rains.")
	end.Items = chat.Items{chat.AssistantMessage{Blocks: blocks}}
	end.Response = []byte(`{"id":"resp_1","output":[]}`)
	_, err = f.Finalize(f.ctx, chat.Finalization{TurnID: t.ID, Step: end, Message: chat.Message{Role: chat.RoleAssistant, Blocks: blocks},
		Outcome: chat.OutcomeCompleted, Usage: &chat.Usage{InputTokens: 3}})
	f.ok(err)
}

// TestExportThenImport: after an import into another data directory the session is identical, passes verify, replays
// to its snapshot, and is exported as the same file.
func TestExportThenImport(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	s := from.richSession()
	_, _, err := from.Snapshot(from.ctx)
	from.ok(err)
	b := from.bundled(s.ID)
	got, notices := to.imported(b)
	if got.Session != s.ID || got.Outcome != chat.ImportCreated || got.Turns != 13 || got.Branches != 4 || got.Notice != "" || len(notices) != 0 {
		t.Errorf("imported %+v %q", got, notices)
	}
	if want, have := from.dump(s.ID), to.dump(s.ID); want != have {
		t.Errorf("%s", firstDifference(want, have))
	}
	to.verifyClean()
	to.expectSameAfterReplay(s.ID)
	for name, want := range entries(t, b) {
		if have := entries(t, to.bundled(s.ID))[name]; have != want {
			t.Errorf("%s differs: %s", name, firstDifference(want, have))
		}
	}
	if again, _ := to.imported(b); again.Outcome != chat.ImportAlready || again.Session != s.ID || again.Turns != 0 {
		t.Errorf("imported again: %+v", again)
	}
	if hits := to.find(everywhere, 20, "Vesterholm"); len(hits) != 1 {
		t.Errorf("its document is found as %+v", hits)
	}
	if n, err := to.RequeueMissing(to.ctx); n != 0 || err != nil {
		t.Errorf("%d jobs were not made with it: %v", n, err)
	}
	to.reopen()
	to.verifyClean()
}

// firstDifference shows where two texts start to differ.
func firstDifference(want, have string) string {
	i := 0
	for i < len(want) && i < len(have) && want[i] == have[i] {
		i++
	}
	from := max(0, i-200)
	return fmt.Sprintf("at %d\nwant …%s\nhave …%s", i, want[from:min(len(want), i+200)], have[from:min(len(have), i+200)])
}

// TestEverySeededSessionCanBeExportedAndImported covers open turns, archived sessions, chains of requests, and
// retrieval records of chunks from sessions that are not in the bundle.
func TestEverySeededSessionCanBeExportedAndImported(t *testing.T) {
	from := newFixture(t)
	seed(from)
	list := from.allSessions()
	for _, s := range list {
		to := newFixture(t)
		b := from.bundled(s)
		to.imported(b)
		if want, have := from.dump(s), to.dump(s); want != have {
			t.Errorf("session %s %s", s, firstDifference(want, have))
		}
		to.verifyClean()
		if want, have := entries(t, b), entries(t, to.bundled(s)); fmt.Sprint(want) != fmt.Sprint(have) {
			t.Errorf("the export of session %s differs: %s", s, firstDifference(fmt.Sprint(want), fmt.Sprint(have)))
		}
	}
	together := newFixture(t)
	for _, s := range list {
		together.imported(from.bundled(s))
	}
	together.verifyClean()
}

func (f *fixture) allSessions() []chat.SessionID {
	f.Helper()
	ids, err := sqlite.All[chat.SessionID](f.core.DB.Reader, `SELECT id FROM sessions ORDER BY id`)
	f.ok(err)
	return ids
}

// TestImportAddsNewEvents: a bundle that continues our ledger adds its additional events; one that ends earlier adds
// nothing.
func TestImportAddsNewEvents(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	s, b := from.session("growing")
	from.full(b.ID, "one", "first")
	early := from.bundled(s.ID)
	to.imported(early)
	from.full(b.ID, "two", "second")
	child := from.fork(b.ID, "")
	from.say(child.ID, "beside", "other")
	late := from.bundled(s.ID)
	if got, _ := to.imported(late); got.Outcome != chat.ImportGrown || got.Turns != 2 || got.Branches != 1 || got.Session != s.ID {
		t.Errorf("%+v", got)
	}
	if from.dump(s.ID) != to.dump(s.ID) {
		t.Error(firstDifference(from.dump(s.ID), to.dump(s.ID)))
	}
	if got, _ := to.imported(early); got.Outcome != chat.ImportAlready {
		t.Errorf("an earlier bundle: %+v", got)
	}
	to.verifyClean()
}

// asOne lets a fixture write the lane of the device from which a session came, as two copies of data do that were made
// before devices had ids.
func (f *fixture) asOne(s chat.SessionID) {
	f.Helper()
	f.ok(f.core.Write(f.ctx, "test", func(t *core.Tx) error {
		return t.Run(`UPDATE sessions SET begun_by = ? WHERE id = ?`, t.Device.Home, s)
	}))
}

// TestImportOfADivergedBundle: it is imported once, as a copy that shares no id with the original.
func TestImportOfADivergedBundle(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	s := from.richSession()
	to.imported(from.bundled(s.ID))
	to.asOne(s.ID)
	to.ok(to.RenameSession(to.ctx, s.ID, "ours went on"))
	ours := to.dump(s.ID)
	from.ok(from.RenameSession(from.ctx, s.ID, "theirs went on"))
	b := from.bundled(s.ID)
	got, _ := to.imported(b)
	if got.Outcome != chat.ImportCopied || got.Session == s.ID || got.Turns != 13 || got.Notice == "" {
		t.Fatalf("%+v", got)
	}
	if now := to.dump(s.ID); now != ours {
		t.Error("ours changed: " + firstDifference(ours, now))
	}
	made := to.reloaded(chat.Session{ID: got.Session})
	if made.Source != events.SourceBundle || made.Title != "theirs went on" {
		t.Errorf("the copy is %+v", made)
	}
	want := strings.Replace(anonymous(from.dump(s.ID)), `"source":"native"`, `"source":"bundle"`, 1)
	if have := anonymous(to.dump(got.Session)); have != want {
		t.Error(firstDifference(want, have))
	}
	to.verifyClean()
	to.expectSameAfterReplay(got.Session)
	if again, _ := to.imported(b); again.Outcome != chat.ImportAlready || again.Session != got.Session {
		t.Errorf("imported again: %+v", again)
	}
	if n := len(to.allSessions()); n != 2 {
		t.Errorf("%d sessions", n)
	}
	if hits := to.find(everywhere, 20, "Vesterholm"); len(hits) != 2 {
		t.Errorf("its document is found as %+v", hits)
	}
}

var idPattern = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}`)

// anonymous replaces the ids in the output of dump with numbers. It leaves out the bytes that were sent to a
// provider and received, because a copy keeps the original ids there.
func anonymous(text string) string {
	names := map[string]string{}
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "payload ") {
			kept = append(kept, line)
		}
	}
	return idPattern.ReplaceAllStringFunc(strings.Join(kept, ""), func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprint("id", len(names))
		}
		return names[id]
	})
}

// stopping cancels a context after a number of bytes were read.
type stopping struct {
	*bytes.Reader
	left int
	stop func()
}

func (r *stopping) ReadAt(p []byte, at int64) (int, error) {
	if r.left -= len(p); r.left < 0 {
		r.stop()
	}
	return r.Reader.ReadAt(p, at)
}

// TestAnImportThatIsStoppedLeavesNothing: wherever it is cancelled, neither rows nor files are left; the next start
// removes what a crash leaves.
func TestAnImportThatIsStoppedLeavesNothing(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	_, main := to.session("ours")
	to.full(main.ID, "what was here", "stays")
	b := from.bundled(from.richSession().ID)
	before := to.rowsOfAll()
	stopped := 0
	for _, after := range []int{0, len(b) / 2, len(b), len(b) * 3 / 2} {
		ctx, cancel := context.WithCancel(to.ctx)
		_, _, err := to.ImportBundle(ctx, &stopping{bytes.NewReader(b), after, cancel}, int64(len(b)), "")
		cancel()
		if err == nil {
			break // it had already read everything
		}
		stopped++
		to.refused(err, chat.CodeCancelled)
		if now := to.rowsOfAll(); now != before {
			t.Errorf("stopped after %d of %d bytes it left %s\nthere was %s", after, len(b), now, before)
		}
		if left, _ := filepath.Glob(filepath.Join(to.dir, atrest.IncomingPrefix+"*")); len(left) > 0 {
			t.Errorf("stopped after %d of %d bytes it left %v", after, len(b), left)
		}
	}
	if stopped < 2 {
		t.Errorf("it was stopped %d times", stopped)
	}
	left, err := atrest.MakeFolder(to.dir, atrest.IncomingPrefix)
	to.ok(errors.Join(err, os.WriteFile(left.File("x"), []byte("x"), 0o600)))
	left.Release()
	to.reopen()
	if left, _ := filepath.Glob(filepath.Join(to.dir, atrest.IncomingPrefix+"*")); len(left) > 0 {
		t.Errorf("opening leaves %v", left)
	}
	to.verifyClean()
}

// TestAnyHistoryCanBeExportedAndImported: for random histories, an imported bundle makes the same session, and
// exporting that makes the same bundle.
func TestAnyHistoryCanBeExportedAndImported(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newEnv(t, rt)
		defer w.Store.Close()
		branch, err := w.Branch(w.ctx, w.branches[0].id)
		w.ok(err)
		to := newFixture(t)
		defer to.Store.Close()
		rt.Repeat(map[string]func(*rapid.T){
			"accept": func(*rapid.T) { w.accept() },
			"end":    func(*rapid.T) { w.end() },
			"commit": func(*rapid.T) { w.commit() },
			"fork":   func(*rapid.T) { w.fork() },
			"index":  func(*rapid.T) { w.indexSome() },
			"import": func(*rapid.T) { to.imported(w.bundled(branch.SessionID)) },
		})
		b := w.bundled(branch.SessionID)
		to.imported(b)
		if want, have := w.dump(branch.SessionID), to.dump(branch.SessionID); want != have {
			rt.Fatal(firstDifference(want, have))
		}
		if want, have := fmt.Sprint(entries(t, b)), fmt.Sprint(entries(t, to.bundled(branch.SessionID))); want != have {
			rt.Fatal(firstDifference(want, have))
		}
		to.verifyClean()
	})
}

// zstdOf compresses text with zstd.
func zstdOf(text string) string {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err) // cannot happen without options
	}
	return string(enc.EncodeAll([]byte(text), nil))
}
