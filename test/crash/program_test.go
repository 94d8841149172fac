package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"contextinfinity/test/harness"
)

// home is a machine on which the program is crashed.
type home struct{ harness.Machine }

func newHome(bin, dir, config string) (*home, error) {
	h := &home{harness.NewMachine(bin, dir)}
	if err := os.MkdirAll(filepath.Dir(h.ConfigFile()), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(h.ConfigFile(), []byte(config), 0o600); err != nil || bin == "" {
		return h, err
	}
	return h, h.SealedAgain()
}

// data returns the data directory from the configuration, or the default one.
func (h *home) data() string {
	text, _ := os.ReadFile(h.ConfigFile()) // without a configuration the program creates one
	if m := dataDir.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return h.DataDir()
}

var dataDir = regexp.MustCompile(`(?m)^\s*data_dir\s*=\s*["'](.+)["']`)

func (h *home) database() string { return filepath.Join(h.data(), "contextinfinity.db") }
func (h *home) streams() string  { return filepath.Join(h.data(), "streams") }

// as returns the same home with another build of the program and additional environment variables.
func (h *home) as(bin string, env ...string) *home {
	c := *h
	c.Bin, c.Env = bin, append(slices.Clone(h.Env), env...)
	return &c
}

// process is a running program.
type process struct {
	*harness.Program
	stdin io.WriteCloser // nil for non-interactive commands
}

// start runs the program. If lines is set, it receives each complete line of stdout as it arrives, from one goroutine
// that ends with the process.
func (h *home) start(ctx context.Context, interactive bool, lines func([]byte), args ...string) (*process, error) {
	if !interactive {
		program, err := h.Launch(ctx, nil, lines, args...)
		return &process{Program: program}, err
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	program, err := h.Launch(ctx, in, lines, args...)
	return &process{program, stdin}, err
}

// kill kills the program with SIGKILL: no deferred call runs, and nothing is flushed.
func (p *process) kill() result {
	p.Kill()
	return p.wait()
}

func (p *process) wait() result {
	<-p.Ended
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	return result{p.Cmd.Args[1:], p.Cmd.ProcessState.ExitCode(), p.Out.String(), p.Err.String()}
}

// awaitErr waits until stderr contains a text; it returns false if the process ended first.
func (p *process) awaitErr(text string) bool { return p.Writes(p.Err, harness.Containing(text)) }

// awaitOut waits until stdout contains a text; it returns false if the process ended first.
func (p *process) awaitOut(text string) bool { return p.Writes(p.Out, harness.Containing(text)) }

// result is an ended process; code is -1 if it was killed.
type result struct {
	args   []string
	code   int
	stdout string
	stderr string
}

func (r result) String() string {
	return fmt.Sprintf("%s: exit code %d\n%s%s", harness.Clip(strings.Join(r.args, " ")), r.code, harness.Clip(r.stdout), harness.Clip(r.stderr))
}

// crashed reports whether the output contains a panic or the report of a data race.
func (r result) crashed() bool {
	return strings.Contains(r.stderr, "panic:") || strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "fatal error:") ||
		strings.Contains(r.stderr, "The verb crashed")
}

// run runs a command to its end.
func (h *home) run(ctx context.Context, args ...string) (result, error) {
	p, err := h.start(ctx, false, nil, args...)
	if err != nil {
		return result{}, err
	}
	return p.wait(), nil
}

// document runs a command with --json, decodes its output and returns the result.
func (h *home) document(ctx context.Context, into any, args ...string) (result, error) {
	r, err := h.run(ctx, append(args, "--json")...)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
		return r, fmt.Errorf("the output is not JSON (%w): %s", err, r)
	}
	return r, nil
}

// ok is document for a command that must succeed.
func (h *home) ok(ctx context.Context, into any, args ...string) error {
	r, err := h.document(ctx, into, args...)
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	return err
}

// sessions returns the ids of all sessions, archived ones too.
func (h *home) sessions(ctx context.Context) ([]string, error) {
	var ids []string
	for _, args := range [][]string{{"sessions"}, {"sessions", "--archived"}} {
		var list struct {
			Sessions []struct {
				ID string `json:"session_id"`
			}
		}
		if err := h.ok(ctx, &list, args...); err != nil {
			return nil, err
		}
		for _, s := range list.Sessions {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}
