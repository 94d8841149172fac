package app

import (
	"bytes"
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
	"time"

	"go.uber.org/goleak"

	"contextinfinity/scripts/sources"
)

// scratch holds the programs built for these tests.
var scratch string

// TestMain also proves that what ran in this process left no goroutine behind.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "contextinfinity-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	// Nobody's keyring and nobody's network, in this process too.
	for name, value := range isolation {
		_ = os.Setenv(name, value)
	}
	atOnce()
	closeTimeout = 3 * time.Minute
	code := m.Run()
	provider.stop()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// atOnce lets more tests run side by side than there are processors, unless the
// command line says how many: most of their time they wait for processes.
func atOnce() {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = f.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0)))
	}
}

// isolation keeps tests from a keyring, and from leaving the machine.
var isolation = map[string]string{
	"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1",
}

// Programs that the tests run as processes: the one that is shipped, as far as
// it needs no window, and the same with points at which it can be made to die.
var (
	shipped   = build("contextinfinity")
	breakable = build("contextinfinity-faults", "-tags", "faults")
)

// programsVariable names the directory with the programs of the process that started
// this one, which need not be built again.
const programsVariable = "CONTEXTINFINITY_TEST_PROGRAMS"

// built is where programs are kept from run to run: what has not changed is not linked
// again.
const built = ".tools/tests"

// build compiles this package once, when the first test wants it.
func build(name string, flags ...string) func(testing.TB) string {
	made := sync.OnceValues(func() (string, error) {
		if path := filepath.Join(os.Getenv(programsVariable), name); os.Getenv(programsVariable) != "" {
			_, err := os.Stat(path)
			return path, err
		}
		if err := os.MkdirAll(built, 0o755); err != nil {
			return "", err
		}
		if err := sources.LookAt(".", strings.Join(flags[min(1, len(flags)):], "")); err != nil {
			return "", err
		}
		kept, path := filepath.Join(built, name), filepath.Join(scratch, name)
		args := append([]string{"build", "-buildvcs=false", "-o", kept}, flags...)
		if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("go build: %w\n%s", err, out)
		}
		return path, own(path, kept)
	})
	return func(t testing.TB) string {
		t.Helper()
		path, err := made()
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// own makes a program this run's: another run may build it anew meanwhile.
func own(path, kept string) error {
	if os.Link(kept, path) == nil {
		return nil
	}
	data, err := os.ReadFile(kept)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o700)
}

// missing skips a test for want of a tool; continuous integration has them all.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// lockedBuffer collects what a process writes while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
	// grown has room for one signal: something was written.
	grown chan struct{}
}

func newLockedBuffer() *lockedBuffer { return &lockedBuffer{grown: make(chan struct{}, 1)} }

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	n, err := b.buf.Write(p)
	b.mu.Unlock()
	select {
	case b.grown <- struct{}{}:
	default:
	}
	return n, err
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// clip shortens a text for a failure's message.
func clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 600 {
		return s[:400] + " … " + s[len(s)-200:]
	}
	return s
}
