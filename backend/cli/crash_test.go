package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// crashed returns a home in the state that a kill -9 during an answer leaves: a copy of the files, made while the
// answer streams.
func crashed(t *testing.T, text string) (*home, chat.Turn) {
	t.Helper()
	h := newHome(t)
	begun := make(chan struct{})
	h.provider.script(hang(begun, text))
	s := h.writer()
	_, b, err := s.Sessions.CreateSession(t.Context(), chat.NewSession{Title: "crash"})
	if err != nil {
		t.Fatal(err)
	}
	handle, err := s.Turns.Send(t.Context(), turn.Message{Branch: b.ID, Content: chat.UserText("hi")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	waitForJournal(t, h, text)
	after := newHome(t)
	if err := os.CopyFS(after.dir, os.DirFS(h.dir)); err != nil {
		t.Fatal(err)
	}
	return after, handle.Turn
}

// waitForJournal waits until a journal contains the text, which is written a moment after the provider sent it.
func waitForJournal(t *testing.T, h *home, text string) {
	t.Helper()
	for {
		files, err := filepath.Glob(filepath.Join(h.dir, "streams", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), text) {
				return
			}
		}
		select {
		case <-t.Context().Done():
			t.Fatal("nothing of the answer was written")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestShowReadsAnInterruptedAnswer(t *testing.T) {
	t.Parallel()
	h, turn := crashed(t, "said before the end")
	got := h.show(string(turn.SessionID)).Turns[0]
	if got.Phase != "Responding" || got.Outcome != "" || got.Partial == nil || *got.Partial != "said before the end" {
		t.Errorf("%+v", got)
	}
}

// show counts the reasoning of an answer that streams in another process and has no text yet.
func TestShowCountsReasoningOfAnotherProcess(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	begun := make(chan struct{})
	thinking := hang(begun)
	thinking.events = []string{ev("reasoning", 0, "Let me "), ev("reasoning", 0, "think.")}
	h.provider.script(thinking)
	s := h.writer()
	_, b, err := s.Sessions.CreateSession(t.Context(), chat.NewSession{Title: "slow"})
	if err != nil {
		t.Fatal(err)
	}
	handle, err := s.Turns.Send(t.Context(), turn.Message{Branch: b.ID, Content: chat.UserText("hi")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	waitForJournal(t, h, "think.")
	const bytes = int64(len("Let me think."))
	got := h.show(string(handle.Turn.SessionID)).Turns[0]
	deadline := time.Now().Add(time.Minute)
	for got.Reasoning == nil || got.Reasoning.Durable < bytes { // the counters are stored once a second
		if time.Now().After(deadline) {
			t.Fatalf("%+v", got)
		}
		time.Sleep(10 * time.Millisecond)
		got = h.show(string(handle.Turn.SessionID)).Turns[0]
	}
	if got.Phase != "Responding" || got.Reasoning.Received != bytes || got.Reasoning.Durable != bytes || *got.Partial != "" {
		t.Errorf("%+v", got)
	}
	if r := h.run("show", string(handle.Turn.SessionID)).exits(0); !strings.Contains(r.out, "reasoning: 13 bytes received, 13 bytes durable") {
		t.Errorf("%s", r.out)
	}
}

func TestTheNextWritingCommandRecovers(t *testing.T) {
	t.Parallel()
	h, turn := crashed(t, "said before the end")
	r := h.run("sessions", "rename", string(turn.SessionID), "named").exits(0)
	if !strings.Contains(r.err, "recovered") || !strings.Contains(r.err, string(turn.ID)) {
		t.Errorf("stderr %q", r.err)
	}
	got := h.show(string(turn.SessionID)).Turns[0]
	if got.Outcome != "incomplete" || *got.Partial != "said before the end" {
		t.Errorf("%+v", got)
	}
	h.provider.script(say(", and after"))
	if r := h.run("continue", string(turn.ID)).exits(0); r.out != "said before the end, and after\n" {
		t.Errorf("stdout %q", r.out)
	}
}

func TestReconcileReportsAndIsIdempotent(t *testing.T) {
	t.Parallel()
	h, turn := crashed(t, "part")
	var first, second struct {
		Recovery chat.RecoveryReport
		Queued   int
	}
	h.run("reconcile", "--json").exits(0).into(&first)
	if len(first.Recovery.Items) != 1 || first.Recovery.Items[0].TurnID != turn.ID || first.Recovery.Items[0].Kind != chat.RecoveredIncomplete {
		t.Errorf("%+v", first)
	}
	h.run("reconcile", "--json").exits(0).into(&second)
	if len(second.Recovery.Items) != 0 {
		t.Errorf("%+v", second)
	}
	h.run("verify", "--json").exits(0)
}

func TestCommandsWhileAWriterRuns(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	h.writer()
	for _, args := range [][]string{
		{"sessions"}, {"show", s.SessionID}, {"branches", s.SessionID}, {"states", s.SessionID}, {"pins", s.SessionID},
		{"pending", s.SessionID}, {"jobs"}, {"stats"}, {"verify"}, {"models"}, {"config", "show"},
	} {
		h.run(append(args, "--json")...).exits(0).document()
	}
	for _, args := range [][]string{
		{"send", "hi"}, {"pin", s.SessionID, "fact"}, {"commit", s.SessionID}, {"fork", s.TurnID}, {"reconcile"}, {"jobs", "retry", "1"},
	} {
		f := h.run(append(args, "--json")...).exits(1).failure()
		if f.Code != "locked" || f.Hint == "" || !strings.Contains(f.Message, "pid") {
			t.Errorf("%v: %+v", args, f)
		}
	}
}

func TestVerifyNamesADatabaseThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.dir+"/contextinfinity.db", []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Findings []chat.Finding }
	h.run("verify", "--json").exits(3).into(&doc)
	if len(doc.Findings) != 1 {
		t.Errorf("%+v", doc)
	}
	if f := h.run("send", "--json", "hi").exits(1).failure(); f.Code != "corrupt" {
		t.Errorf("%+v", f)
	}
}

func TestRecoveredJobsRunOnReconcile(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	var doc struct {
		Ran int `json:"jobs_run"`
	}
	h.run("reconcile", "--json").exits(0).into(&doc)
	if doc.Ran != 2 {
		t.Errorf("%d jobs run", doc.Ran)
	}
	if got := h.show(s.SessionID).Turns[0]; got.Phase != "Done" || got.StateAfter == "" {
		t.Errorf("%+v", got)
	}
}
