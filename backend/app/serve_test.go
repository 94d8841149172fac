package app

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/handover"
	"contextinfinity/backend/store"
)

// lazily leaves turns pending until somebody asks, so that a program that runs
// all the time does nothing that a verb alone would not.
const lazily = "[librarian]\ncommit = \"lazy\"\nmin_turns = 50\n\n[budget]\npending_window_tokens = 40000\n\n"

// host is a conversation in a terminal that has the data open and serves others.
type host struct {
	*process
	stdin io.WriteCloser
}

func (h *home) host(args ...string) *host {
	h.t.Helper()
	in, stdin, err := os.Pipe() // not one of this process: nobody would close it for a killed reader
	if err != nil {
		h.t.Fatal(err)
	}
	p := &host{h.start(in, append([]string{"chat"}, args...)...), stdin}
	_ = in.Close()
	h.t.Cleanup(func() { _ = stdin.Close() })
	p.await("it had the data open", p.err, func(s string) bool { return strings.Contains(s, "/help") })
	return p
}

// leave ends the conversation in order.
func (p *host) leave() {
	p.t.Helper()
	_ = p.stdin.Close()
	p.wait().exits(0)
}

// masked replaces what differs from one run to another: ids, hashes and times.
func masked(s string) string {
	for pattern, with := range map[string]string{
		`\b[a-z]*_?[0-9A-HJKMNP-TV-Z]{26}\b`: "ID",
		`(head #[0-9]+) [0-9A-Z]{4}\b`:       "$1 ID",
		`"[0-9]{4}-[0-9T:.Z+-]+"`:            "TIME",
		`\b[0-9a-f]{16,}\b`:                  "HASH",
		`"jobs_run":[0-9]+`:                  "RUN", // a program that runs all the time has done some already
	} {
		s = regexp.MustCompile(pattern).ReplaceAllString(s, with)
	}
	return s
}

// seeded is a home with one session of two turns, made without anybody else, and
// what verbs are told of it.
func seeded(t *testing.T, config string) (h *home, session string, turns []string) {
	t.Helper()
	h = newHome(t, shipped(t), config)
	session = h.ok("send", "--new", "--json", "We deploy Orders on Sunday.").sent().SessionID
	h.ok("send", "--json", "Never on a Friday.")
	for _, turn := range h.show(session).Turns {
		turns = append(turns, turn.ID)
	}
	write(t, filepath.Join(h.dir, "notes", "plan.md"), []byte("# Plan\n\nThe window is at 05:00.\n"))
	return h, session, turns
}

// copyOf is a home like h, of which nothing is running.
func copyOf(t *testing.T, h *home) *home {
	t.Helper()
	c := newHome(t, h.bin, "")
	if err := os.CopyFS(c.dir, os.DirFS(h.dir)); err != nil {
		t.Fatal(err)
	}
	return c
}

// A verb says the same and ends with the same code whether it opens the data
// itself or a running program carries it out.
func TestAVerbIsCarriedOutAsItWouldBeAlone(t *testing.T) {
	t.Parallel()
	seed, session, turns := seeded(t, lazily)
	for name, verb := range map[string]struct {
		stdin string
		args  []string // SESSION and TURN stand for what there is
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
		"job":                {args: []string{"jobs", "kill", "999"}, code: 1},
		"pause":              {args: []string{"jobs", "pause", "--json"}},
		"chat":               {stdin: "And when not?\n/pins\n", args: []string{"chat", "--session", "SESSION"}},
		"backup":             {args: []string{"backup", "copy.db", "--json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said [2]result
			for i, served := range []bool{false, true} {
				h := copyOf(t, seed)
				var other *host
				if served {
					other = h.host()
				}
				args := append([]string{}, verb.args...)
				for j, a := range args {
					args[j] = strings.NewReplacer("SESSION", session, "TURN", turns[0]).Replace(a)
				}
				said[i] = h.runIn(verb.stdin, args...).exits(verb.code)
				if served {
					other.leave()
				}
				said[i].stdout = strings.ReplaceAll(said[i].stdout, h.dir, "HOME")
				h.clean()
			}
			alone, carried := said[0], said[1]
			if masked(alone.stdout) != masked(carried.stdout) {
				t.Errorf("stdout alone:\n%s\ncarried out:\n%s", masked(alone.stdout), masked(carried.stdout))
			}
			if masked(alone.stderr) != masked(carried.stderr) {
				t.Errorf("stderr alone:\n%s\ncarried out:\n%s", masked(alone.stderr), masked(carried.stderr))
			}
		})
	}
}

// The answer streams to the caller, whose Ctrl-C stops it in the program that
// receives it.
func TestCtrlCStopsTheAnswerThere(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, anthropicWire.saying(false, "One ", "two ")...)
	h := newHome(t, shipped(t), anthropicWire.model("held", server.url))
	other := h.host()
	p := h.start(nil, "send", "--new", "--model", "held", "Count.")
	p.awaitOutput("One two")
	p.interrupt()
	r := p.wait().exits(1)
	if strings.TrimSpace(r.stdout) != "One two" || !strings.Contains(r.stderr, "stopping") || !strings.Contains(r.stderr, "kept as the answer") {
		t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
	}
	if turn := h.only(h.lastSession()); turn.Outcome != chat.OutcomeStopped || turn.text() != "One two " {
		t.Errorf("the turn is %+v", turn)
	}
	other.leave()
	h.clean()
}

// The program that carries a verb out dies in the middle: the caller is told so,
// with one document, and what had arrived is recovered as ever.
func TestTheHolderIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, openaiWire.saying(false, "Half.")...)
	h := newHome(t, shipped(t), openaiWire.model("held", server.url))
	other := h.host()
	words := h.start(nil, "send", "--new", "--model", "held", "First.")
	words.awaitOutput("Half.")
	document := h.start(nil, "send", "--new", "--json", "--model", "held", "Second.")
	events := h.start(nil, "send", "--new", "--events", "--model", "held", "Third.")
	events.awaitOutput("Half.")
	for range 3 {
		<-server.asked
	}
	other.kill()
	if r := words.wait().exits(1); !strings.HasPrefix(r.stdout, "Half.") || !strings.Contains(r.stderr, "is stored") {
		t.Errorf("stdout %q, stderr %q", r.stdout, r.stderr)
	}
	if f := document.wait().fails(1, chat.CodeUnavailable); f.Hint == "" {
		t.Errorf("%+v", f)
	}
	told := strings.Split(strings.TrimSpace(events.wait().exits(1).stdout), "\n")
	first, last := told[0], told[len(told)-1]
	if !strings.Contains(first, `"event":"accepted"`) || !strings.Contains(last, `"event":"settled","error":{"code":"unavailable"`) {
		t.Errorf("the events begin with %s and end with %s", first, last)
	}
	// What it left of itself, socket and lock, is in nobody's way.
	h.ok("reconcile")
	if turn := h.show(h.lastSession()).Turns; len(turn) != 1 {
		t.Errorf("%d turns", len(turn))
	}
	h.clean()
}

// The program that carries a verb out is left: its verbs end as they would by
// SIGTERM, and what had arrived is kept.
func TestTheHolderLeavesInTheMiddle(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, chatWire.saying(false, "Half.")...)
	h := newHome(t, shipped(t), chatWire.model("held", server.url))
	other := h.host()
	p := h.start(nil, "send", "--new", "--model", "held", "First.")
	p.awaitOutput("Half.")
	other.leave()
	if r := p.wait().exits(1); !strings.Contains(r.stderr, "error: ") {
		t.Errorf("stderr %q", r.stderr)
	}
	if turn := h.only(h.lastSession()); turn.Partial == nil || *turn.Partial != "Half." {
		t.Errorf("the turn is %+v", turn)
	}
	if left := store.WriterAddress(h.dataDir()); left != "" {
		t.Errorf("the lock still tells of %q", left)
	}
	h.clean()
}

// A verb that reads no input takes nothing of it from the script it stands in.
func TestAVerbLeavesInputThatItDoesNotRead(t *testing.T) {
	t.Parallel()
	h, session, _ := seeded(t, lazily)
	other := h.host()
	in, err := os.CreateTemp(t.TempDir(), "facts")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	_, _ = io.WriteString(in, "not for pin")
	_, _ = in.Seek(0, io.SeekStart)
	h.start(in, "pin", session, "a fact").wait().exits(0)
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "not for pin" {
		t.Errorf("the input has %q left (%v)", rest, err)
	}
	other.leave()
}

// Who is configured otherwise would get another answer than alone: refused.
func TestAnotherConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	h, session, _ := seeded(t, "")
	other := h.host()
	elsewhere := filepath.Join(t.TempDir(), "other.toml")
	write(t, elsewhere, []byte("[general]\ndefault_model = \"recall\"\n"))
	f := h.run("pin", session, "a fact", "--config", elsewhere, "--json").fails(1, chat.CodeConflict)
	if !strings.Contains(f.Message, elsewhere) || !strings.Contains(f.Message, h.configFile()) {
		t.Errorf("%+v", f)
	}
	other.leave()
}

// Bytes that are no frames end their own connection and nothing else.
func TestHostileBytesOnTheSocket(t *testing.T) {
	t.Parallel()
	h, session, _ := seeded(t, "")
	other := h.host()
	address := store.WriterAddress(h.dataDir())
	if info, err := os.Stat(address); err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Fatalf("the socket %q: %v %v", address, info, err)
	}
	if want, err := handover.Address(h.dataDir()); err != nil || want != address {
		t.Errorf("the lock names %q, the directory's address is %q (%v)", address, want, err)
	}
	for i, bytes := range []string{"", "GET / HTTP/1.1\r\n\r\n", "\xff\xff\xff\xff", "\x00\x00\x00\x02{}", "\x00\x00\x00\x05hello", strings.Repeat("\x00", 1<<16)} {
		throwBytes(t, address, bytes)
		h.ok("pin", session, fmt.Sprintf("fact %d", i))
	}
	other.leave()
	h.clean()
}

// throwBytes sends bytes and waits until the other end has closed.
func throwBytes(t *testing.T, address, bytes string) {
	t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, bytes) // it may be closed before it has read all
	_ = c.CloseWrite()
	_, _ = io.Copy(io.Discard, c)
}
