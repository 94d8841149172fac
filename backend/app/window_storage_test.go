package app

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
	"contextinfinity/test/harness"
)

// openStoragePage opens a window whose data directory is set in the configuration file and can be changed. It returns
// the options of its start and the data directory.
func openStoragePage(t *testing.T) (*page, cli.OpenOptions, string) {
	t.Helper()
	r := harness.NewRelay(t, harness.ChatWire, func(int) llmtest.Step { return llmtest.Stream(harness.ChatWire.TextStream(true, "It is noted.")...) }, nil)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	o := cli.OpenOptions{ConfigPath: filepath.Join(dir, "config.toml")}
	harness.WriteFile(t, o.ConfigPath, []byte(fmt.Sprintf("[general]\ndata_dir = %q\n", data)+harness.ChatWire.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n[retrieval]\nscope = \"all\"\n[backup]\ndaily = false\n"))
	return openPageWith(t, o), o, data
}

// checkData runs verify on a data directory that is not open.
func checkData(t *testing.T, o cli.OpenOptions) {
	t.Helper()
	app := commandLine()
	var out bytes.Buffer
	app.Out, app.Err = &out, &out
	if code := cli.Run(context.Background(), app, []string{"--config", o.ConfigPath, "verify"}); code != 0 {
		t.Errorf("verify ends with %d:\n%s", code, out.String())
	}
}

// filesContaining returns the files of a folder that contain a text in plain form.
func filesContaining(t *testing.T, dir, text string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A full check runs as a task with a report, which names the damaged record.
func TestWindowChecks(t *testing.T) {
	t.Parallel()
	p, o, data := openStoragePage(t)
	sent := p.say(api.SendRequest{Text: "A pelican over the harbour.", Model: "m"})
	v := p.awaitTaskEnd(must[api.TaskView](t)(p.storage.Check()).ID)
	if v.State != "done" || v.Kind != "verify" || v.Check == nil || v.Check.Problems != 0 || len(v.Check.Findings) != 0 || v.Done != v.Total || v.Total == 0 {
		t.Fatalf("%+v, %+v", v, v.Check)
	}
	p.window.Close()
	file := filepath.Join(data, store.DatabaseFile)
	raw, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(raw, []byte("over the harbour")) {
		t.Fatalf("the message is not in the file: %v", err)
	}
	harness.WriteFile(t, file, bytes.ReplaceAll(raw, []byte("over the harbour"), []byte("over the harvest")))
	reopened := openPageWith(t, o)
	v = reopened.awaitTaskEnd(must[api.TaskView](t)(reopened.storage.Check()).ID)
	if v.State != "done" || v.Check == nil || v.Check.Problems == 0 || !slices.ContainsFunc(v.Check.Findings, func(f chat.Phrase) bool { return strings.Contains(f.String(), sent.TurnID) }) {
		t.Errorf("%+v, %+v", v, v.Check)
	}
}

// A turn and a session are deleted after the confirmation was typed. Quotations in other conversations are removed too,
// their X-ray says so, and verify finds nothing.
func TestWindowDeletesPermanently(t *testing.T) {
	t.Parallel()
	p, o, data := openStoragePage(t)
	secret := p.say(api.SendRequest{Text: "The passphrase of the vault at Orkney is quixotic-zebra-flumes.", Model: "m"})
	second := p.say(api.SendRequest{SessionID: secret.SessionID, Text: "Thank you. Do not tell.", Model: "m"})
	other := p.say(api.SendRequest{Text: "What is the passphrase of the vault at Orkney?", Model: "m"})
	before := must[api.ContextView](t)(p.inspect.Context(other.TurnID))
	if len(retrievedItems(before)) == 0 {
		t.Fatalf("nothing was remembered: %+v", before)
	}
	if len(filesContaining(t, data, "zebra-flumes")) == 0 {
		t.Fatal("the text was never stored, so the test proves nothing")
	}

	preview := must[api.DeletionPreview](t)(p.storage.PreviewDeletion(chat.DeletionTurn, secret.TurnID, nil))
	if preview.Reason != "" || preview.Confirm == "" || len(preview.Parts) < 5 || len(preview.Sessions) != 1 {
		t.Fatalf("%+v", preview)
	}
	if _, err := p.storage.Delete(chat.DeletionTurn, secret.TurnID, "yes", nil); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("with a wrong confirmation: %v", err)
	}
	receipt := must[api.ReceiptView](t)(p.storage.Delete(chat.DeletionTurn, secret.TurnID, preview.Confirm, nil))
	if receipt.Kind != chat.DeletionTurn || !slices.EqualFunc(receipt.Parts, preview.Parts, func(a, b api.DeletedPart) bool { return a.Store == b.Store }) {
		t.Errorf("the receipt says %+v, the preview %+v", receipt, preview)
	}
	if files := filesContaining(t, data, "zebra-flumes"); len(files) > 0 {
		t.Errorf("the deleted text is still in %v", files)
	}
	branch := must[api.SessionSnapshot](t)(p.sessions.Open(secret.SessionID, "")).Header.BranchID
	for id, at := range map[string]int64{secret.TurnID: receipt.At, second.TurnID: 0} {
		if turn := must[api.TurnView](t)(p.sessions.Turn(branch, id)); turn.DeletedAt != at {
			t.Errorf("%s was deleted at %d, its view says %d", id, at, turn.DeletedAt)
		}
	}
	after := must[api.ContextView](t)(p.inspect.Context(other.TurnID))
	if !strings.Contains(after.Note, "permanently deleted") || len(retrievedItems(after)) >= len(retrievedItems(before)) {
		t.Errorf("the X-ray of the other conversation says %q and shows %d passages", after.Note, len(retrievedItems(after)))
	}
	p.say(api.SendRequest{SessionID: secret.SessionID, Text: "And what comes next?", Model: "m"})

	copied := must[api.SessionRow](t)(p.sessions.Duplicate(secret.SessionID, branch))
	sessionPreview := must[api.DeletionPreview](t)(p.storage.PreviewDeletion(chat.DeletionSession, secret.SessionID, nil))
	if len(sessionPreview.Copies) != 1 || sessionPreview.Copies[0].SessionID != copied.ID || sessionPreview.Copies[0].Turns != 2 || sessionPreview.Copies[0].Own != 0 || len(sessionPreview.Included) != 0 {
		t.Errorf("the copies are %+v, included %+v", sessionPreview.Copies, sessionPreview.Included)
	}
	copies := []string{copied.ID}
	withCopy := must[api.DeletionPreview](t)(p.storage.PreviewDeletion(chat.DeletionSession, secret.SessionID, copies))
	if len(withCopy.Copies) != 0 || len(withCopy.Included) != 1 || withCopy.Included[0].SessionID != copied.ID {
		t.Errorf("with the copy: not included %+v, included %+v", withCopy.Copies, withCopy.Included)
	}
	receipt = must[api.ReceiptView](t)(p.storage.Delete(chat.DeletionSession, secret.SessionID, sessionPreview.Confirm, copies))
	for _, id := range []string{secret.SessionID, copied.ID} {
		if _, err := p.sessions.Open(id, ""); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("%s opens: %v", id, err)
		}
	}
	if list := must[[]api.ReceiptView](t)(p.storage.Receipts()); len(list) != 3 || list[0].Subject != secret.SessionID || list[1].Subject != copied.ID ||
		list[2].Subject != secret.TurnID || !slices.Equal(receipt.Included, []string{list[1].ID}) {
		t.Errorf("%+v", list)
	}
	if files := filesContaining(t, data, "Do not tell"); len(files) > 0 || second.TurnID == "" {
		t.Errorf("the deleted text is still in %v", files)
	}
	p.say(api.SendRequest{SessionID: other.SessionID, Text: "Go on then.", Model: "m"})
	p.window.Close()
	checkData(t, o)
}

// A restore and a move run at the next start, which reports their results.
func TestWindowRestoresAndMovesAtTheNextStart(t *testing.T) {
	p, o, data := openStoragePage(t)
	t.Cleanup(func() { restartRequested.Store(nil) })
	kept := p.say(api.SendRequest{Text: "the first albatross", Model: "m"})
	task := p.awaitTaskEnd(must[api.TaskView](t)(p.storage.BackUp("")).ID)
	if task.State != "done" || filepath.Dir(task.Path) != filepath.Join(data, store.BackupDir) {
		t.Fatalf("%+v", task)
	}
	lost := p.say(api.SendRequest{Text: "the second pelican", Model: "m"})
	backups := must[[]api.BackupView](t)(p.storage.Backups(true))
	if len(backups) != 1 || backups[0].Path != task.Path || backups[0].Sessions != 1 || backups[0].Problem != "" {
		t.Fatalf("%+v", backups)
	}
	r := must[api.RestorePreview](t)(p.storage.RestorePreview(task.Path))
	if r.Sessions != 2 || r.Backup.Sessions != 1 || r.Problems != 0 || r.NewestTurn <= r.BackupNewest || r.BackupNewest == 0 {
		t.Errorf("%+v", r)
	}
	if len(r.Undone) != 0 {
		t.Errorf("nothing was deleted: %+v", r.Undone)
	}
	preview := must[api.DeletionPreview](t)(p.storage.PreviewDeletion(chat.DeletionTurn, kept.TurnID, nil))
	receipt := must[api.ReceiptView](t)(p.storage.Delete(chat.DeletionTurn, kept.TurnID, preview.Confirm, nil))
	if r = must[api.RestorePreview](t)(p.storage.RestorePreview(task.Path)); len(r.Undone) != 1 || r.Undone[0].ID != receipt.ID || r.Undone[0].At != receipt.At {
		t.Errorf("reported: %+v, want %+v", r.Undone, receipt)
	}
	if err := p.storage.Restore(filepath.Join(data, "none.db")); chat.CodeOf(err) != chat.CodeNotFound || restartRequested.Load() != nil {
		t.Errorf("a backup that does not exist: %v", err)
	}
	if err := p.storage.Restore(task.Path); err != nil || restartRequested.Load() == nil {
		t.Fatalf("%v", err)
	}
	p.window.Close()

	p = openPageWith(t, o)
	if _, err := p.sessions.Open(kept.SessionID, ""); err != nil {
		t.Error(err)
	}
	if _, err := p.sessions.Open(lost.SessionID, ""); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("missing from the backup: %v", err)
	}
	p.awaitTask("restore", "done")

	to := filepath.Join(t.TempDir(), "elsewhere")
	if m := must[api.MovePreview](t)(p.storage.MovePreview(filepath.Join(data, "in"))); m.Reason == "" {
		t.Errorf("%+v", m)
	}
	if _, err := p.storage.Move(data); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("to its own location: %v", err)
	}
	before := must[api.StorageView](t)(p.storage.Storage())
	if !before.Movable || before.DataDir != data || before.Sessions != 1 || len(before.Parts) != 5 || before.Bytes == 0 {
		t.Errorf("%+v", before)
	}
	must[api.TaskView](t)(p.storage.Move(to))
	p.eventually("the pending operation was not saved", func() bool { _, err := os.Stat(filepath.Join(data, "errand.json")); return err == nil })
	p.window.Close()

	p = openPageWith(t, o)
	after := must[api.StorageView](t)(p.storage.Storage())
	if after.DataDir != to || after.Sessions != 1 {
		t.Errorf("%+v", after)
	}
	p.awaitTask("move", "done")
	if _, err := os.Stat(filepath.Join(data, "MOVED.txt")); err != nil {
		t.Error(err)
	}
	// A restore that fails changes nothing and says why.
	if err := store.NewArchive(store.ArchiveOptions{DataDir: to}).SavePending(store.PendingOperation{Do: store.PendingRestore, Path: o.ConfigPath}); err != nil {
		t.Fatal(err)
	}
	p.window.Close()
	p = openPageWith(t, o)
	if _, err := p.sessions.Open(kept.SessionID, ""); err != nil {
		t.Error(err)
	}
	if e := p.awaitTask("restore", "failed").Error; e == nil || !strings.Contains(e.Message.String(), "not a backup") {
		t.Errorf("%+v", e)
	}
	p.window.Close()
	checkData(t, o)
}

// awaitTask waits for the newest task of a kind to reach a state.
func (p *page) awaitTask(kind tasks.Kind, state tasks.State) api.TaskView {
	p.t.Helper()
	var out api.TaskView
	p.eventually(fmt.Sprintf("no task %s became %s", kind, state), func() bool {
		list, err := p.work.Tasks()
		if err != nil || len(list) == 0 {
			return false
		}
		out = list[0]
		return out.Kind == kind && out.State == state
	})
	return out
}
