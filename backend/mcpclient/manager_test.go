//go:build unix

package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

func TestMain(m *testing.M) {
	if fault := os.Getenv(hostEnv); fault != "" {
		host(fault)
		return
	}
	if fault := os.Getenv(hostileEnv); fault != "" {
		hostile(fault)
		return
	}
	goleak.VerifyTestMain(m)
}

// isZombie reports whether a process has ended but was not waited for.
func isZombie(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	return strings.HasPrefix(after, "Z")
}

// testTimeout is how long a test waits for something that is immediate on an idle machine.
const testTimeout = 60 * time.Second

// fixture is a manager with misbehaving servers.
type fixture struct {
	*Manager
	t       *testing.T
	mu      sync.Mutex
	servers []config.MCPServer
	secrets map[string]string
	changes chan struct{}
}

func newFixture(t *testing.T, elicit Elicitor, servers ...config.MCPServer) *fixture {
	t.Helper()
	b := &fixture{t: t, servers: servers, secrets: map[string]string{}, changes: make(chan struct{}, 1)}
	b.Manager = NewManager(Deps{
		Servers: func() []config.MCPServer { b.mu.Lock(); defer b.mu.Unlock(); return slices.Clone(b.servers) },
		Secret: func(server, name string) (string, bool) {
			b.mu.Lock()
			defer b.mu.Unlock()
			v, ok := b.secrets[server+"/"+name]
			return v, ok
		},
		SetSecret: func(server, name, value string) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.secrets[server+"/"+name] = value
			return nil
		},
		Environ: func() []string { return append(os.Environ(), "OPENAI_API_KEY=sk-canary-of-the-program") },
		Getenv:  os.Getenv, Elicit: elicit, Version: "1",
		Changed: func(string) {
			select {
			case b.changes <- struct{}{}:
			default:
			}
		},
		Limits: Limits{Start: testTimeout, List: testTimeout, StartWait: testTimeout, Discover: 300 * time.Millisecond, Backoff: time.Hour, MaxBackoff: time.Hour, Terminate: 300 * time.Millisecond, Debounce: time.Millisecond},
	})
	t.Cleanup(b.Stop)
	return b
}

func faulty(fault string) config.MCPServer {
	return config.MCPServer{Name: "bad", Enabled: true, Command: os.Args[0], Env: map[string]string{hostileEnv: fault}}
}

// until waits for a change after which ok is true.
func (b *fixture) until(event string, ok func() bool) {
	b.t.Helper()
	deadline := time.After(testTimeout)
	for !ok() {
		select {
		case <-b.changes:
		case <-time.After(50 * time.Millisecond): // log lines do not signal a change
		case <-deadline:
			lines, _, _ := b.Logs(b.servers[0].Name)
			b.t.Fatalf("%s: it did not happen; %+v; log %v", event, b.Statuses(), lines)
		}
	}
}

func (b *fixture) status() Status { return b.Statuses()[0] }

func (b *fixture) source() tools.Source {
	b.t.Helper()
	if all := b.Sources(); len(all) > 0 {
		return all[0]
	}
	b.t.Fatal("there is no source")
	return nil
}

func (b *fixture) call(ctx context.Context, tool string) (tools.Output, error) {
	return b.source().Call(ctx, tools.Call{ID: "1", Tool: tool, Arguments: json.RawMessage(`{}`)})
}

func (b *fixture) logText() string {
	lines, _, err := b.Logs(b.servers[0].Name)
	if err != nil {
		b.t.Fatal(err)
	}
	var out strings.Builder
	for _, l := range lines {
		out.WriteString(l.From + ": " + l.Text + "\n")
	}
	return out.String()
}

func textOf(blocks chat.Blocks) string {
	var out []string
	for _, b := range blocks {
		switch b := b.(type) {
		case chat.Text:
			out = append(out, b.Text)
		case chat.Image:
			out = append(out, "<"+b.MediaType+">")
		}
	}
	return strings.Join(out, "|")
}

// Each failure of a server's start has a clear error, and nothing hangs.
func TestStartsThatFail(t *testing.T) {
	for fault, want := range map[string]struct {
		state   State
		message string
	}{
		"exit":       {StateWaiting, "exit status 7"},
		"future":     {StateWaiting, "2031-01-01"},
		"wrongtypes": {StateWaiting, "its list of tools"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, nil, faulty(fault))
			b.Ensure(t.Context())
			if st := b.status(); st.State != want.state || !strings.Contains(st.Full().String(), want.message) || st.RetryAt.IsZero() {
				t.Errorf("it is %s: %q", st.State, st.Full())
			}
			if _, err := b.call(t.Context(), "t"); !errors.Is(err, tools.ErrNotStarted) {
				t.Errorf("a call: %v", err)
			}
		})
	}
	missing := config.MCPServer{Name: "bad", Enabled: true, Command: "no-such-program-here"}
	nowhere := faulty("fine")
	nowhere.Cwd = "/no/such/folder"
	secret := faulty("fine")
	secret.Env = map[string]string{"TOKEN": "${secret:TOKEN}"}
	for want, cfg := range map[string]config.MCPServer{"was not found": missing, "does not exist": nowhere, "has no value yet": secret} {
		b := newFixture(t, nil, cfg)
		b.Ensure(t.Context())
		if st := b.status(); st.State != StateFailed || !strings.Contains(st.Full().String(), want) {
			t.Errorf("%s: it is %s: %q", want, st.State, st.Full())
		}
	}
}

// After waiting for a server, its tools are in the registry: the change is reported before the wait ends.
func TestAStartEndsAfterItsChangeIsReported(t *testing.T) {
	b := newFixture(t, nil, faulty("calls"))
	var reported atomic.Bool
	b.deps.Changed = func(string) {
		if b.status().State == StateReady {
			time.Sleep(50 * time.Millisecond)
			reported.Store(true)
		}
	}
	if err := b.Restart(t.Context(), "bad"); err != nil || b.status().State != StateReady || !reported.Load() {
		t.Errorf("%+v, reported %v, %v", b.status(), reported.Load(), err)
	}
}

// A server that never responds fails after a timeout, and turns wait for it only briefly.
func TestAServerThatNeverAnswers(t *testing.T) {
	b := newFixture(t, nil, faulty("never"))
	b.limits.Start, b.limits.StartWait = 2*time.Second, time.Millisecond
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateStarting {
		t.Errorf("after the turn's time limit it is %s: %s", st.State, st.Full())
	}
	b.until("it failed", func() bool { return b.status().State == StateWaiting })
	if st := b.status(); !strings.Contains(st.Full().String(), "did not answer in time") {
		t.Errorf("state text %q", st.Full())
	}
}

// A server that does not respond to the newer protocol's first request is tried with the older protocol.
func TestAServerThatIgnoresUnknownRequests(t *testing.T) {
	b := newFixture(t, nil, faulty("silent"))
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateReady || st.Protocol != "2025-06-18" {
		t.Errorf("it is %s: %s, protocol %s", st.State, st.Full(), st.Protocol)
	}
}

func TestListsThatMisbehave(t *testing.T) {
	for fault, c := range map[string]struct {
		tools    int
		problems []string
	}{
		"garbage":     {2, nil},
		"loop":        {0, []string{"is endless"}},
		"endless":     {500, []string{"is endless"}},
		"tenthousand": {500, []string{"9500 of them are left out"}},
		"bigschema":   {1, []string{"schema is larger", "description is longer", "no schema", "not an object", "no schema"}},
		"names":       {2, []string{"several tools of this name", "no schema", "several tools of this name", "name that cannot be used", "name that cannot be used", "name that cannot be used", "name that cannot be used"}},
		"flood":       {2, nil},
		"stderr":      {2, nil},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, nil, faulty(fault))
			b.Ensure(t.Context())
			st := b.status()
			if st.State != StateReady || st.Tools != c.tools || len(b.source().Definitions()) != c.tools {
				t.Fatalf("it is %s with %d tools: %s", st.State, st.Tools, st.Full())
			}
			if strings.ContainsRune(st.Title, '\x1b') {
				t.Error("its title contains control characters")
			}
			problems := lists.Map(st.Problems, func(p tools.Problem) string { return p.Message })
			if len(problems) != len(c.problems) {
				t.Fatalf("problems %q", problems)
			}
			for i := range problems {
				if !strings.Contains(problems[i], c.problems[i]) {
					t.Errorf("problem %q, want %q", problems[i], c.problems[i])
				}
			}
			if fault == "names" {
				if _, err := b.call(t.Context(), "t"); !errors.Is(err, tools.ErrNotStarted) {
					t.Errorf("an ambiguous tool was called: %v", err)
				}
				return
			}
			if out, err := b.call(t.Context(), "t"); c.tools == 2 && (err != nil || textOf(out.Content) != "ok") {
				t.Errorf("a call: %q, %v", textOf(out.Content), err)
			}
			if total := len(b.logText()); total > 2*b.limits.LogBytes {
				t.Errorf("its log has %d bytes", total)
			}
		})
	}
}

func TestInvalidLinesAreLogged(t *testing.T) {
	b := newFixture(t, nil, faulty("garbage"))
	b.Ensure(t.Context())
	if log := b.logText(); !strings.Contains(log, "stdout: npm notice") || !strings.Contains(log, `stdout: {"half":`) || !strings.Contains(log, "stdout: [1,2,3]") {
		t.Errorf("the log is\n%s", log)
	}
}

// The outcome of a call is either known or reported as unknown.
func TestCallsThatMisbehave(t *testing.T) {
	for fault, c := range map[string]struct {
		text    string
		isError bool
		err     string // the error text; empty: there is a result
		ended   bool   // the server has to be restarted
		cause   error
	}{
		"fine":             {text: "ok"},
		"structonly":       {text: `{"a":1}`},
		"structured too":   {text: `All is well.|{"failed":true}`},
		"structured twice": {text: `{ "a": 1 }`},
		"nocontent":        {text: ""},
		"refuse":           {text: "The server refused the call: no such argument", isError: true},
		"mixed":            {text: "hello|<image/png>|[an image of a type that cannot be shown, image/svg+xml, 6 bytes]|[audio, audio/wav, 3 bytes: not shown]|[resource: a, file:///a ]|inside|[resource: x://2, application/zip, 3 bytes: not shown]", isError: true},
		"die":              {err: "exit status 3", ended: true},
		"huge":             {err: "more than 16 MiB", ended: true},
		"badid":            {err: "ended while the tool ran", ended: true},
		"mute":             {err: "ended while the tool ran", ended: true},
		"badtype":          {err: "cannot be read", cause: tools.ErrUnreadable},
		"notobject":        {err: "cannot be read", cause: tools.ErrUnreadable},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, nil, faulty(fault))
			out, err := b.call(t.Context(), "t")
			if c.err == "" {
				if err != nil || textOf(out.Content) != c.text || out.IsError != c.isError {
					t.Errorf("%q, error %v, %v", textOf(out.Content), out.IsError, err)
				}
				return
			}
			if err == nil || !strings.Contains(chat.AsError(err).Message, c.err) || errors.Is(err, tools.ErrNotStarted) || c.cause != nil && !errors.Is(err, c.cause) {
				t.Errorf("%v, want %q, and that it may have run", err, c.err)
			}
			if c.ended {
				// Until the rest of it has ended, it is not reported as ready.
				for !errors.Is(err, tools.ErrNotStarted) {
					_, err = b.call(t.Context(), "t")
				}
				if !strings.Contains(chat.AsError(err).Message, "restarted automatically") {
					t.Errorf("the next call: %v", err)
				}
				b.until("the end is noticed", func() bool { return b.status().State == StateWaiting })
			} else if _, err := b.call(t.Context(), "env"); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// A timeout or a cancellation ends a call with an unknown outcome and keeps the server running.
func TestCallsThatAreCutOff(t *testing.T) {
	cfg := faulty("hang")
	b := newFixture(t, nil, cfg)
	b.Ensure(t.Context())
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := b.call(ctx, "t"); ended <- err }()
	cause := errors.New("the person cancelled it")
	cancel(cause)
	if err := <-ended; err == nil || errors.Is(err, tools.ErrNotStarted) && !errors.Is(err, cause) {
		t.Errorf("cancelled: %v", err)
	}
	b.mu.Lock()
	b.servers[0].TimeoutS = 1
	b.mu.Unlock()
	b.Reload()
	b.Ensure(t.Context())
	if _, err := b.call(t.Context(), "t"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, tools.ErrNotStarted) {
		t.Errorf("timed out: %v", err)
	}
	if _, err := b.call(t.Context(), "env"); err != nil {
		t.Errorf("the next call: %v", err)
	}
	if _, err := b.call(t.Context(), "gone"); !errors.Is(err, tools.ErrNotStarted) {
		t.Errorf("a tool that is not offered: %v", err)
	}
}

// A changed definition has another hash, so that it needs to be accepted again.
func TestADefinitionThatChanges(t *testing.T) {
	b := newFixture(t, nil, faulty("changing"))
	b.Ensure(t.Context())
	before := b.source().Definitions()[0].Hash()
	if _, err := b.call(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	b.until("the change is seen", func() bool { return b.source().Definitions()[0].Hash() != before })
	if log := b.logText(); !strings.Contains(log, "It is ready and offers 1 tool.") || !strings.Contains(log, "Its tools changed") {
		t.Errorf("the log is\n%s", b.logText())
	}
}

// A call runs only with the definition for which it was allowed, not with a server that was restarted in between and
// now describes its tool differently.
func TestACallRunsOnlyWithItsDefinition(t *testing.T) {
	cfg := faulty("new at each start")
	starts := filepath.Join(t.TempDir(), "starts")
	cfg.Env["STARTS"] = starts
	b := newFixture(t, nil, cfg)
	b.limits.Backoff, b.limits.MaxBackoff = time.Millisecond, time.Millisecond
	b.Ensure(t.Context())
	allowed := tools.HashOf(b.source().Definitions()[0])
	call := tools.Call{Tool: "t", Definition: allowed}
	die := call
	die.Arguments = json.RawMessage(`{"die":true}`)
	if _, err := b.source().Call(t.Context(), die); err == nil || errors.Is(err, tools.ErrNotStarted) {
		t.Fatalf("it did not die: %v", err)
	}
	b.until("it is restarted", func() bool { all := b.source().Definitions(); return len(all) == 1 && tools.HashOf(all[0]) != allowed })
	if _, err := b.source().Call(t.Context(), call); !errors.Is(err, tools.ErrNotStarted) || !strings.Contains(err.Error(), "definition") {
		t.Errorf("a call for the earlier definition: %v", err)
	}
	if _, err := os.Stat(starts + ".ran"); err == nil {
		t.Error("it ran")
	}
	call.Definition = tools.HashOf(b.source().Definitions()[0])
	if _, err := b.source().Call(t.Context(), call); err != nil {
		t.Errorf("a call for the current definition: %v", err)
	}
}

// person answers questions after some time.
type person struct {
	delay time.Duration
	asked chan struct{}
}

func (p person) Elicit(ctx context.Context, _ Question) (Answer, error) {
	p.asked <- struct{}{}
	select {
	case <-time.After(p.delay):
		return Answer{Action: Accept}, nil
	case <-ctx.Done():
		return Answer{Action: Cancel}, nil
	}
}

// The time limit of a call does not include the time in which its server asks the user. The call can be cancelled
// then too, and an unanswered question is withdrawn.
func TestTheTimeLimitExcludesQuestions(t *testing.T) {
	cfg := faulty("asks")
	cfg.TimeoutS = 1
	user := person{1500 * time.Millisecond, make(chan struct{}, 10)}
	b := newFixture(t, user, cfg)
	b.Ensure(t.Context())
	held, released := 0, 0
	hold := func() func() { held++; return func() { released++ } }
	out, err := b.source().Call(t.Context(), tools.Call{Tool: "t", Hold: hold})
	if err != nil || textOf(out.Content) != "thanks" || held != 1 || released != 1 {
		t.Errorf("%q, %v; paused %d times, resumed %d times", textOf(out.Content), err, held, released)
	}
	<-user.asked
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-user.asked; cancel(errors.New("the person cancelled it")) }()
	if _, err := b.call(ctx, "t"); err == nil || !strings.Contains(err.Error(), "the person cancelled it") {
		t.Errorf("cancelled while it asks: %v", err)
	}

	silent := newFixture(t, person{time.Hour, make(chan struct{}, 10)}, faulty("asks"))
	silent.limits.Ask = 50 * time.Millisecond
	if out, err := silent.call(t.Context(), "t"); err != nil || textOf(out.Content) != "thanks" {
		t.Errorf("without an answer: %q, %v", textOf(out.Content), err)
	}
}

// No notification about changed tools is missed, whether it comes while the tools are being listed again or before the
// server was ready. If the tools cannot be listed, the old ones are no longer offered.
func TestNoChangeOfToolsIsMissed(t *testing.T) {
	described := func(b *fixture) string {
		if all := b.source().Definitions(); len(all) == 1 {
			return all[0].Description
		}
		return "nothing"
	}
	for fault, want := range map[string]string{"changing again": "the list of time 3", "changing early": "the list of time 2", "changing badly": "nothing"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, nil, faulty(fault))
			b.Ensure(t.Context())
			if fault != "changing early" {
				if _, err := b.call(t.Context(), "t"); err != nil {
					t.Fatal(err)
				}
			}
			b.until(want, func() bool { return described(b) == want })
		})
	}
}

func TestProgressIsPassedOnAndBounded(t *testing.T) {
	b := newFixture(t, nil, faulty("progress"))
	var mu sync.Mutex
	var seen []tools.Progress
	returned := false
	_, err := b.source().Call(t.Context(), tools.Call{Tool: "t", Progress: func(p tools.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if returned {
			t.Error("progress after the call's end")
		}
		seen = append(seen, p)
	}})
	mu.Lock()
	defer mu.Unlock()
	returned = true
	if err != nil || len(seen) == 0 || len(seen) > 900 || strings.ContainsRune(seen[0].Message, '\x1b') {
		t.Errorf("%d reports, %v", len(seen), err)
	}
}

// A server's secret reaches no other server and no log, error or status; no server gets keys from the program's own
// environment.
func TestSecretsReachOnlyTheirServer(t *testing.T) {
	const canary = "canary-93f1 with space"
	owner, other := faulty("secret"), faulty("fine")
	owner.Env["TOKEN"] = "${secret:TOKEN}"
	owner.Args = []string{"--key", "${secret:TOKEN}"}
	other.Name = "other"
	b := newFixture(t, nil, owner, other)
	b.secrets["bad/TOKEN"] = canary
	b.Ensure(t.Context())
	out, err := b.source().Call(t.Context(), tools.Call{Tool: "env"})
	if err != nil || !strings.Contains(textOf(out.Content), "TOKEN=[redacted]") || strings.Contains(textOf(out.Content), "canary-93f1") {
		t.Fatalf("the server did not get its secret, or the result contains it: %v", err)
	}
	out, err = b.source().Call(t.Context(), tools.Call{Tool: "t"})
	if err != nil || !out.IsError || textOf(out.Content) != "The server refused the call: not with [redacted]" {
		t.Errorf("a refusal: %q, %v", textOf(out.Content), err)
	}
	if ps := b.Prompts(t.Context()); len(ps) != 2 || ps[0].Description != "uses [redacted]" {
		t.Errorf("prompts %+v", ps)
	}
	if rs := b.Resources(t.Context()); len(rs) != 2 || rs[0].Description != "uses [redacted]" {
		t.Errorf("resources %+v", rs)
	}
	if strings.Contains(textOf(out.Content), "sk-canary") {
		t.Error("the program's key reached a server")
	}
	out, err = b.Sources()[1].Call(t.Context(), tools.Call{Tool: "env"})
	if err != nil || strings.Contains(textOf(out.Content), "canary") {
		t.Errorf("another server's environment: %v", err)
	}
	b.until("both lines are logged", func() bool { return strings.Count(b.logText(), "[redacted]") >= 2 })
	if strings.Contains(b.logText(), "canary") || strings.Contains(fmt.Sprintf("%+v", b.Statuses()), "canary") {
		t.Errorf("the secret is in the log or in the state:\n%s", b.logText())
	}
}

// A secret that JSON or base64 encodes differently is removed from definitions, results and the log too; JSON stays
// valid JSON.
func TestSecretsInOtherForms(t *testing.T) {
	const canary = `canary-"93f1"\<ö>-canary`
	cfg := faulty("telling")
	cfg.Env["TOKEN"] = "${secret:TOKEN}"
	b := newFixture(t, nil, cfg)
	b.secrets["bad/TOKEN"] = canary
	b.Ensure(t.Context())
	expectRedacted := func(part, text string) {
		t.Helper()
		if strings.Contains(text, "93f1") || strings.Contains(text, "Y2FuYXJ5") || !strings.Contains(text, "[redacted]") {
			t.Errorf("%s: %s", part, text)
		}
	}
	all := b.source().Definitions()
	if len(all) != 2 {
		t.Fatalf("it offers %+v", all)
	}
	d := all[0]
	expectRedacted("the description", d.Description)
	expectRedacted("the annotations", string(d.Annotations))
	var schema struct {
		Title      string
		Properties map[string]struct {
			Description, Default string
			Enum                 []string
		}
	}
	if err := json.Unmarshal(d.Schema, &schema); err != nil || schema.Properties["key"].Enum[1] != "[redacted]" || schema.Properties["key"].Default != "[redacted]" {
		t.Errorf("the schema is %s: %v", d.Schema, err)
	}
	expectRedacted("the schema", string(d.Schema))
	for _, tool := range []string{"t", "structured"} {
		out, err := b.call(t.Context(), tool)
		if err != nil {
			t.Fatal(err)
		}
		expectRedacted("the result of "+tool, textOf(out.Content))
		if tool == "structured" && !json.Valid([]byte(textOf(out.Content))) {
			t.Errorf("not JSON: %s", textOf(out.Content))
		}
	}
	b.until("it is logged", func() bool { return strings.Contains(b.logText(), "info:") })
	expectRedacted("the log", b.logText())
}

// The processes that a server started end with it, even if they ignore signals.
func TestNoProcessIsLeft(t *testing.T) {
	for _, fault := range []string{"orphan", "stubborn"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			cfg := faulty(fault)
			cfg.Env["PIDS"] = pids
			cfg.Command, cfg.Args = "sh", []string{"-c", `"$0"; true`, os.Args[0]} // a shell that starts the server, as npx does
			b := newFixture(t, nil, cfg)
			b.Ensure(t.Context())
			if st := b.status(); st.State != StateReady {
				t.Fatalf("it is %s: %s\n%s", st.State, st.Full(), b.logText())
			}
			raw, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			var own, grandchild int
			if _, err := fmt.Sscan(string(raw), &own, &grandchild); err != nil || !alive(own) || !alive(grandchild) {
				t.Fatalf("%s: %v", raw, err)
			}
			b.Stop()
			b.Stop()
			deadline := time.Now().Add(testTimeout)
			for alive(own) || alive(grandchild) {
				if time.Now().After(deadline) {
					t.Fatal("a process is still running")
				}
				time.Sleep(10 * time.Millisecond)
			}
			if _, err := b.call(t.Context(), "t"); !errors.Is(err, tools.ErrNotStarted) {
				t.Errorf("a call after the end: %v", err)
			}
		})
	}
}

// hostEnv turns the test binary into a program with a server, which is then killed.
const hostEnv = "MCP_TEST_HOST"

func host(fault string) {
	cfg := faulty(fault)
	cfg.Env["PIDS"] = os.Getenv("PIDS")
	cfg.Command, cfg.Args = "sh", []string{"-c", `"$0"; true`, os.Args[0]}
	m := NewManager(Deps{
		Servers: func() []config.MCPServer { return []config.MCPServer{cfg} }, Secret: func(string, string) (string, bool) { return "", false },
		Environ: os.Environ, Getenv: os.Getenv, Limits: Limits{StartWait: testTimeout},
	})
	m.Ensure(context.Background())
	_ = os.WriteFile(os.Getenv("PIDS")+".ready", nil, 0o600)
	time.Sleep(10 * time.Minute)
}

// The processes that a server started also end when the program is killed, even if they ignore the end of their input
// and all signals.
func TestNoProcessOutlivesAKill(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), hostEnv+"=stubborn", "PIDS="+pids)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(testTimeout)
	until := func(failure string, ok func() bool) {
		t.Helper()
		for !ok() {
			if time.Now().After(deadline) {
				t.Fatal(failure)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	until("the server is not ready", func() bool { _, err := os.Stat(pids + ".ready"); return err == nil })
	raw, err := os.ReadFile(pids)
	var own, grandchild int
	if _, serr := fmt.Sscan(string(raw), &own, &grandchild); err != nil || serr != nil || !alive(own) || !alive(grandchild) {
		t.Fatalf("%s: %v %v", raw, err, serr)
	}
	_ = program.Process.Kill()
	_ = program.Wait()
	until("a process is still running", func() bool { return !alive(own) && !alive(grandchild) })
}

func TestAServerIsRestartedUntilItHasFailedTooOften(t *testing.T) {
	b := newFixture(t, nil, faulty("exit"))
	b.limits.Backoff, b.limits.MaxBackoff = time.Millisecond, time.Millisecond
	b.Ensure(t.Context())
	b.until("it is no longer restarted", func() bool { return b.status().State == StateFailed })
	if n := strings.Count(b.logText(), "It is starting."); n != 5 {
		t.Errorf("it was started %d times", n)
	}
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateFailed || !strings.Contains(st.Full().String(), "restart it") {
		t.Errorf("a turn started it again: %s, %q", st.State, st.Full())
	}
	b.mu.Lock()
	b.servers[0] = faulty("fine")
	b.mu.Unlock()
	b.Reload()
	if _, err := b.call(t.Context(), "t"); err != nil {
		t.Errorf("with other settings: %v", err)
	}
	if err := b.Restart(t.Context(), "bad"); err != nil || b.status().State != StateReady {
		t.Errorf("restarted: %v, %s", err, b.status().State)
	}
	b.mu.Lock()
	b.servers[0].Enabled = false
	b.mu.Unlock()
	b.Reload()
	if st := b.status(); st.State != StateOff || len(b.Sources()) != 0 || b.Restart(t.Context(), "bad") == nil {
		t.Errorf("switched off it is %s", st.State)
	}
}

// A server that failed because a secret was missing starts once the secret is set.
func TestASecretThatIsSetLater(t *testing.T) {
	cfg := faulty("fine")
	cfg.Env["TOKEN"] = "${secret:TOKEN}"
	b := newFixture(t, nil, cfg)
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateFailed {
		t.Fatalf("it is %s", st.State)
	}
	b.mu.Lock()
	b.secrets["bad/TOKEN"] = "there now"
	b.mu.Unlock()
	b.Reset("bad")
	if _, err := b.call(t.Context(), "t"); err != nil || b.status().State != StateReady {
		t.Errorf("%v, it is %s", err, b.status().State)
	}
	b.mu.Lock()
	b.secrets["bad/TOKEN"] = "two" // too short to be redacted
	b.mu.Unlock()
	b.Reset("bad")
	out, err := b.call(t.Context(), "env")
	if err != nil || !strings.Contains(textOf(out.Content), "TOKEN=two") {
		t.Errorf("with another secret: %v", err)
	}
}

func TestPromptsAndResources(t *testing.T) {
	b := newFixture(t, nil, faulty("fine"))
	if ps := b.Prompts(t.Context()); len(ps) != 1 || ps[0].Name != "greet" || len(ps[0].Arguments) != 1 || !ps[0].Arguments[0].Required {
		t.Errorf("prompts %+v", ps)
	}
	if rs := b.Resources(t.Context()); len(rs) != 1 || rs[0].URI != "mem://a" {
		t.Errorf("resources %+v", rs)
	}
	if _, err := b.GetPrompt(t.Context(), "bad", "greet", nil); chat.CodeOf(err) != chat.CodeProvider {
		t.Errorf("a prompt that is refused: %v", err)
	}
	if _, err := b.ReadResource(t.Context(), "nobody", "x"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a server that is not configured: %v", err)
	}
}

// A server whose settings have an error is not started, and says why.
func TestAServerWithAConfigurationErrorIsNotStarted(t *testing.T) {
	m := NewManager(Deps{
		Servers: func() []config.MCPServer {
			return []config.MCPServer{{Name: "notes", Enabled: true, Command: "cat", Fault: "mcp.servers.notes.args must be a list"}}
		},
	})
	defer m.Stop()
	want := "Its configuration has an error: mcp.servers.notes.args must be a list."
	if st := m.Statuses()[0]; st.State != StateFailed || st.LastError.String() != want {
		t.Errorf("%+v", st)
	}
	if _, err := m.Sources()[0].(*server).ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
