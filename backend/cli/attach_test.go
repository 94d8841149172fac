package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func TestSendAttach(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	notes, code := filepath.Join(t.TempDir(), "notes.md"), filepath.Join(t.TempDir(), "main.go")
	for path, text := range map[string]string{notes: "# Notes\n\nThe harbour opens at seven.\n", code: "package main\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sent := h.send("--new", "--attach", notes, "--attach", code, "when does it open?")
	blocks := h.show(sent.SessionID).Turns[0].User.Blocks
	docs := blocks.Documents()
	if len(blocks) != 3 || len(docs) != 2 || docs[0].Name != "notes.md" || !docs[0].Complete ||
		docs[0].Text != "# Notes\n\nThe harbour opens at seven.\n" || docs[1].MediaType != "text/x-go" {
		t.Errorf("blocks: %+v", blocks)
	}
	if shown := h.run("show", sent.SessionID).exits(0).out; !strings.Contains(shown, "[document notes.md, 7 tokens]") {
		t.Errorf("show prints %q", shown)
	}
	h.run("verify").exits(0)
}

// A message may consist of documents only; their names become the session's title.
func TestSendAttachAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	notes := filepath.Join(t.TempDir(), "notes.md")
	if err := os.WriteFile(notes, []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	sent := h.send("--new", "--attach", notes)
	shown := h.show(sent.SessionID)
	if shown.Session.Title != "notes.md" || len(shown.Turns[0].User.Blocks) != 1 {
		t.Errorf("session %+v", shown.Session)
	}
}

// If a document cannot be read, the message is refused before anything is created.
func TestSendAttachRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir := t.TempDir()
	binary := filepath.Join(dir, "a.bin")
	if err := os.WriteFile(binary, []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"not there": filepath.Join(dir, "no.txt"), "a directory": dir, "binary": binary} {
		r := h.run("send", "--json", "--new", "--attach", path, "hi").exits(1)
		if f := r.failure(); f.Code != string(chat.CodeInvalid) || !strings.Contains(f.Message, "nothing was") {
			t.Errorf("%s: %+v", name, f)
		}
	}
	var list struct{ Sessions []any }
	h.run("sessions", "--json").into(&list)
	if len(list.Sessions) != 0 {
		t.Errorf("%d sessions were left behind", len(list.Sessions))
	}
}
