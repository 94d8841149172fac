package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// Each disk operation of a restore fails, or the power fails there: either the old or the new data is complete, the
// reported result is correct, and the next restore works.
func TestEveryFaultOfARestore(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	backup := filepath.Join(bench.Dir, "copy.db")
	bench.OK("backup", backup)
	bench.OK("send", "--session", bench.session, lastQuestion)
	h := bench.copy(t)
	trace := filepath.Join(h.Dir, "trace")
	h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE="+trace).OK("restore", backup, "--yes")
	reached := mustReadHits(t, trace)
	specs := reached.each("power", "eio", "enospc")
	if len(specs) < 180 || reached["restore.step"] < 8 {
		t.Fatalf("a restore reaches only %q, in %d steps", specs, reached["restore.step"])
	}
	for step := range reached["restore.step"] {
		specs = append(specs, fmt.Sprintf("restore.step:%d:exit", step+1))
	}
	for _, spec := range testtier.Sample(specs, 9) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			h := bench.copy(t)
			r := h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec).Run("restore", backup, "--yes", "--json")
			h.OK("reconcile")
			h.Clean()
			turns := len(h.Show(h.session).Turns)
			switch {
			case turns != 1 && turns != 2:
				t.Errorf("%d turns", turns)
			case r.Code == 0 && turns != 1:
				t.Errorf("the restore succeeded, but the old data is still in use")
			case r.Code == 1:
				var doc struct{ Error *harness.Failure }
				r.Document(&doc)
				if doc.Error == nil || doc.Error.Message == "" {
					t.Fatalf("no error: %s", r.Stdout)
				}
				if continues := strings.Contains(doc.Error.Message, "continued at the next start"); continues != (turns == 1) {
					t.Errorf("%d turns after %q", turns, doc.Error.Message)
				}
			}
			h.OK("restore", backup, "--yes")
			h.Clean()
			if turns := len(h.Show(h.session).Turns); turns != 1 {
				t.Errorf("after another restore there are %d turns", turns)
			}
		})
	}
}

// Each disk operation of a backup fails, or the power fails there: a file with the final name is complete or empty, a
// backup that was reported as written exists, and no temporary file remains after a failure.
func TestEveryFaultOfABackup(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	h := bench.copy(t)
	trace := filepath.Join(h.Dir, "trace")
	h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE="+trace).OK("backup", filepath.Join(h.Dir, "copy.db"))
	specs := mustReadHits(t, trace).each("power", "eio", "enospc")
	if len(specs) < 40 {
		t.Fatalf("a backup reaches only %q", specs)
	}
	for _, spec := range testtier.Sample(specs, 6) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			h := bench.copy(t)
			dir := filepath.Join(h.DataDir(), store.BackupDir)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			r := h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec).Run("backup", dir, "--json")
			var doc struct{ Backups []chat.Backup }
			h.Run("backups", "--check", "--json").Document(&doc)
			complete := 0
			for _, b := range doc.Backups {
				switch {
				case b.Problem == "" && b.Checked && b.Counts["turns"] == 1:
					complete++
				case r.Code > 1 && strings.HasPrefix(filepath.Base(b.Path), atrest.BackupPrefix): // listed until the next start
				case r.Code == 1 || b.Bytes > 0:
					t.Errorf("exit %d, with the file %+v", r.Code, b)
				}
			}
			if r.Code == 0 && complete != 1 || r.Code == 1 && complete != 0 && !strings.Contains(spec, "syncdir") {
				t.Errorf("exit %d with %d backups: %s", r.Code, complete, r.Stdout)
			}
			if remaining, err := filepath.Glob(filepath.Join(dir, ".*")); r.Code < 2 && (err != nil || len(remaining) > 0) && !strings.Contains(spec, ".remove") {
				t.Errorf("temporary files remain: %v %v", remaining, err)
			}
			h.OK("reconcile")
			if remaining, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(remaining) > 0 {
				t.Errorf("the next start leaves %v, %v", remaining, err)
			}
			h.Clean()
			h.OK("backup", dir)
		})
	}
}

// Each disk operation of a start, with data of an earlier version or with none, fails, or the power fails there: the
// next start works, nothing is missing, and upgraded data has a backup.
func TestEveryFaultOfAStart(t *testing.T) {
	t.Parallel()
	sessions := func(h *harness.Home) int {
		var doc struct{ Sessions []chat.Session }
		h.OK("sessions", "--json").Document(&doc)
		return len(doc.Sessions)
	}
	for name, upgrade := range map[string]bool{"upgrade": true, "first": false} {
		start := func(t *testing.T) *harness.Home {
			h := harness.NewHome(t, harness.Shipped(t), "[backup]\ndaily = false\n")
			if upgrade {
				harness.FirstVersion(t, filepath.Join(h.DataDir(), store.DatabaseFile))
			}
			return h
		}
		traced := start(t)
		trace := filepath.Join(traced.Dir, "trace")
		traced.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE=" + trace).OK("reconcile")
		want := sessions(traced)
		specs := mustReadHits(t, trace).each("power", "eio", "enospc")
		if len(specs) < 60 || (want > 0) != upgrade {
			t.Fatalf("%d sessions; a start reaches only %q", want, specs)
		}
		// These faults are always tried: they concern the time before the write-ahead log exists.
		tried := append(testtier.Sample(specs, 3), "io.db.sync:1:power", "io.rollback.remove:1:eio")
		for _, spec := range slices.Compact(slices.Sorted(slices.Values(tried))) {
			t.Run(name+" "+spec, func(t *testing.T) {
				t.Parallel()
				h := start(t)
				r := h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec).Run("reconcile", "--json")
				if r.Code == 1 {
					var doc struct{ Error *harness.Failure }
					if r.Document(&doc); doc.Error == nil || doc.Error.Code == "" || doc.Error.Code == chat.CodeCorrupt {
						t.Errorf("%s", r.Stdout)
					}
				}
				h.OK("reconcile")
				h.Clean()
				if got := sessions(h); got != want {
					t.Errorf("%d sessions, want %d", got, want)
				}
				if upgrade && !slices.ContainsFunc(h.Copies(), func(b chat.Backup) bool {
					return b.Kind == chat.BackupMigration && b.Schema == 1 && b.Checked && b.Problem == ""
				}) {
					t.Errorf("the copies are %+v", h.Copies())
				}
			})
		}
	}
}
