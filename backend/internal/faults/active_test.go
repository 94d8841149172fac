//go:build faults

package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const child = "CONTEXTINFINITY_FAULTS_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(child) {
	case "":
		os.Exit(m.Run())
	case "point":
		os.Exit(hitThreeTimes())
	case "io":
		callThreeTimes()
	}
}

// hitThreeTimes returns the number of the hit that failed.
func hitThreeTimes() int {
	for hit := 1; hit <= 3; hit++ {
		if err := Point("test.here"); errors.Is(err, ErrInjected) {
			return hit
		}
	}
	return 0
}

// callThreeTimes prints the results of three writes, an fsync and a read.
func callThreeTimes() {
	OnPowerLoss(func() { fmt.Print("dark ") })
	if Skipped("store.transaction") {
		fmt.Print("unsafe ")
	}
	for _, op := range []string{"write", "write", "write", "sync", "open"} {
		v := At("journal", op)
		switch {
		case v.Skip:
			fmt.Print("skip ")
		case v.Short:
			fmt.Print("short ")
		case v.Errno == syscall.ENOSPC:
			fmt.Print("full ")
		case v.Errno == syscall.EIO:
			fmt.Print("eio ")
		default:
			fmt.Print("ok ")
		}
	}
}

func run(t *testing.T, mode string, env ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	// Otherwise the race detector delays the exit of each child by a second.
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", child+"="+mode), env...)
	raw, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(string(raw))
}

func TestPoint(t *testing.T) {
	cases := map[string]int{
		"": 0, "test.elsewhere:exit": 0, "test.here:exit": ExitCode, "test.here:3:exit": ExitCode, "test.here:4:exit": 0,
		"test.here:err": 1, "test.here:2:err": 2, "test.here:3:err": 3, "test.elsewhere:err,test.here:3:err": 3,
		"test.here:2:err,test.here:exit": ExitCode, "test.here:2+:exit": ExitCode, "test.*:2:err": 2, "test.here:power": ExitCode,
		"test.here:4+:exit": 0, "turn.event:exit": 0, "test.here:skip": 0,
	}
	for spec, want := range cases {
		if got, out := run(t, "point", "CONTEXTINFINITY_FAULT="+spec); got != want || out != "" {
			t.Errorf("%q: exit code %d, want %d: %s", spec, got, want, out)
		}
	}
}

func TestAnUnknownFaultEndsTheProgram(t *testing.T) {
	for _, spec := range []string{
		"test.here", "test.here:", ":exit", "test.here:0:exit", "test.here:x:exit", "test.here:+:exit", "test.here:crash",
		"test.here:1:2:exit", "no.such.point:exit", "turn.event:short", "turn.event:skip", "io.db.sync:short", "io.db.open:skip",
		"io.*:skip", "store.transaction:exit", "nothing.*:exit", "test.here:exit,",
	} {
		code, out := run(t, "point", "CONTEXTINFINITY_FAULT="+spec)
		if code != 2 || !strings.Contains(out, "CONTEXTINFINITY_FAULT") {
			t.Errorf("%q: exit code %d: %s", spec, code, out)
		}
	}
}

func TestSites(t *testing.T) {
	cases := map[string]string{
		"":                             "ok ok ok ok ok",
		"io.journal.write:err":         "eio ok ok ok ok",
		"io.journal.write:2:eio":       "ok eio ok ok ok",
		"io.journal.write:2+:enospc":   "ok full full ok ok",
		"io.journal.write:3:short":     "ok ok short ok ok",
		"io.journal.sync:skip":         "ok ok ok skip ok",
		"io.journal.write:2:skip":      "ok skip ok ok ok",
		"io.*:4+:eio":                  "ok ok ok eio eio",
		"io.*:2+:short":                "ok short short ok ok",
		"io.journal.*:5:exit":          "ok ok ok ok",
		"io.wal.write:eio":             "ok ok ok ok ok",
		"io.journal.sync:power":        "ok ok ok dark",
		"store.transaction:skip":       "unsafe ok ok ok ok ok",
		"io.*:eio,io.journal.sync:eio": "eio ok ok eio ok",
	}
	for spec, want := range cases {
		if _, out := run(t, "io", "CONTEXTINFINITY_FAULT="+spec); out != want {
			t.Errorf("%q: %s, want %s", spec, out, want)
		}
	}
}

func TestTheDiskIsFullWhileTheFileExists(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "full")
	if _, out := run(t, "io", "CONTEXTINFINITY_FAULT_FULL="+mark); out != "ok ok ok ok ok" {
		t.Error(out)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, out := run(t, "io", "CONTEXTINFINITY_FAULT_FULL="+mark); out != "full full full ok ok" {
		t.Error(out)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	if _, out := run(t, "io", "CONTEXTINFINITY_FAULT_FULL="+mark, "CONTEXTINFINITY_FAULT=io.journal.write:2:full"); out != "ok full full ok ok" {
		t.Error(out)
	}
}

func TestTrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	run(t, "point", "CONTEXTINFINITY_FAULT_TRACE="+trace, "CONTEXTINFINITY_FAULT=test.here:2:exit")
	run(t, "io", "CONTEXTINFINITY_FAULT_TRACE="+trace)
	got, err := os.ReadFile(trace)
	want := strings.Repeat("test.here\n", 2) + strings.Repeat("io.journal.write\n", 3) + "io.journal.sync\nio.journal.open\n"
	if err != nil || string(got) != want {
		t.Errorf("%s (%v)", got, err)
	}
}
