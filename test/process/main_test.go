// Package process drives the built program as its users do: as processes on the command line, each with its own home
// directory. test/crash has the crash tests.
package process

import (
	"os"
	"testing"

	"contextinfinity/test/harness"
)

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m))
}
