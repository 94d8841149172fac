package cli_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

func TestSendStreamsTheStoredText(t *testing.T) {
	t.Parallel()
	answers := map[string]struct {
		answer answer
		want   string
	}{
		"one block": {say("Hello", ", ", "world"), "Hello, world"},
		"blocks are separated by an empty line": {
			answer{events: []string{ev("text", 0, "one"), ev("text", 2, "two"), ev("text", 2, "!"), ev("done", 0, "")}}, "one\n\ntwo!",
		},
		"reasoning is not shown": {
			answer{events: []string{ev("reasoning", 0, "hm"), ev("text", 1, "yes"), ev("done", 0, "")}}, "yes",
		},
		"a refusal is printed": {
			answer{events: []string{ev("refusal", 0, "I would rather not"), ev("refused", 0, "")}}, "I would rather not",
		},
		"control characters stay exact in a pipe": {say("a\x1b[31mb\r\n"), "a\x1b[31mb\r\n"},
		"multi-byte text in pieces":               {say("Grüße, ", "世界 ", "👩‍👩‍👧"), "Grüße, 世界 👩‍👩‍👧"},
	}
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.provider.script(c.answer)
			r := h.run("send", "--new", "hi").exits(0)
			if r.out != c.want+"\n" {
				t.Errorf("stdout %q, want %q", r.out, c.want+"\n")
			}
			turns := h.onlySession().Turns
			if got := turns[0].Assistant.RenderedText(); got != c.want {
				t.Errorf("stored %q", got)
			}
		})
	}
}

// onlySession shows the only session.
func (h *home) onlySession() shown {
	h.t.Helper()
	var list struct {
		Sessions []struct {
			ID    string `json:"session_id"`
			Title string
			Turns int
		}
	}
	h.run("sessions", "--json").exits(0).into(&list)
	if len(list.Sessions) != 1 {
		h.t.Fatalf("%d sessions", len(list.Sessions))
	}
	return h.show(list.Sessions[0].ID)
}

func TestSendReportsOutOfOrderParts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(answer{events: []string{ev("text", 0, "a"), ev("text", 1, "b"), ev("text", 0, "c"), ev("done", 0, "")}})
	r := h.run("send", "--new", "hi").exits(0)
	if !strings.Contains(r.err, "out of order") {
		t.Errorf("stderr %q", r.err)
	}
}

func TestSendJSON(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(say("the ", "answer"))
	s := h.send("--new", "What is it?")
	if s.Text != "the answer" || s.Phase != "ResponseFinalized" || s.Outcome != "completed" || s.Seq != 1 ||
		s.Attempts != 1 || s.Model != "test" || s.Provider != "chatcompletions" || s.Usage == nil || s.Usage.OutputTokens != 5 {
		t.Errorf("%+v", s)
	}
	shown := h.show(s.SessionID)
	if shown.Session.Title != "What is it?" || shown.Turns[0].ID != s.TurnID || shown.Turns[0].User.RenderedText() != "What is it?" {
		t.Errorf("%+v", shown)
	}
	if again := h.send("And then?"); again.SessionID != s.SessionID || again.Seq != 2 {
		t.Errorf("the next message went to %+v", again)
	}
	if other := h.send("--new", "Another"); other.SessionID == s.SessionID {
		t.Error("--new continued the old session")
	}
	if back := h.send("--session", s.SessionID[16:], "Back"); back.SessionID != s.SessionID {
		t.Error("--session by the end of its id did not find it")
	}
}

func TestSendWait(t *testing.T) {
	t.Parallel()
	for wait, phase := range map[string]string{"finalized": "ResponseFinalized", "committed": "StateCommitted", "indexed": "Done"} {
		t.Run(wait, func(t *testing.T) {
			t.Parallel()
			if s := newHome(t).send("--new", "--wait", wait, "hi"); s.Phase != phase {
				t.Errorf("phase %s, want %s", s.Phase, phase)
			}
		})
	}
}

func TestSendReadsStdinByteForByte(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure("[budget]\nworking_set_tokens = 200000\n" + strings.Replace(configText, "32000", "2000000", 1))
	large := strings.Repeat("0123456789abcde\n", 1<<16)[:1<<20]
	for text, args := range map[string][]string{large: {"send", "--json", "--new", "-"}, " piped\r\n\n": {"send", "--json", "--new"}} {
		var s sent
		h.runWith(strings.NewReader(text), args...).exits(0).into(&s)
		if got := h.show(s.SessionID).Turns[0].User.RenderedText(); got != text {
			t.Errorf("%d bytes stored of %d", len(got), len(text))
		}
	}
}

func TestSendRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	big := h.dir + ".png"
	if err := os.WriteFile(big, make([]byte, 6<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		in   string
		args []string
		code string
		exit int
	}{
		"empty argument":      {"", []string{""}, "invalid", 2},
		"blank argument":      {"", []string{" \n\t"}, "invalid", 2},
		"empty pipe":          {"", []string{"-"}, "invalid", 2},
		"invalid UTF-8":       {"abc\xff", []string{"-"}, "invalid", 1},
		"invalid in argument": {"", []string{"a\xc3("}, "invalid", 1},
		"no such model":       {"", []string{"--model", "nope", "hi"}, "config", 1},
		"no such image":       {"", []string{"--image", "/nonexistent.png", "hi"}, "invalid", 1},
		"image too large":     {"", []string{"--image", big, "hi"}, "invalid", 1},
		"not an image":        {"", []string{"--image", h.config, "hi"}, "invalid", 1},
		"unknown wait level":  {"", []string{"--wait", "done", "hi"}, "invalid", 2},
		"policy":              {"", []string{"--incomplete", "maybe", "hi"}, "invalid", 2},
		"two sessions":        {"", []string{"--session", "ABCD", "hi"}, "invalid", 2},
		"too many arguments":  {"", []string{"hello", "world"}, "invalid", 2},
		"unknown flag":        {"", []string{"--nope", "hi"}, "invalid", 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := h.runWith(strings.NewReader(c.in), append([]string{"send", "--json", "--new"}, c.args...)...).exits(c.exit)
			if f := r.failure(); f.Code != c.code {
				t.Errorf("%+v", f)
			}
		})
	}
	var list struct{ Sessions []any }
	h.run("sessions", "--json").into(&list)
	if len(list.Sessions) != 0 {
		t.Errorf("%d sessions were left behind", len(list.Sessions))
	}
}

func TestSendFailure(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(refuse(&llm.Error{Code: chat.CodeAuth, Status: 401, Message: "bad key " + canary}))
	r := h.run("send", "--json", "--new", "hi").exits(1)
	if f := r.failure(); f.Code != "auth" || f.Hint == "" {
		t.Errorf("%+v", f)
	}
	if strings.Contains(r.out+r.err, canary) {
		t.Error("the key was printed")
	}
	var s sent
	r.into(&s)
	if s.Phase != "Failed" || s.Text != "" {
		t.Errorf("%+v", s)
	}
	if f, want := r.failure(), "contextinfinity retry "+s.TurnID; !strings.HasSuffix(f.Hint, want) {
		t.Errorf("%q does not end in %q", f.Hint, want)
	}
	h.provider.script(say("better"))
	var again sent
	h.run("retry", "--json", s.TurnID).exits(0).into(&again)
	if again.Text != "better" || again.Seq != 2 {
		t.Errorf("%+v", again)
	}
}

func TestSendReportsAttempts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	busy := &llm.Error{Code: chat.CodeRateLimited, Status: 429, Message: "slow down", Retry: true}
	notice := watchFor("attempt 2 failed, trying again: ")
	last := say("there")
	last.start = notice.seen
	h.provider.script(refuse(busy), refuse(busy), last)
	var out strings.Builder
	if code := h.runTo(strings.NewReader(""), &out, notice, "send", "--new", "hi"); code != 0 || out.String() != "there\n" {
		t.Errorf("exit code %d, stdout %q", code, out.String())
	}
	if text := notice.String(); strings.Count(text, "slow down") != 2 {
		t.Errorf("stderr %q", text)
	}
	if s := h.onlySession(); len(s.Turns[0].Steps) != 3 {
		t.Errorf("%d attempts", len(s.Turns[0].Steps))
	}
}

// watched is a writer that signals when a text has been written.
type watched struct {
	strings.Builder
	text string
	seen chan struct{}
	done bool
}

func watchFor(text string) *watched { return &watched{text: text, seen: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if !w.done && strings.Contains(w.String(), w.text) {
		w.done = true
		close(w.seen)
	}
	return n, err
}

func TestIncompleteAnswerAndItsDecisions(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*home, sent) {
		t.Parallel()
		h := newHome(t)
		h.provider.script(cut("half of "))
		var s sent
		r := h.run("send", "--json", "--new", "hi").exits(1)
		r.into(&s)
		if s.Phase != "Responding" || s.Outcome != "incomplete" || s.Text != "half of " || s.Error.Code != "unavailable" {
			t.Fatalf("%+v", s)
		}
		if got := h.show(s.SessionID).Turns[0]; got.Partial == nil || *got.Partial != "half of " || got.Assistant != nil {
			t.Fatalf("%+v", got)
		}
		return h, s
	}
	t.Run("continue prints the whole answer", func(t *testing.T) {
		h, s := begin(t)
		h.provider.script(say("it"))
		if r := h.run("continue", s.TurnID).exits(0); r.out != "half of it\n" {
			t.Errorf("stdout %q", r.out)
		}
		if got := h.show(s.SessionID).Turns[0].Assistant.RenderedText(); got != "half of it" {
			t.Errorf("stored %q", got)
		}
	})
	t.Run("retry prints the new answer", func(t *testing.T) {
		h, s := begin(t)
		h.provider.script(say("all of it"))
		if r := h.run("retry", s.TurnID).exits(0); r.out != "all of it\n" {
			t.Errorf("stdout %q", r.out)
		}
	})
	t.Run("retry of a continuation keeps its beginning", func(t *testing.T) {
		h, s := begin(t)
		h.provider.script(cut("some"), say("it all"))
		h.run("continue", s.TurnID).exits(1)
		if r := h.run("retry", s.TurnID).exits(0); r.out != "half of it all\n" {
			t.Errorf("stdout %q", r.out)
		}
	})
	t.Run("keep", func(t *testing.T) {
		h, s := begin(t)
		var kept sent
		h.run("keep", "--json", s.TurnID).exits(0).into(&kept)
		if kept.Outcome != "kept" || kept.Text != "half of " {
			t.Errorf("%+v", kept)
		}
		h.run("keep", "--json", s.TurnID).exits(1).failure()
	})
	t.Run("the rest of a kept answer is a turn of its own", func(t *testing.T) {
		h, s := begin(t)
		h.run("keep", s.TurnID).exits(0)
		h.provider.script(say("it"))
		if r := h.run("continue", s.TurnID).exits(0); r.out != "it\n" || strings.Contains(r.err, "out of order") {
			t.Errorf("stdout %q\nstderr %s", r.out, r.err)
		}
	})
	t.Run("discard", func(t *testing.T) {
		h, s := begin(t)
		var gone sent
		h.run("discard", "--json", s.TurnID[20:]).exits(0).into(&gone)
		if gone.Phase != "Failed" || gone.Text != "half of " {
			t.Errorf("%+v", gone)
		}
	})
	for policy, outcome := range map[string]string{"keep": "kept", "discard": "discarded", "": "discarded"} {
		t.Run("send with "+policy, func(t *testing.T) {
			h, s := begin(t)
			args := []string{"send", "on"}
			if policy != "" {
				args = append(args, "--incomplete", policy)
			}
			if r := h.run(args...).exits(0); !strings.Contains(r.err, "turn #1") {
				t.Errorf("not reported: %q", r.err)
			}
			if got := h.show(s.SessionID).Turns[0].Outcome; got != outcome {
				t.Errorf("outcome %s", got)
			}
		})
	}
	t.Run("send refuses", func(t *testing.T) {
		h, s := begin(t)
		f := h.run("send", "--json", "--incomplete", "fail", "on").exits(1).failure()
		if f.Code != "incomplete" || !strings.Contains(f.Hint, s.TurnID) {
			t.Errorf("%+v", f)
		}
	})
}

func TestRetryOfAFinalTurnForks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	h.provider.script(say("again"))
	var again sent
	r := h.run("retry", "--json", s.TurnID).exits(0)
	r.into(&again)
	if again.BranchID == s.BranchID || again.Text != "again" || !strings.Contains(r.err, again.BranchID) {
		t.Errorf("%+v %s", again, r.err)
	}
	if got := h.show(s.SessionID, "--branch", s.BranchID).Turns[0].Assistant.RenderedText(); got != "ok" {
		t.Errorf("the first answer is now %q", got)
	}
}

func TestCtrlCStops(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	begun := make(chan struct{})
	h.provider.script(hang(begun, "so far"))
	go func() { <-begun; h.signals <- os.Interrupt }()
	var s sent
	r := h.run("send", "--json", "--new", "hi").exits(1)
	r.into(&s)
	if s.Outcome != "stopped" || s.Text != "so far" || s.Error.Code != "cancelled" || s.Phase != "ResponseFinalized" {
		t.Errorf("%+v", s)
	}
}

func TestTerminationLeavesTheAnswerIncomplete(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	begun := make(chan struct{})
	h.provider.script(hang(begun, "so far"))
	go func() { <-begun; h.signals <- syscall.SIGTERM }()
	if f := h.run("send", "--json", "--new", "hi").exits(1).failure(); f.Code != "cancelled" {
		t.Errorf("%+v", f)
	}
	got := h.onlySession().Turns[0]
	if got.Outcome != "incomplete" || *got.Partial != "so far" {
		t.Errorf("%+v", got)
	}
}

// brokenPipe is a reader of stdout that goes away after some bytes.
type brokenPipe struct{ remaining int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.remaining -= len(p); b.remaining < 0 {
		return 0, syscall.EPIPE
	}
	return len(p), nil
}

// The answer is stored completely, but no background work is done.
func TestClosedStdoutDoesNotStopTheAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(say("one ", "two ", "three"))
	var errs strings.Builder
	if code := h.runTo(strings.NewReader(""), &brokenPipe{2}, &errs, "send", "--new", "--wait", "indexed", "hi"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(errs.String(), "error") {
		t.Errorf("stderr %q", errs.String())
	}
	got := h.onlySession().Turns[0]
	if got.Assistant.RenderedText() != "one two three" || got.Phase != "ResponseFinalized" {
		t.Errorf("stored %+v", got)
	}
}

// If the output is closed, stderr says why the program continues, and Ctrl-C still stops the answer.
func TestAClosedOutputIsReported(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	begun := make(chan struct{})
	h.provider.script(hang(begun, "so far"))
	var errs trigger
	errs.when("the answer continues and is stored", func() { h.signals <- os.Interrupt })
	if code := h.runTo(strings.NewReader(""), &brokenPipe{2}, &errs, "send", "--new", "hi"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if got := h.onlySession().Turns[0]; got.Outcome != "stopped" || got.Assistant.RenderedText() != "so far" {
		t.Errorf("%+v", got)
	}
}

// trigger calls a function once when a text is written to it.
type trigger struct {
	written strings.Builder
	text    string
	do      func()
}

func (w *trigger) when(text string, do func()) { w.text, w.do = text, do }

func (w *trigger) Write(p []byte) (int, error) {
	w.written.Write(p)
	if w.do != nil && strings.Contains(w.written.String(), w.text) {
		w.do()
		w.do = nil
	}
	return len(p), nil
}

func TestAChatWithoutAReaderEnds(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(say("one"), say("two"))
	if code := h.runTo(strings.NewReader("first\nsecond\n"), &brokenPipe{2}, io.Discard, "chat"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if got := h.onlySession().Turns; len(got) != 1 || got[0].Assistant.RenderedText() != "one" {
		t.Errorf("%+v", got)
	}
}

// Invalid usage exits with 2, whatever the command.
func TestWrongUsageIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	for _, args := range [][]string{
		{"send", ""}, {"send", "--session", s.SessionID, " "}, {"pin", s.SessionID, ""}, {"find", "", "--session", s.SessionID}, {"search", ""},
		{"sessions", "rename", s.SessionID, ""}, {"export", s.SessionID, "--format", "bogus"}, {"export", "--all", "--format", "bogus"},
		{"import", "x.json", "--format", "bogus"}, {"send", "--wait", "bogus", "hi"}, {"search", "--scope", "bogus", "hi"}, {"jobs", "--state", "bogus"},
		{"send", "--incomplete", "bogus", "hi"}, {"completion", "bogus"}, {"bogus"}, {"send", "--bogus"}, {"show"}, {"keys", "set", "bogus"},
	} {
		if f := h.run(append(args, "--json")...).exits(2).failure(); f.Code != "invalid" || f.Message == "" {
			t.Errorf("%q: %+v", args, f)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestUnwritableStdoutIsAnError(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var errs strings.Builder
	if code := h.runTo(strings.NewReader(""), fullDisk{}, &errs, "version"); code != 1 || !strings.Contains(errs.String(), "could not be written") {
		t.Errorf("exit code %d, stderr %q", code, errs.String())
	}
}

type brokenInput struct{}

func (brokenInput) Read([]byte) (int, error) { return 0, errors.New("input/output error") }

func TestUnreadableStdin(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if f := h.runWith(io.Reader(brokenInput{}), "send", "--json", "-").exits(1).failure(); f.Code != "invalid" {
		t.Errorf("%+v", f)
	}
}

func TestImages(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	png := h.config + ".png"
	if err := os.WriteFile(png, []byte("\x89PNG\r\n\x1a\n0000"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.send("--new", "--image", png, "what is this?")
	blocks := h.show(s.SessionID).Turns[0].User.Blocks
	if image, ok := blocks[0].(chat.Image); len(blocks) != 2 || !ok || image.MediaType != "image/png" {
		t.Errorf("%+v", blocks)
	}
}
