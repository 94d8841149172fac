// Package process drives the built program as its users do: as processes on the command line, each with its own home
// directory. It includes the crash tests.
package process

import (
	"os"
	"testing"

	"contextinfinity/test/harness"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(counterFile); path != "" {
		os.Exit(serveCounter(path))
	}
	os.Exit(harness.Main(m))
}
