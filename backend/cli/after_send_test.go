package cli_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// workAfterSend enables background work after each send, and calls started when it starts.
func (h *home) workAfterSend(started func()) {
	h.configure(strings.Replace(configText, "after_send_s = 0", "after_send_s = 60", 1))
	h.working = started
}

// TestSendRunsBackgroundWork: a script that only sends has its turns committed and indexed, after the answer, the
// document or the last event was printed.
func TestSendRunsBackgroundWork(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"text": nil, "json": {"--json"}, "events": {"--events"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.provider.script(say("Noted"))
			var out, errs bytes.Buffer
			var printed string
			h.workAfterSend(func() { printed = out.String() })
			if code := h.runTo(strings.NewReader(""), &out, &errs, append([]string{"send", "--new", "hi"}, flags...)...); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			if printed != out.String() || !strings.Contains(printed, "Noted") {
				t.Errorf("before the background work %q was printed, in all %q", printed, out.String())
			}
			if got := h.onlySession().Turns[0].Phase; got != "Done" {
				t.Errorf("the turn is %s after the send", got)
			}
		})
	}
}

// TestInterruptedAfterTheAnswer: after Ctrl-C during background work the send has still succeeded, and the next one
// does the remaining work.
func TestInterruptedAfterTheAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.signals = make(chan os.Signal) // unbuffered: a completed send means that it was received
	h.workAfterSend(func() { h.signals <- syscall.SIGINT })
	if r := h.run("send", "--new", "hi").exits(0); strings.Contains(r.err, "error") {
		t.Errorf("stderr %q", r.err)
	}
	h.workAfterSend(func() {})
	h.run("send", "again").exits(0)
	for _, turn := range h.onlySession().Turns {
		if turn.Phase != "Done" {
			t.Errorf("turn #%d is %s", turn.Seq, turn.Phase)
		}
	}
}

// TestDroppedPendingTurnsAreReported: without background work the oldest pending turns no longer fit at some point,
// and standard error names them.
func TestDroppedPendingTurnsAreReported(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure(strings.Replace(configText, "context_limit = 32000", "context_limit = 4000", 1))
	long := strings.Repeat("word ", 300)
	h.run("send", "--new", long).exits(0)
	for n := 2; n < 20; n++ {
		r := h.run("send", long+strconv.Itoa(n)).exits(0)
		if strings.Contains(r.err, "did not fit into this request") && strings.Contains(r.err, "turns (#1 to #") {
			return
		}
	}
	t.Error("no send reported a turn that was dropped")
}
