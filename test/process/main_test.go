// Package process drives the built program as its users do: as processes, in a home
// directory of their own, on the command line. Among them are the crash tests.
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
