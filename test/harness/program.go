// Package harness builds the program once and runs it as a process on a machine of its own, with providers that answer it.
// The acceptance tests, the tests of the composition and the crash suite share it: Machine and Program need no test, Home and
// Process fail the one that they belong to.
package harness

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Patience is how long a process may take for anything. It is reached only when
// something is wrong.
const Patience = 240 * time.Second

// isolation keeps tests from a keyring, and from leaving the machine.
var isolation = map[string]string{
	"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1",
}

// Machine is a user's machine with nothing on it: configuration and data are where
// the program puts them by itself.
type Machine struct {
	Bin string // the program
	Dir string // the home directory
	Env []string
}

// NewMachine has its home directory in dir.
func NewMachine(bin, dir string) Machine {
	m := Machine{Bin: bin, Dir: dir, Env: []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "LC_ALL=C.UTF-8",
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_DATA_HOME=" + filepath.Join(dir, "share"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"GORACE=atexit_sleep_ms=0",
	}}
	for name, value := range isolation {
		m.Env = append(m.Env, name+"="+value)
	}
	return m
}

// ConfigFile is where the program looks for its configuration.
func (m Machine) ConfigFile() string {
	return filepath.Join(m.Dir, "config", "contextinfinity", "config.toml")
}

// DataDir is where the program keeps its data, unless it is configured otherwise.
func (m Machine) DataDir() string { return filepath.Join(m.Dir, "share", "contextinfinity") }

// Program is the program while it runs.
type Program struct {
	Cmd      *exec.Cmd
	Out, Err *LockedBuffer
	Ended    chan struct{}
}

// Launch runs the program until it ends, ctx ends, or Patience is over. lines, if not nil,
// gets each whole line of stdout as it comes, from one goroutine that has ended when the
// process has.
func (m Machine) Launch(ctx context.Context, stdin io.Reader, lines func([]byte), args ...string) (*Program, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	cmd := exec.CommandContext(ctx, m.Bin, args...)
	cmd.Env, cmd.Dir = m.Env, m.Dir
	p := &Program{Cmd: cmd, Out: NewLockedBuffer(), Err: NewLockedBuffer(), Ended: make(chan struct{})}
	p.Out.lines = lines
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, p.Out, p.Err
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer cancel()
		_ = cmd.Wait()
		close(p.Ended)
	}()
	return p, nil
}

// Kill is kill -9: no deferred call runs, nothing is flushed.
func (p *Program) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Ended
}

// Writes waits until the program has written what cond looks for; false if it ended first.
func (p *Program) Writes(b *LockedBuffer, cond func(string) bool) bool {
	for {
		if cond(b.String()) {
			return true
		}
		select {
		case <-b.grown:
		case <-p.Ended:
			return cond(b.String())
		}
	}
}

// Containing is a condition for Writes.
func Containing(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}

// LockedBuffer collects what a process writes while others read it.
type LockedBuffer struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	read  int // how much of buf was passed to lines
	lines func([]byte)
	grown chan struct{} // room for one signal: something was written
}

// NewLockedBuffer is an empty one.
func NewLockedBuffer() *LockedBuffer { return &LockedBuffer{grown: make(chan struct{}, 1)} }

// Write implements io.Writer.
func (b *LockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	n, err := b.buf.Write(p)
	var whole []byte
	if b.lines != nil {
		rest := b.buf.Bytes()[b.read:]
		whole = bytes.Clone(rest[:bytes.LastIndexByte(rest, '\n')+1])
		b.read += len(whole)
	}
	b.mu.Unlock()
	for scan := bufio.NewReader(bytes.NewReader(whole)); ; {
		line, err := scan.ReadBytes('\n')
		if err != nil {
			break
		}
		b.lines(line)
	}
	select {
	case b.grown <- struct{}{}:
	default:
	}
	return n, err
}

// String is what was written so far.
func (b *LockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Clip shortens a text for a failure's message.
func Clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 900 {
		return s[:500] + " … " + s[len(s)-400:]
	}
	return s
}
