package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
)

// A database that is missing although there are signs of it is not replaced by a new one: send and verify report it, a
// restore recovers it, and only an explicit decision creates a new one.
func TestALostDatabaseIsReported(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"missing":  os.Remove,
		"empty":    func(path string) error { return os.Truncate(path, 0) },
		"one byte": func(path string) error { return os.Truncate(path, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := harness.NewHome(t, harness.Shipped(t), "")
			session := h.OK("send", "--new", "--model", "recall", "Remember me.", "--json").Sent().SessionID
			copied := filepath.Join(h.Dir, "copy.db")
			h.OK("backup", copied)
			database := filepath.Join(h.DataDir(), store.DatabaseFile)
			if err := lose(database); err != nil {
				t.Fatal(err)
			}
			if e := h.Run("send", "--model", "recall", "Hello?", "--json").Fails(1, chat.CodeCorrupt); !strings.Contains(e.Message, database) || !strings.Contains(e.Hint, "restore") {
				t.Errorf("send says: %+v", e)
			}
			h.Run("backup", copied+".again", "--json").Fails(1, chat.CodeCorrupt)
			if out := h.Run("verify").Exits(3).Stdout; !strings.Contains(out, "Nothing was written") {
				t.Errorf("verify says: %s", out)
			}
			h.OK("restore", copied, "--yes")
			if got := h.Only(session); got.User.RenderedText() != "Remember me." {
				t.Errorf("restored: %q", got.User.RenderedText())
			}
			if err := os.Remove(database); err != nil {
				t.Fatal(err)
			}
			h.OK("restore", "--fresh", "--yes")
			h.OK("send", "--new", "--model", "recall", "A new beginning.")
			h.Clean()
		})
	}
}

// A damaged log is not overwritten. restore --drop-log leaves out the unreadable part and keeps a copy of the files,
// and the data can be written again.
func TestADamagedLogIsDropped(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), "")
	session := h.OK("send", "--new", "--model", "recall", "Remember me.", "--json").Sent().SessionID
	h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=turn.settled:exit").Run("send", "--session", session, "--model", "recall", "And this?").Exits(137)
	log := filepath.Join(h.DataDir(), store.DatabaseFile+"-wal")
	damaged, err := os.ReadFile(log)
	if err != nil || len(damaged) < 1000 {
		t.Fatalf("%d bytes of a log: %v", len(damaged), err)
	}
	damaged[500] ^= 4 // in its first page
	harness.WriteFile(t, log, damaged)
	if e := h.Run("send", "--session", session, "--model", "recall", "Hello?", "--json").Fails(1, chat.CodeCorrupt); !strings.Contains(e.Message, log) || !strings.Contains(e.Hint, "--drop-log") {
		t.Errorf("send says: %+v", e)
	}
	h.Run("verify").Exits(3)
	for _, args := range [][]string{{"show", session}, {"sessions"}, {"search", "Remember"}, {"export", session, "-o", t.TempDir()}, {"backup", t.TempDir()}} {
		if r := h.Run(args...).Exits(0); !strings.Contains(r.Stderr, log) || !strings.Contains(r.Stderr, "--drop-log") {
			t.Errorf("%s does not mention the damaged log: %q", args[0], r.Stderr)
		}
	}
	h.Run("restore", "--drop-log").Exits(2) // there is no terminal to ask
	if now, err := os.ReadFile(log); err != nil || !bytes.Equal(now, damaged) {
		t.Fatalf("the log was changed without consent: %v", err)
	}
	h.OK("restore", "--drop-log", "--yes")
	kept, err := filepath.Glob(filepath.Join(h.DataDir(), "replaced", "*", store.DatabaseFile+"-wal"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("the kept logs are %v: %v", kept, err)
	}
	if now, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(now, damaged) {
		t.Errorf("the kept log differs: %v", err)
	}
	h.OK("send", "--session", session, "--model", "recall", "Hello again.")
	if doc := h.Show(session); doc.Turns[0].User.RenderedText() != "Remember me." {
		t.Errorf("the first turn says %q", doc.Turns[0].User.RenderedText())
	}
	h.Clean()
}
