//go:build !faults

package faults_test

import (
	"os"
	"os/exec"
	"testing"

	"contextinfinity/backend/internal/faults"
)

const child = "CONTEXTINFINITY_FAULTS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		if faults.Point("test.here") != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The environment variable that kills a test build has no effect on a normal one.
func TestInertInANormalBuild(t *testing.T) {
	if faults.Enabled {
		t.Error("a normal build reports fault points")
	}
	for _, spec := range []string{"test.here:exit", "test.here:err", "test.here:1:exit", "test.here:power", "io.*:eio", "not a specification"} {
		cmd := exec.Command(os.Args[0])
		// Otherwise the race detector delays the exit of each child by a second.
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", child+"=1", "CONTEXTINFINITY_FAULT="+spec)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("with %q a normal build ended with %v: %s", spec, err, out)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = faults.Point("test.here") }); n != 0 {
		t.Errorf("a point allocates %v times", n)
	}
}

func BenchmarkPoint(b *testing.B) {
	for b.Loop() {
		_ = faults.Point("test.here")
	}
}
