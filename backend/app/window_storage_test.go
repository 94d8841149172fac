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

// keeping is a window whose data directory is set in the configuration and can be changed.
func keeping(t *testing.T) (*page, cli.OpenOptions, string) {
	t.Helper()
	r := harness.NewRelay(t, harness.ChatWire, func(int) llmtest.Step { return llmtest.Stream(harness.ChatWire.Saying(true, "It is noted.")...) }, nil)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	o := cli.OpenOptions{ConfigPath: filepath.Join(dir, "config.toml")}
	harness.WriteFile(t, o.ConfigPath, []byte(fmt.Sprintf("[general]\ndata_dir = %q\n", data)+harness.ChatWire.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n[retrieval]\nscope = \"all\"\n[backup]\ndaily = false\n"))
	return openPageWith(t, o), o, data
}

// verified runs verify on a data directory that is not open.
func verified(t *testing.T, o cli.OpenOptions) {
	t.Helper()
	app := commandLine()
	var out bytes.Buffer
	app.Out, app.Err = &out, &out
	if code := cli.Run(context.Background(), app, []string{"--config", o.ConfigPath, "verify"}); code != 0 {
		t.Errorf("verify ends with %d:\n%s", code, out.String())
	}
}

// filesHolding returns the files of a folder that contain a text in plain form.
func filesHolding(t *testing.T, dir, text string) []string {
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

// TestWindowChecks: a full check runs as a task with a report, which names the damaged record.
func TestWindowChecks(t *testing.T) {
	t.Parallel()
	p, o, data := keeping(t)
	sent := p.say(api.SendRequest{Text: "A pelican over the harbour.", Model: "m"})
	v := p.ended(must[api.TaskView](t)(p.storage.Check()).ID)
	if v.State != "done" || v.Kind != "verify" || v.Check == nil || v.Check.Problems != 0 || len(v.Check.Findings) != 0 || v.Done != v.Total || v.Total == 0 {
		t.Fatalf("%+v, %+v", v, v.Check)
	}
	p.window.Close()
	file := filepath.Join(data, store.DatabaseFile)
	raw, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(raw, []byte("over the harbour")) {
		t.Fatalf("it is not in the file: %v", err)
	}
	harness.WriteFile(t, file, bytes.ReplaceAll(raw, []byte("over the harbour"), []byte("over the harvest")))
	again := openPageWith(t, o)
	v = again.ended(must[api.TaskView](t)(again.storage.Check()).ID)
	if v.State != "done" || v.Check == nil || v.Check.Problems == 0 || !slices.ContainsFunc(v.Check.Findings, func(f string) bool { return strings.Contains(f, sent.TurnID) }) {
		t.Errorf("%+v, %+v", v, v.Check)
	}
}

// TestWindowErases: a session is deleted after its name was typed. What other conversations quoted of it is removed
// too, their X-ray says so, and verify finds nothing.
func TestWindowErases(t *testing.T) {
	t.Parallel()
	p, o, data := keeping(t)
	secret := p.say(api.SendRequest{Text: "The passphrase of the vault at Orkney is quixotic-zebra-flumes.", Model: "m"})
	second := p.say(api.SendRequest{SessionID: secret.SessionID, Text: "Thank you. Do not tell.", Model: "m"})
	other := p.say(api.SendRequest{Text: "What is the passphrase of the vault at Orkney?", Model: "m"})
	before := must[api.ContextView](t)(p.inspect.Context(other.TurnID))
	if len(retrievedItems(before)) == 0 {
		t.Fatalf("nothing was remembered: %+v", before)
	}
	if len(filesHolding(t, data, "zebra-flumes")) == 0 {
		t.Fatal("it is missing from the beginning")
	}

	ask := must[api.DeletePreview](t)(p.storage.DeletePreview(chat.EraseTurn, secret.TurnID, nil))
	if ask.Reason != "" || ask.Confirm == "" || len(ask.Parts) < 5 || len(ask.Sessions) != 1 {
		t.Fatalf("%+v", ask)
	}
	if _, err := p.storage.Erase(chat.EraseTurn, secret.TurnID, "yes", nil); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("without its name: %v", err)
	}
	receipt := must[api.ReceiptView](t)(p.storage.Erase(chat.EraseTurn, secret.TurnID, ask.Confirm, nil))
	if receipt.Kind != chat.EraseTurn || !slices.EqualFunc(receipt.Parts, ask.Parts, func(a, b api.ErasedPart) bool { return a.Store == b.Store }) {
		t.Errorf("the receipt says %+v, the preview %+v", receipt, ask)
	}
	if left := filesHolding(t, data, "zebra-flumes"); len(left) > 0 {
		t.Errorf("it is still in %v", left)
	}
	branch := must[api.SessionSnapshot](t)(p.sessions.Open(secret.SessionID, "")).Header.BranchID
	for id, at := range map[string]int64{secret.TurnID: receipt.At, second.TurnID: 0} {
		if turn := must[api.TurnView](t)(p.sessions.Turn(branch, id)); turn.ErasedAt != at {
			t.Errorf("%s was erased at %d, its view says %d", id, at, turn.ErasedAt)
		}
	}
	after := must[api.ContextView](t)(p.inspect.Context(other.TurnID))
	if !strings.Contains(after.Note, "permanently deleted") || len(retrievedItems(after)) >= len(retrievedItems(before)) {
		t.Errorf("the X-ray of the other says %q and shows %d pieces", after.Note, len(retrievedItems(after)))
	}
	p.say(api.SendRequest{SessionID: secret.SessionID, Text: "And what comes next?", Model: "m"})

	made := must[api.SessionRow](t)(p.sessions.Duplicate(secret.SessionID, branch))
	whole := must[api.DeletePreview](t)(p.storage.DeletePreview(chat.EraseSession, secret.SessionID, nil))
	if len(whole.Copies) != 1 || whole.Copies[0].SessionID != made.ID || whole.Copies[0].Turns != 2 || whole.Copies[0].Own != 0 || len(whole.Included) != 0 {
		t.Errorf("the copies are %+v, included %+v", whole.Copies, whole.Included)
	}
	copies := []string{made.ID}
	both := must[api.DeletePreview](t)(p.storage.DeletePreview(chat.EraseSession, secret.SessionID, copies))
	if len(both.Copies) != 0 || len(both.Included) != 1 || both.Included[0].SessionID != made.ID {
		t.Errorf("with the copy: staying %+v, included %+v", both.Copies, both.Included)
	}
	receipt = must[api.ReceiptView](t)(p.storage.Erase(chat.EraseSession, secret.SessionID, whole.Confirm, copies))
	for _, id := range []string{secret.SessionID, made.ID} {
		if _, err := p.sessions.Open(id, ""); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("%s opens: %v", id, err)
		}
	}
	if list := must[[]api.ReceiptView](t)(p.storage.Receipts()); len(list) != 3 || list[0].Subject != secret.SessionID || list[1].Subject != made.ID ||
		list[2].Subject != secret.TurnID || !slices.Equal(receipt.Included, []string{list[1].ID}) {
		t.Errorf("%+v", list)
	}
	if left := filesHolding(t, data, "Do not tell"); len(left) > 0 || second.TurnID == "" {
		t.Errorf("it is still in %v", left)
	}
	p.say(api.SendRequest{SessionID: other.SessionID, Text: "Go on then.", Model: "m"})
	p.window.Close()
	verified(t, o)
}

// TestWindowRestoresAndMovesAtTheNextStart: a restore and a move run at the next start, which reports their results.
func TestWindowRestoresAndMovesAtTheNextStart(t *testing.T) {
	p, o, data := keeping(t)
	t.Cleanup(func() { wanted.Store(false) })
	kept := p.say(api.SendRequest{Text: "the first albatross", Model: "m"})
	task := p.ended(must[api.TaskView](t)(p.storage.BackUp("")).ID)
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
	erasing := must[api.DeletePreview](t)(p.storage.DeletePreview(chat.EraseTurn, kept.TurnID, nil))
	receipt := must[api.ReceiptView](t)(p.storage.Erase(chat.EraseTurn, kept.TurnID, erasing.Confirm, nil))
	if r = must[api.RestorePreview](t)(p.storage.RestorePreview(task.Path)); len(r.Undone) != 1 || r.Undone[0].ID != receipt.ID || r.Undone[0].At != receipt.At {
		t.Errorf("reported: %+v, want %+v", r.Undone, receipt)
	}
	if err := p.storage.Restore(filepath.Join(data, "none.db")); chat.CodeOf(err) != chat.CodeNotFound || wanted.Load() {
		t.Errorf("a backup that is not there: %v", err)
	}
	if err := p.storage.Restore(task.Path); err != nil || !wanted.Load() {
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
	p.eventually("the pending operation was not removed", func() bool { _, err := os.Stat(filepath.Join(data, "errand.json")); return err == nil })
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
	// One that cannot be done changes nothing and says why.
	if err := store.NewArchive(store.ArchiveOptions{DataDir: to}).SavePending(store.PendingOperation{Do: store.PendingRestore, Path: o.ConfigPath}); err != nil {
		t.Fatal(err)
	}
	p.window.Close()
	p = openPageWith(t, o)
	if _, err := p.sessions.Open(kept.SessionID, ""); err != nil {
		t.Error(err)
	}
	if e := p.awaitTask("restore", "failed").Error; e == nil || !strings.Contains(e.Message, "not a backup") {
		t.Errorf("%+v", e)
	}
	p.window.Close()
	verified(t, o)
}

// awaitTask waits for the newest task of a kind to reach a state.
func (p *page) awaitTask(kind tasks.Kind, state tasks.State) api.TaskView {
	p.t.Helper()
	var out api.TaskView
	p.eventually(fmt.Sprintf("a task %s is %s", kind, state), func() bool {
		list, err := p.work.Tasks()
		if err != nil || len(list) == 0 {
			return false
		}
		out = list[0]
		return out.Kind == kind && out.State == state
	})
	return out
}
