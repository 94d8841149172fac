package harness

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"contextinfinity/test/sources"
)

// scratch is the directory of the programs built for these tests.
var scratch string

// Main runs a package's tests without a keyring or network and returns the exit code. It also checks that no goroutine
// of this process remains.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "contextinfinity-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	scratch = dir
	for name, value := range isolation {
		_ = os.Setenv(name, value)
	}
	setParallelism()
	code := m.Run()
	stopProvider()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	return code
}

// setParallelism allows more parallel tests than processors, unless the command line sets a number, because the tests
// mostly wait for processes.
func setParallelism() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = f.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0)))
	}
}

// Programs that the tests run as processes: the shipped one without its window, and the same with fault points.
var (
	Shipped   = build("contextinfinity", "")
	Breakable = build("contextinfinity-faults", "faults")
)

// programsVariable is the environment variable with the directory of the programs that the parent process has built.
const programsVariable = "CONTEXTINFINITY_TEST_PROGRAMS"

// build returns a function that builds a program when the first test of this process needs it.
func build(name, tags string) func(testing.TB) string {
	built := sync.OnceValues(func() (string, error) {
		if dir := os.Getenv(programsVariable); dir != "" {
			path := filepath.Join(dir, name)
			_, err := os.Stat(path)
			return path, err
		}
		path := filepath.Join(scratch, name)
		return path, Build(context.Background(), path, tags)
	})
	return func(t testing.TB) string {
		t.Helper()
		path, err := built()
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// Build builds the program with these build tags into a new file. The result is cached in .tools/tests for later runs
// and the tests of all packages.
func Build(ctx context.Context, path, tags string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	if err := sources.Track(root, tags); err != nil {
		return err
	}
	dir := filepath.Join(root, ".tools", "tests")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	cached := filepath.Join(dir, "contextinfinity-"+cmp.Or(tags, "shipped"))
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-tags", tags, "-o", cached, ".")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build -tags %q: %w\n%s", tags, err, out)
	}
	return copyCached(path, cached)
}

// copyCached links or copies a cached program, because another run may replace the cached one.
func copyCached(path, cached string) error {
	if os.Link(cached, path) == nil {
		return nil
	}
	data, err := os.ReadFile(cached)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o700)
}

// InModule returns the path of a file in this module.
func InModule(parts ...string) string {
	dir, err := Root()
	if err != nil {
		panic(err)
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// Root returns the directory with go.mod; the working directory of a test is its package.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, found := os.Stat(filepath.Join(dir, "go.mod")); found == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("this is not a Go module")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Installed returns the path of a file of this module for which packages must be installed in its folder.
func Installed(t testing.TB, parts ...string) string {
	t.Helper()
	path := InModule(parts...)
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "node_modules")); err != nil {
		missing(t, "the packages of %s are not installed: scripts/setup test installs them", filepath.Join(parts...))
	}
	return path
}

// missing skips a test because a tool is not installed; in CI, which has all tools, it fails.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// RunWithMemoryOff runs tests of this package again in a process with CONTEXTINFINITY=0, and asserts that at least
// minTests ran.
func RunWithMemoryOff(t *testing.T, pattern string, minTests int) {
	t.Helper()
	if os.Getenv("CONTEXTINFINITY") == "0" {
		return // this is that process, or all tests run that way
	}
	cmd := exec.Command(os.Args[0], "-test.run="+pattern, "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "CONTEXTINFINITY=0", programsVariable+"="+scratch)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("with memory off: %v\n%s", err, out)
	}
	if n := strings.Count(string(out), "\n--- PASS"); n < minTests {
		t.Fatalf("only %d tests ran\n%s", n, out)
	}
}
