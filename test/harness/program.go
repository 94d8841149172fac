// Package harness builds the program once and runs it as a process with its own home directory, with mock providers.
// The acceptance tests, the tests of package app and the crash suite share it: Machine and Program can be used without
// a test, Home and Process fail their test.
package harness

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Patience is the timeout for everything that a process does. It is only reached if something is wrong.
const Patience = 240 * time.Second

// isolation keeps tests from using a keyring or the network.
var isolation = map[string]string{
	"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1",
}

// Machine is a new user's machine, with configuration and data in their default places.
type Machine struct {
	Bin string // the program
	Dir string // the home directory
	Env []string
	// Secret is a file with the passphrase or recovery code of sealed data; empty: it is plain.
	Secret string
}

// NewMachine returns a machine with its home directory in dir.
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

// ConfigFile returns the program's default configuration file.
func (m Machine) ConfigFile() string {
	return filepath.Join(m.Dir, "config", "contextinfinity", "config.toml")
}

// DataDir returns the program's default data directory.
func (m Machine) DataDir() string { return filepath.Join(m.Dir, "share", "contextinfinity") }

// CopyTo copies the configuration and the data into another home directory, without locks and sockets. Nothing may be
// running.
func (m Machine) CopyTo(dir string) error {
	return filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "writer.lock" || strings.HasSuffix(d.Name(), "-shm") {
			return err
		}
		name, err := filepath.Rel(m.Dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if top, _, _ := strings.Cut(filepath.ToSlash(name), "/"); top != "." && top != "config" && top != "share" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, name), 0o700)
		}
		if !d.Type().IsRegular() || filepath.Dir(name) == "." {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), data, 0o600)
	})
}

// Program is a running program.
type Program struct {
	Cmd      *exec.Cmd
	Out, Err *LockedBuffer
	Ended    chan struct{}
}

// Launch runs the program until it ends, ctx ends, or Patience is over. If lines is set, it receives each complete
// line of stdout as it arrives, from one goroutine that ends with the process.
func (m Machine) Launch(ctx context.Context, stdin io.Reader, lines func([]byte), args ...string) (*Program, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	if m.Secret != "" {
		args = append(slices.Clone(args), m.secretFlag(args), m.Secret)
	}
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

// Kill kills the program with SIGKILL: no deferred call runs, and nothing is flushed.
func (p *Program) Kill() {
	_ = p.Cmd.Process.Kill()
	<-p.Ended
}

// Writes waits until the output of the program fulfills cond; it returns false if the program ended first.
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

// Containing returns a condition for Writes.
func Containing(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}

// LockedBuffer collects what a process writes while others read it.
type LockedBuffer struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	read  int // how much of buf was passed to lines
	lines func([]byte)
	grown chan struct{} // signals that something was written; buffers one signal
}

// NewLockedBuffer returns an empty buffer.
func NewLockedBuffer() *LockedBuffer { return &LockedBuffer{grown: make(chan struct{}, 1)} }

// Write implements io.Writer.
func (b *LockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	n, err := b.buf.Write(p)
	var complete []byte
	if b.lines != nil {
		rest := b.buf.Bytes()[b.read:]
		complete = bytes.Clone(rest[:bytes.LastIndexByte(rest, '\n')+1])
		b.read += len(complete)
	}
	b.mu.Unlock()
	for scan := bufio.NewReader(bytes.NewReader(complete)); ; {
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

// String returns what was written so far.
func (b *LockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Clip shortens a text for a failure message.
func Clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 900 {
		return s[:500] + " … " + s[len(s)-400:]
	}
	return s
}
