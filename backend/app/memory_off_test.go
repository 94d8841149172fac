package app

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// runWithMemoryOff runs tests of this package again, in a process with CONTEXTINFINITY=0,
// and asserts that at least so many ran.
func runWithMemoryOff(t *testing.T, pattern string, least int) {
	t.Helper()
	if os.Getenv("CONTEXTINFINITY") == "0" {
		return // this is that process, or everything runs so anyway
	}
	cmd := exec.Command(os.Args[0], "-test.run="+pattern, "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "CONTEXTINFINITY=0", programsVariable+"="+scratch)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("with memory off: %v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS"); n < least {
		t.Fatalf("only %d tests ran\n%s", n, out)
	}
}

// TestEarlierTestsWithMemoryOff runs the tests of sending, protocols and crashes
// again in a process with CONTEXTINFINITY=0: plain chat is as durable (SPEC 16).
func TestEarlierTestsWithMemoryOff(t *testing.T) {
	shipped(t)
	breakable(t)
	runWithMemoryOff(t, "^(TestSend|TestSRD22_2)", 5)
}
