package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// patience is how long a process may take for anything. It is reached only when
// something is wrong.
const patience = 240 * time.Second

// home is a user's machine with nothing on it: configuration and data are where
// the program puts them by itself.
type home struct {
	t   testing.TB
	bin string
	dir string
	env []string
}

func newHome(t testing.TB, bin, config string) *home {
	t.Helper()
	h := &home{t: t, bin: bin, dir: t.TempDir()}
	h.env = []string{
		"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "LC_ALL=C.UTF-8",
		"XDG_CONFIG_HOME=" + filepath.Join(h.dir, "config"), "XDG_DATA_HOME=" + filepath.Join(h.dir, "share"),
		"XDG_CACHE_HOME=" + filepath.Join(h.dir, "cache"), "XDG_STATE_HOME=" + filepath.Join(h.dir, "state"),
		"GORACE=atexit_sleep_ms=0",
	}
	for name, value := range isolation {
		h.env = append(h.env, name+"="+value)
	}
	if config != "" {
		h.configure(config)
	}
	return h
}

func (h *home) configFile() string {
	return filepath.Join(h.dir, "config", "contextinfinity", "config.toml")
}
func (h *home) dataDir() string { return filepath.Join(h.dir, "share", "contextinfinity") }

func (h *home) configure(text string) {
	h.t.Helper()
	write(h.t, h.configFile(), []byte(text))
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// with is the same home with more environment.
func (h *home) with(env ...string) *home {
	c := *h
	c.env = append(slices.Clone(h.env), env...)
	return &c
}

// using is the same home with another build of the program.
func (h *home) using(bin string) *home {
	c := *h
	c.bin = bin
	return &c
}

// process is the program while it runs.
type process struct {
	t        testing.TB
	cmd      *exec.Cmd
	out, err *lockedBuffer
	ended    chan struct{}
}

// start runs the program. It is killed at the end of the test at the latest.
func (h *home) start(stdin io.Reader, args ...string) *process {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, h.bin, args...)
	cmd.Env, cmd.Dir = h.env, h.dir
	p := &process{t: h.t, cmd: cmd, out: newLockedBuffer(), err: newLockedBuffer(), ended: make(chan struct{})}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, p.out, p.err
	if err := cmd.Start(); err != nil {
		cancel()
		h.t.Fatal(err)
	}
	go func() {
		defer cancel()
		_ = cmd.Wait()
		close(p.ended)
	}()
	h.t.Cleanup(p.kill)
	return p
}

// kill is kill -9: no deferred call runs, nothing is flushed.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) interrupt() { _ = p.cmd.Process.Signal(os.Interrupt) }

// await waits until the process has written what cond looks for.
func (p *process) await(what string, b *lockedBuffer, cond func(string) bool) {
	p.t.Helper()
	for {
		if cond(b.String()) {
			return
		}
		select {
		case <-b.grown:
		case <-p.ended:
			if !cond(b.String()) {
				p.t.Fatalf("the program ended (%v) before %s\nstdout: %s\nstderr: %s", p.cmd.ProcessState, what, clip(p.out.String()), clip(p.err.String()))
			}
			return
		}
	}
}

func (p *process) awaitOutput(part string) {
	p.t.Helper()
	p.await(fmt.Sprintf("it wrote %q", part), p.out, func(s string) bool { return strings.Contains(s, part) })
}

// result is a process that has ended.
type result struct {
	t      testing.TB
	args   []string
	code   int
	stdout string
	stderr string
}

func (p *process) wait() result {
	p.t.Helper()
	<-p.ended
	return result{p.t, p.cmd.Args[1:], p.cmd.ProcessState.ExitCode(), p.out.String(), p.err.String()}
}

// run runs a verb to its end.
func (h *home) run(args ...string) result {
	h.t.Helper()
	return h.start(nil, args...).wait()
}

func (h *home) runIn(stdin string, args ...string) result {
	h.t.Helper()
	return h.start(strings.NewReader(stdin), args...).wait()
}

// ok is run that must succeed.
func (h *home) ok(args ...string) result {
	h.t.Helper()
	return h.run(args...).exits(0)
}

func (r result) exits(code int) result {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("%q: exit code %d, want %d\nstdout: %s\nstderr: %s", clip(strings.Join(r.args, " ")), r.code, code, clip(r.stdout), clip(r.stderr))
	}
	return r
}

// document decodes stdout, which must be exactly one JSON document of schema 1.
func (r result) document(into any) {
	r.t.Helper()
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		r.t.Fatalf("%q: stdout is no JSON: %v: %s\nstderr: %s", r.args, err, clip(r.stdout), clip(r.stderr))
	}
	if rest, _ := io.ReadAll(dec.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		r.t.Fatalf("%q: more than one document on stdout: %s", r.args, clip(string(rest)))
	}
	var head struct{ Schema int }
	if err := json.Unmarshal(raw, &head); err != nil || head.Schema != 1 {
		r.t.Fatalf("%q: schema is %d, want 1: %s", r.args, head.Schema, clip(r.stdout))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		r.t.Fatalf("%q: %v: %s", r.args, err, clip(r.stdout))
	}
}

// sent is what send --json prints (SPEC 15).
type sent struct {
	SessionID string       `json:"session_id"`
	BranchID  string       `json:"branch_id"`
	TurnID    string       `json:"turn_id"`
	Seq       int64        `json:"turn_seq"`
	Phase     chat.Phase   `json:"phase"`
	Outcome   chat.Outcome `json:"outcome"`
	Text      string       `json:"text"`
	Usage     *chat.Usage  `json:"usage"`
	Attempts  int          `json:"attempts"`
	Error     *failure     `json:"error"`
}

// failure is how --json reports an error.
type failure struct {
	Code    chat.Code `json:"code"`
	Op      string    `json:"op"`
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
}

func (r result) sent() sent {
	r.t.Helper()
	var s sent
	r.document(&s)
	return s
}

// fails asserts a failed call with --json and returns its error.
func (r result) fails(exit int, code chat.Code) failure {
	r.t.Helper()
	r.exits(exit)
	var doc struct{ Error *failure }
	r.document(&doc)
	if doc.Error == nil || doc.Error.Code != code || doc.Error.Op == "" || doc.Error.Message == "" {
		r.t.Fatalf("%q: error is %+v, want code %q with op and message", clip(strings.Join(r.args, " ")), doc.Error, code)
	}
	return *doc.Error
}

// shown is what show --json prints.
type shown struct {
	Session  chat.Session  `json:"session"`
	Branches []shownBranch `json:"branches"`
	Turns    []shownTurn   `json:"turns"`
}

type shownBranch struct {
	ID        string `json:"branch_id"`
	HeadState string `json:"head_state"`
	HeadSeq   int64  `json:"head_seq"`
	Pending   int    `json:"pending"`
}

// other is the session's one branch that is not id.
func (s shown) other(t testing.TB, id string) shownBranch {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(s.Branches), func(b shownBranch) bool { return b.ID == id })
	if len(rest) != 1 {
		t.Fatalf("the session has %d branches beside %s, want 1", len(rest), id)
	}
	return rest[0]
}

type shownTurn struct {
	ID          string        `json:"turn_id"`
	BranchID    string        `json:"branch_id"`
	Seq         int64         `json:"turn_seq"`
	Phase       chat.Phase    `json:"phase"`
	Outcome     chat.Outcome  `json:"outcome"`
	User        chat.Message  `json:"user_message"`
	Assistant   *chat.Message `json:"assistant_message"`
	Partial     *string       `json:"partial_text"`
	StateBefore string        `json:"state_before"`
	StateAfter  string        `json:"state_after"`
	RetryOf     string        `json:"retry_of"`
	Error       *chat.Failure `json:"error"`
	Steps       []struct {
		ID      string           `json:"step_id"`
		Index   int              `json:"index"`
		Attempt int              `json:"attempt"`
		Outcome chat.StepOutcome `json:"outcome"`
		Durable int64            `json:"durable_bytes"`
	} `json:"steps"`
}

// text is the turn's answer, final or partial.
func (t shownTurn) text() string {
	switch {
	case t.Assistant != nil:
		return t.Assistant.RenderedText()
	case t.Partial != nil:
		return *t.Partial
	}
	return ""
}

func (h *home) show(session string, more ...string) shown {
	h.t.Helper()
	var s shown
	h.ok(append([]string{"show", session, "--json"}, more...)...).document(&s)
	return s
}

// only is the one turn of a session.
func (h *home) only(session string) shownTurn {
	h.t.Helper()
	s := h.show(session)
	if len(s.Turns) != 1 {
		h.t.Fatalf("the session has %d turns, want 1", len(s.Turns))
	}
	return s.Turns[0]
}

// lastSession is the session used last.
func (h *home) lastSession() string {
	h.t.Helper()
	var doc struct {
		Sessions []struct {
			ID string `json:"session_id"`
		}
	}
	h.ok("sessions", "--json").document(&doc)
	if len(doc.Sessions) == 0 {
		h.t.Fatal("there is no session")
	}
	return doc.Sessions[0].ID
}

// clean asserts that verify finds nothing.
func (h *home) clean() {
	h.t.Helper()
	var doc struct {
		OK       bool
		Findings []chat.Finding
	}
	h.ok("verify", "--json").document(&doc)
	if !doc.OK || len(doc.Findings) != 0 {
		h.t.Fatalf("verify: %+v", doc.Findings)
	}
}
