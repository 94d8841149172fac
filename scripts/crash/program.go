package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience is how long one start of the program may take for anything. It is
// reached only when something is wrong.
const patience = 2 * time.Minute

// builds are the programs that are driven: the one that is shipped, as far as it
// needs no window, and the same with points at which it can be made to die.
type builds struct{ shipped, faults string }

// build compiles both into a folder, from the module that holds this directory.
func build(ctx context.Context, module, dir string) (builds, error) {
	b := builds{filepath.Join(dir, "contextinfinity"), filepath.Join(dir, "contextinfinity-faults")}
	for path, tags := range map[string]string{b.shipped: "", b.faults: "faults"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-tags", tags, "-o", path, ".")
		cmd.Dir = module
		if out, err := cmd.CombinedOutput(); err != nil {
			return b, fmt.Errorf("go build -tags %q: %w\n%s", tags, err, out)
		}
	}
	return b, nil
}

// home is a user's machine: configuration and data are where the program puts
// them by itself, and nobody's keyring or network is near.
type home struct {
	bin string
	dir string
	env []string
}

func newHome(bin, dir, config string) (*home, error) {
	h := &home{bin: bin, dir: dir, env: []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "LC_ALL=C.UTF-8",
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_DATA_HOME=" + filepath.Join(dir, "share"),
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1",
	}}
	if err := os.MkdirAll(filepath.Dir(h.config()), 0o700); err != nil {
		return nil, err
	}
	return h, os.WriteFile(h.config(), []byte(config), 0o600)
}

// data is the folder that the configuration names for it, or where it is by itself.
func (h *home) data() string {
	text, _ := os.ReadFile(h.config()) // without one the program makes its own
	if m := dataDir.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return filepath.Join(h.dir, "share", "contextinfinity")
}

var dataDir = regexp.MustCompile(`(?m)^\s*data_dir\s*=\s*["'](.+)["']`)

func (h *home) config() string {
	return filepath.Join(h.dir, "config", "contextinfinity", "config.toml")
}
func (h *home) database() string { return filepath.Join(h.data(), "contextinfinity.db") }
func (h *home) streams() string  { return filepath.Join(h.data(), "streams") }

// as is the same home with another build of the program and more environment.
func (h *home) as(bin string, env ...string) *home {
	return &home{bin: bin, dir: h.dir, env: append(slices.Clone(h.env), env...)}
}

// process is the program while it runs.
type process struct {
	cmd   *exec.Cmd
	out   *pipe
	err   *pipe
	stdin io.WriteCloser // nil unless asked for
	ended chan struct{}
}

// start runs the program; lines, if not nil, gets each whole line of stdout as it
// comes, from one goroutine that has ended when the process has.
func (h *home) start(ctx context.Context, interactive bool, lines func([]byte), args ...string) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	cmd := exec.CommandContext(ctx, h.bin, args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	p := &process{cmd: cmd, out: newPipe(lines), err: newPipe(nil), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.err
	if interactive {
		in, stdin, err := os.Pipe()
		if err != nil {
			cancel()
			return nil, err
		}
		defer func() { _ = in.Close() }()
		cmd.Stdin, p.stdin = in, stdin
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer cancel()
		_ = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill is kill -9: no deferred call runs, nothing is flushed.
func (p *process) kill() result {
	_ = p.cmd.Process.Kill()
	return p.wait()
}

func (p *process) wait() result {
	<-p.ended
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	return result{p.cmd.Args[1:], p.cmd.ProcessState.ExitCode(), p.out.String(), p.err.String()}
}

// awaitErr waits until stderr holds a text; false if the process ended first.
func (p *process) awaitErr(text string) bool {
	for {
		if strings.Contains(p.err.String(), text) {
			return true
		}
		select {
		case <-p.err.grown:
		case <-p.ended:
			return strings.Contains(p.err.String(), text)
		}
	}
}

// result is a process that has ended; code is -1 for one that was killed.
type result struct {
	args   []string
	code   int
	stdout string
	stderr string
}

func (r result) String() string {
	return fmt.Sprintf("%s: exit code %d\n%s%s", clip(strings.Join(r.args, " ")), r.code, clip(r.stdout), clip(r.stderr))
}

// broken reports what no exit may show: a panic, or a data race's report.
func (r result) broken() bool {
	return strings.Contains(r.stderr, "panic:") || strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "fatal error:") ||
		strings.Contains(r.stderr, "failed by a defect")
}

// run runs a verb to its end.
func (h *home) run(ctx context.Context, args ...string) (result, error) {
	p, err := h.start(ctx, false, nil, args...)
	if err != nil {
		return result{}, err
	}
	return p.wait(), nil
}

// document runs a verb with --json, decodes what it printed and returns how it ended.
func (h *home) document(ctx context.Context, into any, args ...string) (result, error) {
	r, err := h.run(ctx, append(args, "--json")...)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
		return r, fmt.Errorf("no JSON (%w): %s", err, r)
	}
	return r, nil
}

// ok is document of a verb that must succeed.
func (h *home) ok(ctx context.Context, into any, args ...string) error {
	r, err := h.document(ctx, into, args...)
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	return err
}

// pipe collects what a process writes while others read it.
type pipe struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	read  int // how much of buf was given to lines
	lines func([]byte)
	grown chan struct{} // room for one signal: something was written
}

func newPipe(lines func([]byte)) *pipe { return &pipe{lines: lines, grown: make(chan struct{}, 1)} }

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	n, err := p.buf.Write(b)
	var whole []byte
	if p.lines != nil {
		rest := p.buf.Bytes()[p.read:]
		whole = bytes.Clone(rest[:bytes.LastIndexByte(rest, '\n')+1])
		p.read += len(whole)
	}
	p.mu.Unlock()
	for scan := bufio.NewReader(bytes.NewReader(whole)); ; {
		line, err := scan.ReadBytes('\n')
		if err != nil {
			break
		}
		p.lines(line)
	}
	select {
	case p.grown <- struct{}{}:
	default:
	}
	return n, err
}

func (p *pipe) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.String()
}

// clip shortens a text for a message.
func clip(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 900 {
		return s[:500] + " … " + s[len(s)-400:]
	}
	return s
}
