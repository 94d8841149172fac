package cli_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"contextinfinity/backend/cli"
)

// talk pipes lines into chat.
func (h *home) talk(lines ...string) result {
	h.t.Helper()
	return h.runWith(strings.NewReader(strings.Join(lines, "\n")+"\n"), "chat")
}

func TestChat(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(say("first answer"), say("second answer"))
	r := h.talk("Hello", "", "two \\", "lines").exits(0)
	if r.out != "first answer\nsecond answer\n" {
		t.Errorf("stdout %q", r.out)
	}
	got := h.onlySession()
	if len(got.Turns) != 2 || got.Session.Title != "Hello" || got.Turns[1].User.RenderedText() != "two \nlines" {
		t.Errorf("%+v", got)
	}
}

func TestChatContinuesASession(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	h.runWith(strings.NewReader("more"), "chat", "--session", s.SessionID[18:]).exits(0)
	if got := h.show(s.SessionID); len(got.Turns) != 2 || got.Turns[1].User.RenderedText() != "more" {
		t.Errorf("%+v", got)
	}
}

func TestChatCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	earlier := h.send("--new", "earlier session")
	r := h.talk(
		"/help", "/pins", "hi", "/pin I like tea", "/pins", "/fork #1", "/branches", "more", "/pending", "/commit", "/show 1",
		"/model test", "/model", "/sessions", "/switch "+earlier.SessionID, "back here", "/new", "//slash", "/quit", "never sent",
	)
	for _, want := range []string{
		"/continue", "no message yet", "Pinned ", "I like tea", "Branched off after #1", "from #1", ", head #2", "From now on test answers",
		"test-1", "earlier session", "Now in: earlier session",
	} {
		if !strings.Contains(r.err, want) {
			t.Errorf("%q is missing in: %s", want, r.err)
		}
	}
	if !strings.Contains(r.out, "#2") || strings.Contains(r.err, "never sent") {
		t.Errorf("stdout %q", r.out)
	}
	if got := h.show(earlier.SessionID); got.Turns[1].User.RenderedText() != "back here" {
		t.Errorf("%+v", got)
	}
	// /pins before a session is an error, which a pipe reports in its exit code.
	r.exits(1)
	var list struct {
		Sessions []struct{ Title string }
	}
	h.run("sessions", "--json").into(&list)
	if len(list.Sessions) != 3 || list.Sessions[0].Title != "/slash" {
		t.Errorf("%+v", list)
	}
}

func TestChatDecisions(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(cut("half "), say("whole"), cut("part"), cut("lost"), say("again"))
	r := h.talk("one", "two", "/continue", "three", "/keep", "four", "/discard", "/retry", "/nonsense")
	for _, want := range []string{"/continue, /retry, /keep or /discard it", "Kept", "Discarded", "There is no command /nonsense"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("%q is missing in: %s", want, r.err)
		}
	}
	var outcomes []string
	for _, turn := range h.onlySession().Turns {
		outcomes = append(outcomes, turn.Outcome)
	}
	if got := strings.Join(outcomes, " "); got != "completed kept discarded completed" {
		t.Errorf("outcomes %s\nstdout %q\nstderr %s", got, r.out, r.err)
	}
	if !strings.Contains(r.out, "half whole\n") {
		t.Errorf("stdout %q", r.out)
	}
}

func TestChatIntroducesRecall(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure("")
	r := h.talk("hi").exits(0)
	if !strings.Contains(r.err, "recall answers") || !strings.Contains(r.err, "keys set") {
		t.Errorf("stderr %q", r.err)
	}
}

func TestChatCtrlC(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	begun := make(chan struct{})
	h.provider.script(hang(begun, "so far"))
	in, typing := io.Pipe()
	defer in.Close()
	notice, warning := watchFor("stopped;"), watchFor("Ctrl-C again")
	go func() {
		_, _ = typing.Write([]byte("hi\n"))
		<-begun
		h.signals <- os.Interrupt
		<-notice.seen
		h.signals <- os.Interrupt // at the prompt
		<-warning.seen
		h.signals <- os.Interrupt
	}()
	var out strings.Builder
	if code := h.runTo(in, &out, io.MultiWriter(notice, warning), "chat"); code != 0 || out.String() != "so far\n" {
		t.Errorf("exit code %d, stdout %q, stderr %s", code, out.String(), notice)
	}
	if got := h.onlySession().Turns[0]; got.Outcome != "stopped" {
		t.Errorf("%+v", got)
	}
}

func TestSecondCtrlCQuitsImmediately(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var services *cli.Services
	h.opened = func(s *cli.Services) { services = s }
	begun, release := make(chan struct{}), make(chan struct{})
	stuck := hang(begun, "so far")
	waitForStop := stuck.end
	stuck.end = func(ctx context.Context) error { defer func() { <-release }(); return waitForStop(ctx) } // does not react until released
	h.provider.script(stuck)
	notice := watchFor("again quits immediately")
	go func() {
		<-begun
		h.signals <- os.Interrupt
		<-notice.seen
		h.signals <- os.Interrupt
	}()
	var out strings.Builder
	code := h.runTo(strings.NewReader(""), &out, notice, "send", "--new", "hi")
	if code != 1 || !strings.Contains(notice.String(), "journal") {
		t.Errorf("exit code %d, stderr %q", code, notice)
	}
	close(release)
	if err := services.Close(); err != nil {
		t.Error(err)
	}
}
