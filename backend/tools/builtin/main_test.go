package builtin

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also acts as the child process that runs commands.
func TestMain(m *testing.M) {
	if RunsCommand(os.Args[1:]) {
		os.Exit(RunCommand(os.Args[1:], os.Stderr))
	}
	goleak.VerifyTestMain(m)
}
