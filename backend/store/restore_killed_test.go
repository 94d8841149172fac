package store

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// restoreSteps are all steps of a restore, in order.
var restoreSteps = []string{
	"copied", "checked", "backed up", "written down",
	"away " + sqlite.DatabaseFile, "away " + sqlite.DatabaseFile + "-wal", "away " + sqlite.DatabaseFile + "-shm", "away " + sqlite.DatabaseFile + "-journal",
	"journals away", "journals there", "installed", "cleared",
}

// A process that is killed at any step of a restore leaves either the old data or the new, complete. Once the restore
// is recorded it is the new data, whoever opens the directory next; until the restore is completed, nothing else can
// be read.
func TestRestoreKilled(t *testing.T) {
	if os.Getenv("CONTEXTINFINITY_TEST_RESTORE") != "" {
		restoreUntilKilled()
		return
	}
	dir, backup := replaceable(t)
	t.Run("steps", func(t *testing.T) {
		var steps []string
		to := cloned(t, dir)
		a := archiveOf(to)
		a.At = func(step string) { steps = append(steps, step) }
		if _, err := a.Restore(t.Context(), backup, agreed); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(steps, restoreSteps) {
			t.Errorf("the steps were %q", steps)
		}
	})
	decided := slices.Index(restoreSteps, "written down")
	for i, step := range restoreSteps {
		t.Run(step, func(t *testing.T) {
			to := cloned(t, dir)
			killedAt(t, to, backup, step)
			reader, err := Open(t.Context(), Options{DataDir: to, ReadOnly: true})
			if err == nil {
				err = reader.Close()
			}
			if wait := chat.CodeOf(err) == chat.CodeConflict; i >= decided && !wait {
				t.Errorf("reading half-restored data: %v", err)
			}
			want := "present"
			if i >= decided {
				want = "past"
				// The process that completes it is killed too, once at each later step.
				for _, again := range restoreSteps[max(i+1, slices.Index(restoreSteps, "installed")):] {
					killedAt(t, to, "", again)
				}
			}
			if now := titles(t, to); !slices.Equal(now, []string{want}) || journalsIn(t, to) != "journal of the "+want {
				t.Errorf("the sessions are %v, the journals %q", now, journalsIn(t, to))
			}
			if left := leftovers(t, to); left != "" {
				t.Errorf("left: %s", left)
			}
			if i < decided {
				return
			}
			aside, _ := filepath.Glob(filepath.Join(to, core.ReplacedDir, "*"))
			if len(aside) != 1 || journalsIn(t, aside[0]) != "journal of the present" {
				t.Errorf("quarantined: %v", aside)
			}
			list := ownBackups(t, to)
			if len(list) != 1 || list[0].Kind != chat.BackupBeforeRestore || list[0].Problem != "" {
				t.Errorf("backups: %+v", list)
			}
		})
	}
}

// cloned copies a data directory.
func cloned(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// killedAt runs a restore, or the completion of one, in a process that is killed at a step.
func killedAt(t *testing.T, dir, backup, step string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRestoreKilled$")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "CONTEXTINFINITY_TEST_RESTORE="+step, "CONTEXTINFINITY_TEST_DIR="+dir, "CONTEXTINFINITY_TEST_FROM="+backup)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 137 {
		t.Fatalf("it did not die at %q: %v %s", step, err, out)
	}
}

func restoreUntilKilled() {
	a := archiveOf(os.Getenv("CONTEXTINFINITY_TEST_DIR"))
	a.At = func(step string) {
		if step == os.Getenv("CONTEXTINFINITY_TEST_RESTORE") {
			os.Exit(137)
		}
	}
	var err error
	if from := os.Getenv("CONTEXTINFINITY_TEST_FROM"); from != "" {
		_, err = a.Restore(context.Background(), from, agreed)
	} else {
		_, err = a.FinishRestore()
	}
	fmt.Println("it went through:", err)
}

// If the record of a restore cannot be read, opening fails instead of guessing.
func TestUnreadableSwap(t *testing.T) {
	for _, text := range []string{"", "{", `{"staging":"../elsewhere","aside":"replaced/x"}`, `{"staging":".restoring-1","aside":"/tmp"}`, `{"staging":"streams","aside":"x"}`} {
		dir, _ := replaceable(t)
		path := filepath.Join(dir, backup.SwapFile)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Options{DataDir: dir}); chat.CodeOf(err) != chat.CodeCorrupt || !strings.Contains(err.Error(), backup.SwapFile) {
			t.Errorf("%q: %v", text, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if now := titles(t, dir); !slices.Equal(now, []string{"present"}) {
			t.Errorf("%q: the sessions are %v", text, now)
		}
	}
}
