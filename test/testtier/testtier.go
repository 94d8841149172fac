// Package testtier decides how much a test tries, and where it puts its files. The everyday form of a test tries a sample
// of the cases; the exhaustive form, with TEST_ALL=1 in the environment, tries all of them. Some tests of durability have
// a third form, with CRASH=1, which takes hours: `make crash` runs it.
package testtier

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Exhaustive reports whether tests run in their exhaustive form.
func Exhaustive() bool { return os.Getenv("TEST_ALL") == "1" }

// Crash reports whether tests of durability run in the form of `make crash`.
func Crash() bool { return os.Getenv("CRASH") == "1" }

// Sizes returns a size for the form that runs, that of `make crash` too.
func Sizes[T any](everyday, exhaustive, crash T) T {
	if Crash() {
		return crash
	}
	return Size(everyday, exhaustive)
}

// Size returns a size for the form that runs.
func Size[T any](everyday, exhaustive T) T {
	if Exhaustive() {
		return exhaustive
	}
	return everyday
}

// Sample returns n of the cases, evenly spread and with the first one, and in the exhaustive form all of them.
func Sample[T any](all []T, n int) []T {
	if Exhaustive() || len(all) <= n {
		return all
	}
	sample := make([]T, 0, n)
	for i := range n {
		sample = append(sample, all[i*len(all)/n])
	}
	return sample
}

// Checks sets how many cases each rapid test of a package tries in the everyday form. TestMain calls it; -rapid.checks
// sets another number.
func Checks(everyday int) {
	if Exhaustive() {
		return
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(everyday)); err != nil {
		panic(err)
	}
}

// Memory returns a temporary directory in RAM if there is one, for tests that do not depend on the disk: hundreds of
// turns would wait for its fsyncs.
func Memory(tb testing.TB) string {
	tb.Helper()
	return below(tb, "/dev/shm")
}

// Disk returns a temporary directory on a disk, for tests of what reaches it: TMPDIR may be in RAM, where fsync does
// nothing.
func Disk(tb testing.TB) string {
	tb.Helper()
	return below(tb, "/var/tmp")
}

// below returns a temporary directory in a folder of Unix systems; elsewhere in the usual place.
func below(tb testing.TB, parent string) string {
	tb.Helper()
	dir, err := os.MkdirTemp(parent, "contextinfinity-test-")
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
