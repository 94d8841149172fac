package crash

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// deletedWord is in the title and the messages that are permanently deleted, and nowhere else.
const deletedWord = "zirkonnachtigall"

// TestNoTextIsLeftAfterAKillAndADeletion: the program is killed at a disk operation or step of a backup, a restore, an
// import, a move, an export or a drag, and then everything is permanently deleted. No file of the home, its backup
// folders and its temporary folder contains a word of it, except those that the receipts name and files that the user
// exported.
func TestNoTextIsLeftAfterAKillAndADeletion(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	bench.OK("send", "--session", bench.session, "Tell me about the "+deletedWord)
	bench.OK("sessions", "rename", bench.session, deletedWord)
	bundle := filepath.Join(t.TempDir(), "session.cinf")
	bench.OK("export", bench.session, "--format", "bundle", "-o", bundle)
	for _, action := range []struct {
		name    string
		prepare func(h faultBench)
		run     func(h *harness.Home)
	}{
		{"a backup", nil, func(h *harness.Home) { h.Run("backup", mkdir(t, h.DataDir(), store.BackupDir)) }},
		{"a backup elsewhere", nil, func(h *harness.Home) { h.Run("backup", filepath.Join(mkdir(t, h.Dir, "elsewhere"), "mine.db")) }},
		{"a restore", func(h faultBench) { h.OK("backup", filepath.Join(h.Dir, "copy.db")) },
			func(h *harness.Home) { h.Run("restore", filepath.Join(h.Dir, "copy.db"), "--yes") }},
		{"an import", func(h faultBench) { h.OK("delete", h.session, "--hard", "--yes") }, func(h *harness.Home) { h.Run("import", bundle) }},
		{"a move", nil, func(h *harness.Home) { moveTo(t, h, filepath.Join(h.Dir, "moved")) }},
		{"an export", nil, func(h *harness.Home) {
			h.Run("export", bench.session, "--format", "md", "-o", filepath.Join(mkdir(t, h.Dir, "exported"), "file.md"))
		}},
		// A drag out of the window is an export to a folder of the data, which the next start of a writer empties: what
		// the killed export left is put there.
		{"a drag", nil, func(h *harness.Home) {
			item := mkdir(t, h.Dir, "dragged", bench.session, "0123456789abcdef")
			h.Run("export", bench.session, "--format", "md", "-o", filepath.Join(item, "file.md"))
			if err := os.Rename(filepath.Join(h.Dir, "dragged"), filepath.Join(h.DataDir(), atrest.Drags)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		prepared := func(t *testing.T) *harness.Home {
			h := bench.copy(t)
			if action.prepare != nil {
				action.prepare(h)
			}
			return h.With("TMPDIR=" + mkdir(t, h.Dir, "tmp"))
		}
		h := prepared(t)
		trace := filepath.Join(t.TempDir(), "trace")
		action.run(h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE=" + trace))
		reached := mustReadHits(t, trace)
		specs := reached.each("exit")
		for _, point := range []string{"restore.step", "move.file", "move.copied", "move.adopted", "import.part"} {
			for i := range reached[point] {
				specs = append(specs, fmt.Sprintf("%s:%d:exit", point, i+1))
			}
		}
		if len(specs) < 10 {
			t.Fatalf("%s reaches only %q", action.name, specs)
		}
		for _, spec := range testtier.Sample(specs, 2) {
			t.Run(action.name+"/"+spec, func(t *testing.T) {
				t.Parallel()
				h := prepared(t)
				action.run(h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=" + spec))
				h.OK("reconcile")
				if len(harness.FilesWith(t, h.Dir, deletedWord)) == 0 && action.name != "an import" {
					t.Fatal("the word is nowhere: this test would find nothing")
				}
				named := deleteEverything(t, h)
				inventoried(t, configuredDir(t, h))
				for _, path := range harness.FilesWith(t, h.Dir, deletedWord) {
					if !isNamed(path, named) && !strings.HasPrefix(path, filepath.Join(h.Dir, "exported", "file.md")) {
						t.Errorf("%s contains deleted text, and the receipts name only %q", path, named)
					}
				}
			})
		}
	}
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// deleteEverything permanently deletes all sessions, and returns the absolute paths that the receipts name.
func deleteEverything(t *testing.T, h *harness.Home) []string {
	t.Helper()
	dir := configuredDir(t, h)
	var list struct {
		Sessions []struct {
			ID string `json:"session_id"`
		}
	}
	h.OK("sessions", "--json").Document(&list)
	var named []string
	for _, s := range list.Sessions {
		var doc struct{ Receipt struct{ Backups []string } }
		h.OK("delete", s.ID, "--hard", "--yes", "--json").Document(&doc)
		for _, path := range doc.Receipt.Backups {
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			named = append(named, path)
		}
	}
	return named
}

// inventoried checks that each file of a data directory is in the inventory.
func inventoried(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if _, ok := atrest.Of(filepath.ToSlash(name)); !ok {
			t.Errorf("%s is not in the inventory of backend/atrest", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func isNamed(path string, named []string) bool {
	for _, n := range named {
		if path == n || strings.HasPrefix(path, n+"-") || strings.HasPrefix(path, n+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
