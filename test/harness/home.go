package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// Home is a Machine for one test. The test fails if an operation of the Home fails.
type Home struct {
	Machine
	T testing.TB
}

// NewHome returns a machine with this configuration; empty: none.
func NewHome(t testing.TB, bin, config string) *Home {
	t.Helper()
	h := &Home{Machine: NewMachine(bin, t.TempDir()), T: t}
	if config != "" {
		h.Configure(config)
	}
	return h
}

// Configure replaces the configuration. Background work after `send` may take as long as it does on a busy machine,
// unless the text sets the librarian.
func (h *Home) Configure(text string) {
	h.T.Helper()
	if !strings.Contains(text, "[librarian]") {
		text += "\n[librarian]\nafter_send_s = 200\n"
	}
	WriteFile(h.T, h.ConfigFile(), []byte(text))
}

// WriteFile writes a file and creates its directories.
func WriteFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// With returns the same home with additional environment variables.
func (h *Home) With(env ...string) *Home {
	c := *h
	c.Env = append(slices.Clone(h.Env), env...)
	return &c
}

// Using returns the same home with another build of the program.
func (h *Home) Using(bin string) *Home {
	c := *h
	c.Bin = bin
	return &c
}

// Process is a running program of a test.
type Process struct {
	*Program
	T testing.TB
}

// Start runs the program. It is killed at the end of the test if it still runs.
func (h *Home) Start(stdin io.Reader, args ...string) *Process {
	h.T.Helper()
	p, err := h.Launch(context.Background(), stdin, nil, args...)
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(p.Kill)
	return &Process{p, h.T}
}

// Interrupt sends Ctrl+C.
func (p *Process) Interrupt() { _ = p.Cmd.Process.Signal(os.Interrupt) }

// Await waits until the output of the process fulfills cond. event completes the message "the program ended before".
func (p *Process) Await(event string, b *LockedBuffer, cond func(string) bool) {
	p.T.Helper()
	if !p.Writes(b, cond) {
		p.T.Fatalf("the program ended (%v) before %s\nstdout: %s\nstderr: %s", p.Cmd.ProcessState, event, Clip(p.Out.String()), Clip(p.Err.String()))
	}
}

// AwaitOutput waits until stdout contains a text.
func (p *Process) AwaitOutput(part string) {
	p.T.Helper()
	p.Await(fmt.Sprintf("it wrote %q", part), p.Out, Containing(part))
}

// Result is an ended process.
type Result struct {
	T      testing.TB
	Args   []string
	Code   int
	Stdout string
	Stderr string
}

// Wait waits until the process has ended.
func (p *Process) Wait() Result {
	p.T.Helper()
	<-p.Ended
	return Result{p.T, p.Cmd.Args[1:], p.Cmd.ProcessState.ExitCode(), p.Out.String(), p.Err.String()}
}

// Run runs a command to its end.
func (h *Home) Run(args ...string) Result {
	h.T.Helper()
	return h.Start(nil, args...).Wait()
}

// RunIn runs a command with this text as stdin.
func (h *Home) RunIn(stdin string, args ...string) Result {
	h.T.Helper()
	return h.Start(strings.NewReader(stdin), args...).Wait()
}

// OK runs a command that must succeed.
func (h *Home) OK(args ...string) Result {
	h.T.Helper()
	return h.Run(args...).Exits(0)
}

// Exits asserts the exit code.
func (r Result) Exits(code int) Result {
	r.T.Helper()
	if r.Code != code {
		r.T.Fatalf("%q: exit code %d, want %d\nstdout: %s\nstderr: %s", Clip(strings.Join(r.Args, " ")), r.Code, code, Clip(r.Stdout), Clip(r.Stderr))
	}
	return r
}

// Document decodes stdout, which must be exactly one JSON document of schema 1.
func (r Result) Document(into any) {
	r.T.Helper()
	dec := json.NewDecoder(strings.NewReader(r.Stdout))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		r.T.Fatalf("%q: stdout is not JSON: %v: %s\nstderr: %s", r.Args, err, Clip(r.Stdout), Clip(r.Stderr))
	}
	if rest, _ := io.ReadAll(dec.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		r.T.Fatalf("%q: more than one document on stdout: %s", r.Args, Clip(string(rest)))
	}
	var head struct{ Schema int }
	if err := json.Unmarshal(raw, &head); err != nil || head.Schema != 1 {
		r.T.Fatalf("%q: schema is %d, want 1: %s", r.Args, head.Schema, Clip(r.Stdout))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		r.T.Fatalf("%q: %v: %s", r.Args, err, Clip(r.Stdout))
	}
}

// Sent is the output of send --json (SPEC 15).
type Sent struct {
	SessionID string       `json:"session_id"`
	BranchID  string       `json:"branch_id"`
	TurnID    string       `json:"turn_id"`
	Seq       int64        `json:"turn_seq"`
	Phase     chat.Phase   `json:"phase"`
	Outcome   chat.Outcome `json:"outcome"`
	Text      string       `json:"text"`
	Usage     *chat.Usage  `json:"usage"`
	Attempts  int          `json:"attempts"`
	Error     *Failure     `json:"error"`
}

// Failure is how --json reports an error.
type Failure struct {
	Code    chat.Code `json:"code"`
	Op      string    `json:"op"`
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
}

// Sent decodes the output of send --json.
func (r Result) Sent() Sent {
	r.T.Helper()
	var s Sent
	r.Document(&s)
	return s
}

// Fails asserts that a command with --json failed, and returns its error.
func (r Result) Fails(exit int, code chat.Code) Failure {
	r.T.Helper()
	r.Exits(exit)
	var doc struct{ Error *Failure }
	r.Document(&doc)
	if doc.Error == nil || doc.Error.Code != code || doc.Error.Op == "" || doc.Error.Message == "" {
		r.T.Fatalf("%q: error is %+v, want code %q with op and message", Clip(strings.Join(r.Args, " ")), doc.Error, code)
	}
	return *doc.Error
}

// Shown is the output of show --json.
type Shown struct {
	Session  chat.Session  `json:"session"`
	Branches []shownBranch `json:"branches"`
	Turns    []ShownTurn   `json:"turns"`
}

type shownBranch struct {
	ID        string `json:"branch_id"`
	HeadState string `json:"head_state"`
	HeadSeq   int64  `json:"head_seq"`
	Pending   int    `json:"pending"`
}

// Other returns the session's only branch other than id.
func (s Shown) Other(t testing.TB, id string) shownBranch { //nolint:revive // callers only read its fields
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(s.Branches), func(b shownBranch) bool { return b.ID == id })
	if len(rest) != 1 {
		t.Fatalf("the session has %d branches besides %s, want 1", len(rest), id)
	}
	return rest[0]
}

// ShownTurn is a turn in the output of show --json.
type ShownTurn struct {
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

// Text returns the turn's answer, final or partial.
func (t ShownTurn) Text() string {
	switch {
	case t.Assistant != nil:
		return t.Assistant.RenderedText()
	case t.Partial != nil:
		return *t.Partial
	}
	return ""
}

// Show returns the output of show --json for a session.
func (h *Home) Show(session string, more ...string) Shown {
	h.T.Helper()
	var s Shown
	h.OK(append([]string{"show", session, "--json"}, more...)...).Document(&s)
	return s
}

// Only returns the only turn of a session.
func (h *Home) Only(session string) ShownTurn {
	h.T.Helper()
	s := h.Show(session)
	if len(s.Turns) != 1 {
		h.T.Fatalf("the session has %d turns, want 1", len(s.Turns))
	}
	return s.Turns[0]
}

// LastSession returns the session used last.
func (h *Home) LastSession() string {
	h.T.Helper()
	var doc struct {
		Sessions []struct {
			ID string `json:"session_id"`
		}
	}
	h.OK("sessions", "--json").Document(&doc)
	if len(doc.Sessions) == 0 {
		h.T.Fatal("there is no session")
	}
	return doc.Sessions[0].ID
}

// Clean asserts that verify finds nothing.
func (h *Home) Clean() {
	h.T.Helper()
	var doc struct {
		OK       bool
		Findings []chat.Finding
	}
	h.OK("verify", "--json").Document(&doc)
	if !doc.OK || len(doc.Findings) != 0 {
		h.T.Fatalf("verify: %+v", doc.Findings)
	}
}

// Copies returns the backups of a home, newest first.
func (h *Home) Copies() []chat.Backup {
	h.T.Helper()
	var doc struct {
		Backups []chat.Backup `json:"backups"`
	}
	h.OK("backups", "--check", "--json").Document(&doc)
	return doc.Backups
}

// Journals returns the files of the stream journal.
func (h *Home) Journals() []string {
	found, _ := filepath.Glob(filepath.Join(h.DataDir(), "streams", "*.jsonl"))
	return found
}

// Summary returns the text of the head state.
func (h *Home) Summary(session string) string {
	h.T.Helper()
	var doc struct {
		States []struct {
			Seq     int64 `json:"state_seq"`
			Summary string
		}
	}
	h.OK("states", session, "--json").Document(&doc)
	best := ""
	var seq int64 = -1
	for _, s := range doc.States {
		if s.Seq > seq {
			seq, best = s.Seq, s.Summary
		}
	}
	return best
}

// ReadFile reads a file.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Host is a conversation in a terminal that has the data open and serves other processes.
type Host struct {
	*Process
	Stdin io.WriteCloser
}

// Host starts a conversation and waits until it has opened the data.
func (h *Home) Host(args ...string) *Host {
	h.T.Helper()
	in, stdin, err := os.Pipe() // exec's own pipe would not be closed when the reader is killed
	if err != nil {
		h.T.Fatal(err)
	}
	p := &Host{h.Start(in, append([]string{"chat"}, args...)...), stdin}
	_ = in.Close()
	h.T.Cleanup(func() { _ = stdin.Close() })
	p.Await("it had the data open", p.Err, func(s string) bool { return strings.Contains(s, "/help") })
	return p
}

// Leave closes the input, which ends the conversation normally.
func (p *Host) Leave() {
	p.T.Helper()
	_ = p.Stdin.Close()
	p.Wait().Exits(0)
}
