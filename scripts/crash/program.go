package main

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

// builds are the programs that are driven: the one that is shipped, as far as it
// needs no window, and the same with points at which it can be made to die.
type builds struct{ shipped, faults string }

// build puts both into a folder.
func build(ctx context.Context, dir string) (builds, error) {
	b := builds{filepath.Join(dir, "contextinfinity"), filepath.Join(dir, "contextinfinity-faults")}
	return b, errors.Join(harness.Build(ctx, b.shipped, ""), harness.Build(ctx, b.faults, "faults"))
}

// home is a machine on which the program is broken.
type home struct{ harness.Machine }

func newHome(bin, dir, config string) (*home, error) {
	h := &home{harness.NewMachine(bin, dir)}
	if err := os.MkdirAll(filepath.Dir(h.ConfigFile()), 0o700); err != nil {
		return nil, err
	}
	return h, os.WriteFile(h.ConfigFile(), []byte(config), 0o600)
}

// data is the folder that the configuration names for it, or where it is by itself.
func (h *home) data() string {
	text, _ := os.ReadFile(h.ConfigFile()) // without one the program makes its own
	if m := dataDir.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return h.DataDir()
}

var dataDir = regexp.MustCompile(`(?m)^\s*data_dir\s*=\s*["'](.+)["']`)

func (h *home) database() string { return filepath.Join(h.data(), "contextinfinity.db") }
func (h *home) streams() string  { return filepath.Join(h.data(), "streams") }

// as is the same home with another build of the program and more environment.
func (h *home) as(bin string, env ...string) *home {
	c := *h
	c.Bin, c.Env = bin, append(slices.Clone(h.Env), env...)
	return &c
}

// process is the program while it runs.
type process struct {
	*harness.Program
	stdin io.WriteCloser // nil unless asked for
}

// start runs the program; lines, if not nil, gets each whole line of stdout as it
// comes, from one goroutine that has ended when the process has.
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

// kill is kill -9: no deferred call runs, nothing is flushed.
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

// awaitErr waits until stderr contains a text; false if the process ended first.
func (p *process) awaitErr(text string) bool { return p.Writes(p.Err, harness.Containing(text)) }

// awaitOut waits until stdout contains a text; false if the process ended first.
func (p *process) awaitOut(text string) bool { return p.Writes(p.Out, harness.Containing(text)) }

// result is a process that has ended; code is -1 for one that was killed.
type result struct {
	args   []string
	code   int
	stdout string
	stderr string
}

func (r result) String() string {
	return fmt.Sprintf("%s: exit code %d\n%s%s", harness.Clip(strings.Join(r.args, " ")), r.code, harness.Clip(r.stdout), harness.Clip(r.stderr))
}

// broken reports what no exit may show: a panic, or a data race's report.
func (r result) broken() bool {
	return strings.Contains(r.stderr, "panic:") || strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "fatal error:") ||
		strings.Contains(r.stderr, "The verb crashed")
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
