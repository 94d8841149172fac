package exporting_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// scratch is a folder that all tests share.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "contextinfinity-exporting-"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(scratch)
		os.Exit(code)
	}))
}
