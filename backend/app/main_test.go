package app

import (
	"os"
	"testing"
	"time"

	"contextinfinity/test/harness"
)

func TestMain(m *testing.M) {
	closeTimeout = 3 * time.Minute
	os.Exit(harness.Main(m))
}
