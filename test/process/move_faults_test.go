package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
)

// moveTo requests a move of the data, as the window does, and starts the window. This build has none and exits when
// it would show one, after the pending operation was done.
func moveTo(t *testing.T, h *harness.Home, to string) harness.Result {
	t.Helper()
	if err := store.NewArchive(store.ArchiveOptions{DataDir: h.DataDir()}).SavePending(store.PendingOperation{Do: store.PendingMove, Path: to}); err != nil {
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
// was not made can be repeated.
func TestEveryFaultOfAMove(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	backups := filepath.Join(bench.DataDir(), store.BackupDir)
	if err := os.Mkdir(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	bench.OK("backup", backups)
	h := bench.fresh(t)
	trace := filepath.Join(h.Dir, "trace")
	moveTo(t, h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE="+trace), filepath.Join(h.Dir, "new", "place"))
	if configuredDir(t, h.Home) != filepath.Join(h.Dir, "new", "place") {
		t.Fatalf("it was not moved: the data is in %s", configuredDir(t, h.Home))
	}
	met := readHits(t, trace)
	specs := []string{"move.copied:exit", "move.copied:err", "move.adopted:exit", "io.file.syncdir:2:eio"}
	for i := range met["move.file"] {
		specs = append(specs, fmt.Sprintf("move.file:%d:exit", i+1), fmt.Sprintf("move.file:%d:err", i+1))
	}
	steps := len(specs)
	specs = append(specs, met.each("power", "eio", "enospc")...)
	if met["move.file"] < 2 || met["move.adopted"] != 1 || len(specs) < 60 {
		t.Fatalf("a move reaches only %q", specs)
	}
	for _, spec := range append(specs[:steps:steps], sampled(specs[steps:], 6)...) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			bench.fresh(t).survivesAMove(t, spec)
		})
	}
}

func (b faultBench) survivesAMove(t *testing.T, spec string) {
	old, to := b.DataDir(), filepath.Join(b.Dir, "new", "place")
	r := moveTo(t, b.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec), to)
	if strings.Contains(r.Stderr, "goroutine ") {
		t.Fatalf("a panic: %s", r.Stderr)
	}
	whole := func(when string) {
		t.Helper()
		b.OK("reconcile")
		b.Clean()
		if turns := b.Show(b.session).Turns; len(turns) != 1 || turns[0].Text() != firstAnswer {
			t.Fatalf("%s: %+v", when, turns)
		}
	}
	whole("after the fault")
	if configuredDir(t, b.Home) == old {
		if r := moveTo(t, b.Home, to); configuredDir(t, b.Home) != to { // killed before the configuration named it, so a complete copy is left to the user
			if _, err := os.Stat(filepath.Join(to, store.DatabaseFile)); err != nil {
				t.Fatalf("it cannot be moved any more: %s", r.Stderr)
			}
			to += "-other"
			moveTo(t, b.Home, to)
		}
	}
	if configuredDir(t, b.Home) != to {
		t.Errorf("moved again, the data is in %s", configuredDir(t, b.Home))
	}
	whole("moved")
}
