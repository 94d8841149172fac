package exporting_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/store"
)

// TestNothingIsExportedOverTheData: an export never writes into the data directory, not even to a new file, to a
// replaced one, or through a link.
func TestNothingIsExportedOverTheData(t *testing.T) {
	d := forked(t)
	database := filepath.Join(d.dir, store.DatabaseFile)
	paths := map[string]string{
		"the database": database, "its log": database + "-wal", "the lock": filepath.Join(d.dir, store.LockFile), "the folder": d.dir,
		"a new file": filepath.Join(d.dir, "out.cinf"), "a backup": filepath.Join(d.dir, store.BackupDir, "x.db"),
		"a detour": d.out + "/../" + filepath.Base(filepath.Dir(d.dir)) + "/" + filepath.Base(d.dir) + "/out.cinf",
	}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"a link to the database": database, "a link to the folder": d.dir} {
			paths[name] = filepath.Join(d.out, name)
			d.ok(os.Symlink(to, paths[name]))
		}
		d.ok(os.Symlink(d.dir, filepath.Join(d.out, "within")))
		paths["a file in a linked folder"] = filepath.Join(d.out, "within", "out.cinf")
	}
	before := d.read(database)
	for name, path := range paths {
		for _, replace := range []bool{false, true} {
			r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Path: path, Replace: replace}
			if _, err := d.Plan(d.ctx, r); chat.CodeOf(err) != chat.CodeInvalid {
				t.Errorf("%s, replaced %t: the plan: %v", name, replace, err)
			}
			if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != chat.CodeInvalid {
				t.Errorf("%s, replaced %t: %v", name, replace, err)
			}
		}
	}
	if _, err := os.Lstat(filepath.Join(d.dir, "out.cinf")); err == nil || d.read(database) != before {
		t.Error("something was written")
	}
}
