package app

import (
	"os"
	"testing"
	"time"

	"contextinfinity/test/harness"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(sealVariable); dir != "" {
		if err := sealHere(dir); err != nil {
			panic(err)
		}
		return
	}
	closeTimeout = 3 * time.Minute
	os.Exit(harness.Main(m))
}
