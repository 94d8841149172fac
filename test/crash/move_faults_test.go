package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// moveTo requests a move of the data, as the window does, and starts the window. This build has no window: it carries
// out the pending operation and exits when it would show one.
func moveTo(t *testing.T, h *harness.Home, target string) harness.Result {
	t.Helper()
	if err := store.NewArchive(store.ArchiveOptions{DataDir: h.DataDir()}).SavePending(store.PendingOperation{Do: store.PendingMove, Path: target}); err != nil {
		t.Fatal(err)
	}
	return h.With("DISPLAY=:none").Run()
}

// configuredDir returns the data directory in the configuration.
func configuredDir(t *testing.T, h *harness.Home) string {
	t.Helper()
	var doc struct {
		DataDir string `json:"data_dir"`
	}
	h.OK("config", "path", "--json").Document(&doc)
	return doc.DataDir
}

// Each disk operation of a move fails, or the power fails there, or the program is killed at one of its steps. The
// configuration must name a complete directory, the other directory must be complete or removable, and a move that
// failed can be repeated.
func TestEveryFaultOfAMove(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	backups := filepath.Join(bench.DataDir(), store.BackupDir)
	if err := os.Mkdir(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	bench.OK("backup", backups)
	h := bench.copy(t)
	trace := filepath.Join(h.Dir, "trace")
	moveTo(t, h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE="+trace), filepath.Join(h.Dir, "new", "place"))
	if configuredDir(t, h.Home) != filepath.Join(h.Dir, "new", "place") {
		t.Fatalf("the data was not moved: it is in %s", configuredDir(t, h.Home))
	}
	reached := mustReadHits(t, trace)
	specs := []string{"move.copied:exit", "move.copied:err", "move.adopted:exit", "io.file.syncdir:2:eio"}
	for i := range reached["move.file"] {
		specs = append(specs, fmt.Sprintf("move.file:%d:exit", i+1), fmt.Sprintf("move.file:%d:err", i+1))
	}
	steps := len(specs)
	specs = append(specs, reached.each("power", "eio", "enospc")...)
	if reached["move.file"] < 2 || reached["move.adopted"] != 1 || len(specs) < 60 {
		t.Fatalf("a move reaches only %q", specs)
	}
	for _, spec := range append(testtier.Sample(specs[:steps:steps], 6), testtier.Sample(specs[steps:], 4)...) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			bench.copy(t).checkMove(t, spec)
		})
	}
}

// checkMove moves the data with a fault, and again without it.
func (b faultBench) checkMove(t *testing.T, spec string) {
	old, target := b.DataDir(), filepath.Join(b.Dir, "new", "place")
	r := moveTo(t, b.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec), target)
	if strings.Contains(r.Stderr, "goroutine ") {
		t.Fatalf("a panic: %s", r.Stderr)
	}
	checkComplete := func(when string) {
		t.Helper()
		b.OK("reconcile")
		b.Clean()
		if turns := b.Show(b.session).Turns; len(turns) != 1 || turns[0].Text() != firstAnswer {
			t.Fatalf("%s: %+v", when, turns)
		}
	}
	checkComplete("after the fault")
	if configuredDir(t, b.Home) == old {
		// If the program was killed before the configuration named the copy, the complete copy stays in the way.
		if r := moveTo(t, b.Home, target); configuredDir(t, b.Home) != target {
			if _, err := os.Stat(filepath.Join(target, store.DatabaseFile)); err != nil {
				t.Fatalf("the data can no longer be moved: %s", r.Stderr)
			}
			target += "-other"
			moveTo(t, b.Home, target)
		}
	}
	if configuredDir(t, b.Home) != target {
		t.Errorf("moved again, the data is in %s", configuredDir(t, b.Home))
	}
	checkComplete("after the move")
}
