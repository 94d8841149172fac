// Package crash tries to break ContextInfinity's promises about durability, which docs/durability.md lists. It kills the
// program at every fault point and at random, makes its disk fail, cuts the power and damages its files. After each
// attempt the data is compared with what the program had reported, which is recorded outside of the program.
//
// The everyday form tries a sample, with a fixed seed. `make crash` runs the exhaustive form, with a random seed:
//
//	SEED=4711      makes the same decisions again
//	RESTARTS=100   is the number of kill -9 restarts, instead of 1 000
package crash

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(counterFile); path != "" {
		os.Exit(serveCounter(path))
	}
	// The exhaustive form takes hours: only `make crash` runs it.
	if err := os.Setenv("TEST_ALL", os.Getenv("CRASH")); err != nil {
		panic(err)
	}
	os.Exit(harness.Main(m))
}

// setup is what the tests of a part share.
type setup struct {
	seed     uint64
	shipped  string // the program, without its window
	faults   string // the same with fault points
	work     string // for the data directories
	provider *provider
}

// newSetup builds the programs and starts the provider. The work directory is kept if the test fails.
func newSetup(t *testing.T, everydaySeed uint64) *setup {
	t.Helper()
	random := uint64(number(t, "SEED", int(rand.Uint64N(1_000_000))))
	r := &setup{
		seed: testtier.Size(everydaySeed, random), shipped: harness.Shipped(t), faults: harness.Breakable(t),
		provider: newProvider(t),
	}
	var err error
	if r.work, err = os.MkdirTemp("", "contextinfinity-crash-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		t.Logf("seed %d", r.seed)
		if t.Failed() {
			t.Logf("the data is kept in %s", r.work)
			return
		}
		_ = os.RemoveAll(r.work)
	})
	return r
}

// restarts is the number of kill -9 restarts of a part.
func restarts(t *testing.T, everyday int) int {
	t.Helper()
	return testtier.Size(short(everyday), number(t, "RESTARTS", 1000))
}

// short is how much of its usual size the everyday form of a test has: a quarter in the second run, on sealed data.
func short(everyday int) int {
	if harness.OnSealed() {
		return max(1, everyday/4)
	}
	return everyday
}

// number returns a number in the environment.
func number(t *testing.T, name string, without int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is not a number from 1 on", name, text)
	}
	return n
}

// report fails a test with the problems that were found.
func report(t *testing.T, found []string, err error) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
	if err != nil {
		t.Fatal(err)
	}
}
