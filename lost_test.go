package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// A database that is gone while its history has left signs is no new one: send and verify
// say so, a restore brings it back, and only the word of a person begins another.
func TestALostDatabaseIsTold(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"missing":  os.Remove,
		"empty":    func(path string) error { return os.Truncate(path, 0) },
		"one byte": func(path string) error { return os.Truncate(path, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, shipped(t), "")
			session := h.ok("send", "--new", "--model", "recall", "Remember me.", "--json").sent().SessionID
			copied := filepath.Join(h.dir, "copy.db")
			h.ok("backup", copied)
			database := filepath.Join(h.dataDir(), store.DatabaseFile)
			if err := lose(database); err != nil {
				t.Fatal(err)
			}
			if e := h.run("send", "--model", "recall", "Hello?", "--json").fails(1, chat.CodeCorrupt); !strings.Contains(e.Message, database) || !strings.Contains(e.Hint, "restore") {
				t.Errorf("send says: %+v", e)
			}
			if out := h.run("verify").exits(3).stdout; !strings.Contains(out, "Nothing was written") {
				t.Errorf("verify says: %s", out)
			}
			h.ok("restore", copied, "--yes")
			if got := h.only(session); got.User.RenderedText() != "Remember me." {
				t.Errorf("restored: %q", got.User.RenderedText())
			}
			if err := os.Remove(database); err != nil {
				t.Fatal(err)
			}
			h.ok("restore", "--fresh", "--yes")
			h.ok("send", "--new", "--model", "recall", "A new beginning.")
			h.clean()
		})
	}
}
