//go:build faults

package faults

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const child = "CONTEXTINFINITY_FAULTS_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		os.Exit(hitThreeTimes())
	}
	os.Exit(m.Run())
}

// hitThreeTimes answers with the number of the hit that failed.
func hitThreeTimes() int {
	for hit := 1; hit <= 3; hit++ {
		if err := Point("here"); errors.Is(err, ErrInjected) {
			return hit
		}
	}
	return 0
}

func TestPoint(t *testing.T) {
	cases := map[string]int{
		"": 0, "elsewhere:exit": 0, "here:exit": ExitCode, "here:3:exit": ExitCode, "here:4:exit": 0,
		"here:err": 1, "here:2:err": 2, "elsewhere:err,here:3:err": 3, "here:2:err,here:exit": ExitCode,
		"here": 2, "here:": 2, ":exit": 2, "here:0:exit": 2, "here:x:exit": 2, "here:crash": 2, "here:1:2:exit": 2,
	}
	for spec, want := range cases {
		cmd := exec.Command(os.Args[0])
		// The race detector would hold each child for a second at its exit.
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", child+"=1", "CONTEXTINFINITY_FAULT="+spec)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%q: exit code %d, want %d: %s", spec, got, want, out)
		}
		if bad := strings.Contains(string(out), "CONTEXTINFINITY_FAULT"); bad != (want == 2 && spec != "here:2:err") {
			t.Errorf("%q: output %q", spec, out)
		}
	}
}
