package app

import (
	"os"
	"testing"
	"time"

	"contextinfinity/backend/internal/seal"
	"contextinfinity/test/harness"
)

func TestMain(m *testing.M) {
	seal.Work = 10 // what a passphrase seals is cheap to open
	if dir := os.Getenv(sealVariable); dir != "" {
		if err := sealHere(dir); err != nil {
			panic(err)
		}
		return
	}
	closeTimeout = 3 * time.Minute
	os.Exit(harness.Main(m))
}
