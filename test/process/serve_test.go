package process

import (
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ipc"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// lazyConfig leaves turns pending until a command requests background work, so that a program that keeps running does
// no more work than a single command.
const lazyConfig = "[librarian]\ncommit = \"lazy\"\nmin_turns = 50\n\n[budget]\npending_window_tokens = 40000\n\n"

// masked replaces the parts that differ between runs: ids, hashes and times.
func masked(s string) string {
	for pattern, with := range map[string]string{
		`\b[a-z]*_?[0-9A-HJKMNP-TV-Z]{26}\b`: "ID",
		`(head #[0-9]+) [0-9A-Z]{4}\b`:       "$1 ID",
		`"[0-9]{4}-[0-9T:.Z+-]+"`:            "TIME",
		`\b[0-9a-f]{16,}\b`:                  "HASH",
		`"jobs_run":[0-9]+`:                  "RUN", // a program that keeps running has already done some
	} {
		s = regexp.MustCompile(pattern).ReplaceAllString(s, with)
	}
	return s
}

// newSeededHome returns a home with one session of two turns, created by single commands.
func newSeededHome(t *testing.T, config string) (h *harness.Home, session string, turns []string) {
	t.Helper()
	h = harness.NewHome(t, harness.Shipped(t), config)
	session = h.OK("send", "--new", "--json", "We deploy Orders on Sunday.").Sent().SessionID
	h.OK("send", "--json", "Never on a Friday.")
	for _, turn := range h.Show(session).Turns {
		turns = append(turns, turn.ID)
	}
	harness.WriteFile(t, filepath.Join(h.Dir, "notes", "plan.md"), []byte("# Plan\n\nThe window is at 05:00.\n"))
	return h, session, turns
}

// copyOf returns a copy of a home in which nothing runs.
func copyOf(t *testing.T, h *harness.Home) *harness.Home {
	t.Helper()
	c := harness.NewHome(t, h.Bin, "")
	if err := os.CopyFS(c.Dir, os.DirFS(h.Dir)); err != nil {
		t.Fatal(err)
	}
	return c
}

// A command prints the same and exits with the same code, whether it opens the data itself or a running program executes
// it. The everyday form tries nine of them.
func TestAForwardedCommandBehavesLikeADirectOne(t *testing.T) {
	t.Parallel()
	seed, session, turns := newSeededHome(t, lazyConfig)
	verbs := map[string]struct {
		stdin string
		args  []string // SESSION and TURN are replaced by existing ones
		code  int
	}{
		"send":               {args: []string{"send", "When do we deploy?"}},
		"send json":          {args: []string{"send", "When do we deploy?", "--json", "--wait", "indexed"}},
		"send piped":         {stdin: "When do we\ndeploy Orders? größer \x01", args: []string{"send", "-"}},
		"send attached":      {args: []string{"send", "What is the plan?", "--attach", "notes/plan.md"}},
		"send, no UTF-8":     {args: []string{"send", "\xff\xfe"}, code: 1},
		"send, no id":        {args: []string{"send", "--session", "nothing", "hi"}, code: 2},
		"send, wrong flag":   {args: []string{"send", "--session", "a", "--new", "hi"}, code: 2},
		"pin":                {args: []string{"pin", "SESSION", "Never on a Friday"}},
		"pin json":           {args: []string{"pin", "SESSION", "Never on a Friday", "--json"}},
		"fork":               {args: []string{"fork", "TURN", "--label", "what if"}},
		"fork json":          {args: []string{"fork", "TURN", "--json"}},
		"commit":             {args: []string{"commit", "SESSION"}},
		"commit json":        {args: []string{"commit", "SESSION", "--json"}},
		"rename":             {args: []string{"sessions", "rename", "SESSION", "Orders"}},
		"keep what is final": {args: []string{"keep", "TURN", "--json"}, code: 1},
		"retry":              {args: []string{"retry", "TURN"}},
		"reconcile":          {args: []string{"reconcile", "--json"}},
		"job":                {args: []string{"jobs", "dismiss", "999"}, code: 1},
		"pause":              {args: []string{"jobs", "pause", "--json"}},
		"chat":               {stdin: "And when not?\n/pins\n", args: []string{"chat", "--session", "SESSION"}},
		"backup":             {args: []string{"backup", "copy.db", "--json"}},
	}
	for _, name := range testtier.Sample(slices.Sorted(maps.Keys(verbs)), 9) {
		verb := verbs[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var results [2]harness.Result
			for i, served := range []bool{false, true} {
				h := copyOf(t, seed)
				var other *harness.Host
				if served {
					other = h.Host()
				}
				args := append([]string{}, verb.args...)
				for j, a := range args {
					args[j] = strings.NewReplacer("SESSION", session, "TURN", turns[0]).Replace(a)
				}
				results[i] = h.RunIn(verb.stdin, args...).Exits(verb.code)
				if served {
					other.Leave()
				}
				results[i].Stdout = strings.ReplaceAll(results[i].Stdout, h.Dir, "HOME")
				h.Clean()
			}
			direct, forwarded := results[0], results[1]
			if masked(direct.Stdout) != masked(forwarded.Stdout) {
				t.Errorf("stdout without the host:\n%s\nwith it:\n%s", masked(direct.Stdout), masked(forwarded.Stdout))
			}
			if masked(direct.Stderr) != masked(forwarded.Stderr) {
				t.Errorf("stderr without the host:\n%s\nwith it:\n%s", masked(direct.Stderr), masked(forwarded.Stderr))
			}
		})
	}
}

// The answer streams to the calling process, and Ctrl-C there stops it in the program that receives it.
func TestCtrlCStopsAForwardedAnswer(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.AnthropicWire.TextStream(false, "One ", "two ")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.AnthropicWire.Model("held", server.URL))
	other := h.Host()
	p := h.Start(nil, "send", "--new", "--model", "held", "Count.")
	p.AwaitOutput("One two")
	p.Interrupt()
	r := p.Wait().Exits(1)
	if strings.TrimSpace(r.Stdout) != "One two" || !strings.Contains(r.Stderr, "stopping") || !strings.Contains(r.Stderr, "kept as the answer") {
		t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
	}
	if turn := h.Only(h.LastSession()); turn.Outcome != chat.OutcomeStopped || turn.Text() != "One two " {
		t.Errorf("the turn is %+v", turn)
	}
	other.Leave()
	h.Clean()
}

// If the program that runs a command for another process is killed, the caller gets an error as one document, and the
// text that had arrived is recovered as usual.
func TestTheServingProgramIsKilled(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.OpenAIWire.TextStream(false, "Half.")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.OpenAIWire.Model("held", server.URL))
	other := h.Host()
	words := h.Start(nil, "send", "--new", "--model", "held", "First.")
	words.AwaitOutput("Half.")
	document := h.Start(nil, "send", "--new", "--json", "--model", "held", "Second.")
	events := h.Start(nil, "send", "--new", "--events", "--model", "held", "Third.")
	events.AwaitOutput("Half.")
	for range 3 {
		<-server.Asked
	}
	other.Kill()
	if r := words.Wait().Exits(1); !strings.HasPrefix(r.Stdout, "Half.") || !strings.Contains(r.Stderr, "confirmed are stored") {
		t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
	}
	if f := document.Wait().Fails(1, chat.CodeUnavailable); f.Hint == "" {
		t.Errorf("%+v", f)
	}
	lines := strings.Split(strings.TrimSpace(events.Wait().Exits(1).Stdout), "\n")
	first, last := lines[0], lines[len(lines)-1]
	if !strings.Contains(first, `"event":"accepted"`) || !strings.Contains(last, `"event":"settled","error":{"code":"unavailable"`) {
		t.Errorf("the events begin with %s and end with %s", first, last)
	}
	// The remaining socket and lock block nothing.
	h.OK("reconcile")
	if turn := h.Show(h.LastSession()).Turns; len(turn) != 1 {
		t.Errorf("%d turns", len(turn))
	}
	h.Clean()
}

// If the program that runs a command for another process is closed, the command ends as after SIGTERM, and the text that
// had arrived is kept.
func TestTheServingProgramIsClosed(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.ChatWire.TextStream(false, "Half.")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.ChatWire.Model("held", server.URL))
	other := h.Host()
	p := h.Start(nil, "send", "--new", "--model", "held", "First.")
	p.AwaitOutput("Half.")
	other.Leave()
	if r := p.Wait().Exits(1); !strings.Contains(r.Stderr, "error: ") {
		t.Errorf("stderr %q", r.Stderr)
	}
	if turn := h.Only(h.LastSession()); turn.Partial == nil || *turn.Partial != "Half." {
		t.Errorf("the turn is %+v", turn)
	}
	if address := store.WriterAddress(h.DataDir()); address != "" {
		t.Errorf("the lock still names %q", address)
	}
	h.Clean()
}

// A command that reads no input does not consume the input of the script that runs it.
func TestACommandLeavesInputThatItDoesNotRead(t *testing.T) {
	t.Parallel()
	h, session, _ := newSeededHome(t, lazyConfig)
	other := h.Host()
	in, err := os.CreateTemp(t.TempDir(), "facts")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	_, _ = io.WriteString(in, "not for pin")
	_, _ = in.Seek(0, io.SeekStart)
	h.Start(in, "pin", session, "a fact").Wait().Exits(0)
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "not for pin" {
		t.Errorf("%q of the input remain (%v)", rest, err)
	}
	other.Leave()
}

// A command with another configuration is refused, because the running program would execute it with its own.
func TestAnotherConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	h, session, _ := newSeededHome(t, "")
	other := h.Host()
	elsewhere := filepath.Join(t.TempDir(), "other.toml")
	harness.WriteFile(t, elsewhere, []byte("[general]\ndefault_model = \"recall\"\n"))
	f := h.Run("pin", session, "a fact", "--config", elsewhere, "--json").Fails(1, chat.CodeConflict)
	if !strings.Contains(f.Message, elsewhere) || !strings.Contains(f.Message, h.ConfigFile()) {
		t.Errorf("%+v", f)
	}
	other.Leave()
}

// A connection that sends invalid frames is closed, and others are not affected.
func TestHostileBytesOnTheSocket(t *testing.T) {
	t.Parallel()
	h, session, _ := newSeededHome(t, "")
	other := h.Host()
	address := store.WriterAddress(h.DataDir())
	if info, err := os.Stat(address); err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Fatalf("the socket %q: %v %v", address, info, err)
	}
	if want, err := ipc.Address(h.DataDir()); err != nil || want != address {
		t.Errorf("the lock names %q, the directory's address is %q (%v)", address, want, err)
	}
	for i, bytes := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\xff", "\x00\x00\x00\x02{}", "\x00\x00\x00\x05hello", strings.Repeat("\x00", 1<<16)} {
		sendRaw(t, address, bytes)
		h.OK("pin", session, fmt.Sprintf("fact %d", i))
	}
	other.Leave()
	h.Clean()
}

// sendRaw sends bytes and waits until the other end has closed the connection.
func sendRaw(t *testing.T, address, bytes string) {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, bytes) // the connection may be closed before all is read
	_ = c.CloseWrite()
	_, _ = io.Copy(io.Discard, c)
}
