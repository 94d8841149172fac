package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// crash is one way to die and what the next start must find.
type crash struct {
	name    string
	fault   string // of the build with fault points; empty: kill -9 from outside
	texts   []string
	whole   bool // the provider says its terminal event
	phase   chat.Phase
	outcome chat.Outcome
	partial bool // the text stands there, incomplete
}

var crashTexts = []string{"Half of ", "an ansẅer ", "with 漢字 ", "and 🌍", "."}

var crashes = []crash{
	{name: "before the request", fault: "turn.prepared:exit", texts: crashTexts, whole: true, phase: chat.PhaseContextPrepared},
	{name: "before the first event", fault: "turn.step_begun:exit", texts: crashTexts, whole: true, phase: chat.PhaseFailed, outcome: chat.OutcomeFailed},
	{name: "connected, nothing arrived", phase: chat.PhaseFailed, outcome: chat.OutcomeFailed},
	{name: "at the first text", fault: "turn.event:3:exit", texts: crashTexts, whole: true, phase: chat.PhaseResponding, outcome: chat.OutcomeIncomplete, partial: true},
	{name: "in the middle", fault: "turn.event:5:exit", texts: crashTexts, whole: true, phase: chat.PhaseResponding, outcome: chat.OutcomeIncomplete, partial: true},
	{name: "killed in the middle", texts: crashTexts, phase: chat.PhaseResponding, outcome: chat.OutcomeIncomplete, partial: true},
	{name: "after the terminal event, before finalize", fault: "turn.journal_sealed:exit", texts: crashTexts, whole: true, phase: chat.PhaseResponseFinalized, outcome: chat.OutcomeCompleted},
	{name: "between TX-A and prune", fault: "turn.settled:exit", texts: crashTexts, whole: true, phase: chat.PhaseResponseFinalized, outcome: chat.OutcomeCompleted},
}

// SRD 22.2: kill during streaming; restart; recovered partial output shows as
// incomplete; head not advanced. And with it every other point of a turn.
func TestSRD22_2CrashRecoveryMidStream(t *testing.T) {
	t.Parallel()
	for i, c := range crashes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := wires[i%len(wires)]
			server := newHeldServer(t, c.fault == "", crashStream(w, c)...)
			h := newHome(t, shipped(t), w.model("mortal", server.url))
			c.die(t, h, server)
			c.stands(t, h)
		})
	}
}

func crashStream(w wireProtocol, c crash) []chat.RawEvent {
	if len(c.texts) == 0 {
		return nil
	}
	return w.saying(c.whole, c.texts...)
}

// die sends a message and ends the program as a power button would, short of
// taking what the kernel holds.
func (c crash) die(t *testing.T, h *home, server *heldServer) {
	t.Helper()
	if c.fault != "" {
		h.using(breakable(t)).with("CONTEXTINFINITY_FAULT="+c.fault).run("send", "--new", "--model", "mortal", "Will this survive?").exits(137)
		return
	}
	p := h.start(nil, "send", "--new", "--model", "mortal", "Will this survive?")
	if len(c.texts) > 0 {
		p.awaitOutput(strings.Join(c.texts, ""))
	} else {
		<-server.asked // its journal stands since before
	}
	p.kill()
}

func (h *home) journals() []string {
	found, _ := filepath.Glob(filepath.Join(h.dataDir(), "streams", "*.jsonl"))
	return found
}

// stands checks the state before any recovery, after one, and after another.
func (c crash) stands(t *testing.T, h *home) {
	t.Helper()
	session := h.lastSession()
	held := ""
	if names := h.journals(); len(names) > 0 {
		held = journalText(t, names[0])
	}
	if c.partial && held == "" {
		t.Fatal("the journal holds no text, but text had arrived")
	}
	before := h.only(session)
	if before.User.RenderedText() != "Will this survive?" {
		t.Fatalf("the prompt is %q", before.User.RenderedText())
	}
	if c.partial && before.text() != held {
		t.Errorf("before recovery show has %q, the journal %q", before.text(), held)
	}
	h.ok("sessions", "rename", session, "Any verb that writes recovers first")
	c.recovered(t, h, session, held)
	once := transcriptOf(t, h, session)
	h.ok("reconcile")
	afterFirst := transcriptOf(t, h, session)
	h.ok("reconcile")
	if again := transcriptOf(t, h, session); again != afterFirst {
		t.Errorf("reconcile twice differs from once:\n%s\n%s", afterFirst, again)
	}
	if c.phase != chat.PhaseResponseFinalized && afterFirst != once {
		t.Errorf("reconcile changed what recovery had left:\n%s\n%s", once, afterFirst)
	}
	h.clean()
}

// recovered checks what the first opening as the writer made of it.
func (c crash) recovered(t *testing.T, h *home, session, held string) {
	t.Helper()
	doc := h.show(session)
	if len(doc.Turns) != 1 {
		t.Fatalf("%d turns after recovery, want 1: nothing may be there twice", len(doc.Turns))
	}
	turn := doc.Turns[0]
	if turn.Phase != c.phase || turn.Outcome != c.outcome {
		t.Fatalf("recovered as %s %q, want %s %q (%+v)", turn.Phase, turn.Outcome, c.phase, c.outcome, turn.Error)
	}
	want := ""
	switch {
	case c.partial:
		want = held
	case c.outcome == chat.OutcomeCompleted:
		want = strings.Join(c.texts, "")
	}
	if turn.text() != want {
		t.Errorf("recovered text %q, want byte for byte %q", turn.text(), want)
	}
	if turn.StateAfter != "" || doc.Branches[0].HeadState != turn.StateBefore {
		t.Errorf("the head moved: %+v", doc.Branches[0])
	}
	if left := h.journals(); !c.partial && len(left) != 0 {
		t.Errorf("journals of settled turns are left: %v", left)
	}
}

// journalText decodes a stream journal without any code of the program's: the
// text of each provider event, in order, a torn last line left out.
func journalText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(data[:bytes.LastIndexByte(data, '\n')+1]))
	lines.Buffer(nil, 1<<24)
	for want := 1; lines.Scan(); want++ {
		var entry struct {
			TS       string
			Provider string
			Type     string `json:"event_type"`
			Seq      int
			Payload  json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatalf("journal line %d: %v", want, err)
		}
		if entry.Seq != want || entry.TS == "" || entry.Provider == "" || entry.Type == "" {
			t.Fatalf("journal line %d is %+v", want, entry)
		}
		text.WriteString(deltaText(entry.Payload))
	}
	return text.String()
}

// deltaText is the visible text that one event of any of the protocols adds.
func deltaText(payload json.RawMessage) string {
	var ev struct {
		Type    string
		Delta   json.RawMessage
		Choices []struct{ Delta struct{ Content string } }
	}
	if json.Unmarshal(payload, &ev) != nil {
		return ""
	}
	switch {
	case ev.Type == "response.output_text.delta":
		var s string
		_ = json.Unmarshal(ev.Delta, &s)
		return s
	case ev.Type == "content_block_delta":
		var d struct{ Text string }
		_ = json.Unmarshal(ev.Delta, &d)
		return d.Text
	case len(ev.Choices) > 0:
		return ev.Choices[0].Delta.Content
	}
	return ""
}

// transcriptOf is everything show says of a session, as text to compare.
func transcriptOf(t *testing.T, h *home, session string) string {
	t.Helper()
	return h.ok("show", session, "--json").stdout
}

// SRD 22.3: kill after response finalization but before commit; restart
// reconciler commits head deterministically.
func TestSRD22_3CrashRecoveryPostStreamPreCommit(t *testing.T) {
	t.Parallel()
	summaries := map[string]bool{}
	for _, w := range wires {
		server := newHeldServer(t, false, w.saying(true, crashTexts...)...)
		h := newHome(t, shipped(t), w.model("mortal", server.url))
		h.using(breakable(t)).with("CONTEXTINFINITY_FAULT=turn.settled:exit").
			run("send", "--new", "--model", "mortal", "--wait", "indexed", "Remember the number 4711.").exits(137)
		session := h.lastSession()
		if turn := h.only(session); turn.Phase != chat.PhaseResponseFinalized || turn.StateAfter != "" {
			t.Fatalf("after the crash the turn is %s with state %q", turn.Phase, turn.StateAfter)
		}
		h.ok("reconcile")
		doc := h.show(session)
		turn, branch := doc.Turns[0], doc.Branches[0]
		if turn.Phase != chat.PhaseDone || turn.StateAfter == "" || branch.HeadState != turn.StateAfter || branch.Pending != 0 || branch.HeadSeq != 1 {
			t.Errorf("reconcile left %s, state %q, head %+v", turn.Phase, turn.StateAfter, branch)
		}
		summaries[h.summary(session)] = true
		first := transcriptOf(t, h, session)
		h.ok("reconcile")
		if transcriptOf(t, h, session) != first {
			t.Error("a second reconcile changed the session")
		}
		h.clean()
	}
	if len(summaries) != 1 {
		t.Errorf("the same turn was committed as %d different summaries", len(summaries))
	}
}

// summary is the head state's text.
func (h *home) summary(session string) string {
	h.t.Helper()
	var doc struct {
		States []struct {
			Seq     int64 `json:"state_seq"`
			Summary string
		}
	}
	h.ok("states", session, "--json").document(&doc)
	best := ""
	var seq int64 = -1
	for _, s := range doc.States {
		if s.Seq > seq {
			seq, best = s.Seq, s.Summary
		}
	}
	return best
}

// After a crash each of the four decisions does what it says, and nothing else.
func TestDecisionsAboutARecoveredAnswer(t *testing.T) {
	t.Parallel()
	part := "Half of an ansẅer with 漢字 and 🌍."
	cases := []struct {
		verb    string
		args    []string
		phase   chat.Phase
		outcome chat.Outcome
		text    string
		steps   int
	}{
		{"keep", nil, chat.PhaseResponseFinalized, chat.OutcomeKept, part, 1},
		{"discard", nil, chat.PhaseFailed, chat.OutcomeDiscarded, part, 1},
		{"retry", []string{"--model", "sound"}, chat.PhaseResponseFinalized, chat.OutcomeCompleted, " And all is said.", 2},
		{"continue", []string{"--model", "sound"}, chat.PhaseResponseFinalized, chat.OutcomeCompleted, part + " And all is said.", 2},
	}
	for i, c := range cases {
		t.Run(c.verb, func(t *testing.T) {
			t.Parallel()
			w := wires[i%len(wires)]
			server := newHeldServer(t, true, w.saying(false, crashTexts...)...)
			sound := newHeldServer(t, false, w.saying(true, " And all", " is said.")...)
			h := newHome(t, shipped(t), w.model("mortal", server.url)+w.model("sound", sound.url)+"[librarian]\nafter_send_s = 0\n")
			crash{texts: crashTexts}.die(t, h, server)
			session := h.lastSession()
			open := h.only(session)
			s := h.ok(append([]string{c.verb, open.ID, "--json"}, c.args...)...).sent()
			turn := h.only(session)
			if s.Phase != c.phase || s.Outcome != c.outcome || turn.Phase != c.phase || turn.Outcome != c.outcome {
				t.Errorf("%s gave %s %q, stored %s %q", c.verb, s.Phase, s.Outcome, turn.Phase, turn.Outcome)
			}
			if s.Text != c.text || turn.text() != c.text || len(turn.Steps) != c.steps {
				t.Errorf("%s: text %q, stored %q in %d steps, want %q in %d", c.verb, s.Text, turn.text(), len(turn.Steps), c.text, c.steps)
			}
			if c.verb == "continue" {
				if body := string(<-sound.asked); !strings.Contains(body, "Half of an ans") {
					t.Errorf("the continuation does not show the model its own words: %s", clip(body))
				}
			}
			next := h.ok("send", "--json", "--session", session, "--model", "sound", "--wait", "indexed", "Go on.").sent()
			if next.Seq != 2 || next.Phase != chat.PhaseDone {
				t.Errorf("the next message: %+v", next)
			}
			h.clean()
		})
	}
}

// A message that a crash left unsent is never sent by itself.
func TestAnUnsentMessageWaitsForTheUser(t *testing.T) {
	t.Parallel()
	w := openaiWire
	server := newHeldServer(t, false, w.saying(true, "Now.")...)
	h := newHome(t, shipped(t), w.model("mortal", server.url))
	crashes[0].die(t, h, server)
	session := h.lastSession()
	h.ok("reconcile")
	h.ok("reconcile")
	if n := len(server.asked); n != 0 {
		t.Fatalf("the provider was asked %d times", n)
	}
	open := h.only(session)
	if f := h.run("send", "--json", "--incomplete", "fail", "--session", session, "Another.").fails(1, chat.CodeIncomplete); !strings.Contains(f.Hint, open.ID) {
		t.Errorf("the hint does not name the turn: %+v", f)
	}
	if s := h.ok("resend", open.ID, "--json").sent(); s.TurnID != open.ID || s.Text != "Now." || s.Outcome != chat.OutcomeCompleted {
		t.Errorf("resend: %+v", s)
	}
	if n := len(h.show(session).Turns); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
	h.clean()
}

// A process killed while it recovers leaves the same as one that was not.
func TestACrashDuringRecoveryChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []crash{crashes[4], crashes[6]} {
		server := newHeldServer(t, false, anthropicWire.saying(true, crashTexts...)...)
		h := newHome(t, shipped(t), anthropicWire.model("mortal", server.url))
		c.die(t, h, server)
		session := h.lastSession()
		held := journalText(t, h.journals()[0])
		h.using(breakable(t)).with("CONTEXTINFINITY_FAULT=recover.settled:exit").run("reconcile").exits(137)
		h.ok("sessions", "rename", session, "The second recovery")
		c.recovered(t, h, session, held)
		h.clean()
	}
}

// A torn last line, as a full disk or a loss of power leaves, is dropped and
// said; what stands before it is the answer, and the file is not changed.
func TestATornJournalIsReadUpToTheTear(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, chatWire.saying(false, crashTexts...)...)
	h := newHome(t, shipped(t), chatWire.model("mortal", server.url))
	crash{texts: crashTexts}.die(t, h, server)
	session, path := h.lastSession(), h.journals()[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := data[:len(data)-7]
	write(t, path, torn)
	want := journalText(t, path)
	if want == "" || want == strings.Join(crashTexts, "") {
		t.Fatalf("the tear took nothing or all: %q", want)
	}
	r := h.ok("reconcile")
	if !strings.Contains(r.stdout, "discarded_lines") {
		t.Errorf("the tear is not reported: %s", r.stdout)
	}
	if turn := h.only(session); turn.text() != want || !(turn.Outcome == chat.OutcomeIncomplete) {
		t.Errorf("recovered %s %q, want %q", turn.Outcome, turn.text(), want)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, torn) {
		t.Error("the journal was changed")
	}
	h.clean()
}

// A flipped bit in a journal is named by verify, before recovery and after; what
// stands before it is the answer.
func TestADamagedJournalIsNamedByVerify(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, chatWire.saying(false, crashTexts...)...)
	h := newHome(t, shipped(t), chatWire.model("mortal", server.url))
	crash{texts: crashTexts}.die(t, h, server)
	session, path := h.lastSession(), h.journals()[0]
	step := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("with"))
	data[at] ^= 0x01
	write(t, path, data)
	for _, when := range []string{"before recovery", "after it"} {
		var doc struct{ Findings []chat.Finding }
		h.run("verify", "--json").exits(3).document(&doc)
		if len(doc.Findings) != 1 || doc.Findings[0].ID != step || doc.Findings[0].Kind != "journal" {
			t.Errorf("%s: %+v", when, doc.Findings)
		}
		if turn := h.only(session); turn.text() != crashTexts[0]+crashTexts[1] {
			t.Errorf("%s the answer is %q", when, turn.text())
		}
		h.ok("reconcile")
	}
}

// The recovery report of reconcile names what was found, once.
func TestReconcileReportsOnce(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, openaiWire.saying(false, crashTexts...)...)
	h := newHome(t, shipped(t), openaiWire.model("mortal", server.url))
	crash{texts: crashTexts}.die(t, h, server)
	var report struct {
		Recovery chat.RecoveryReport
	}
	h.ok("reconcile", "--json").document(&report)
	text := strings.Join(crashTexts, "")
	if items := report.Recovery.Items; len(items) != 1 || items[0].Kind != chat.RecoveredIncomplete || items[0].Bytes != int64(len(text)) {
		t.Errorf("the first report: %s", fmt.Sprint(items))
	}
	h.ok("reconcile", "--json").document(&report)
	for _, item := range report.Recovery.Items {
		if item.Kind == chat.RecoveredIncomplete {
			t.Errorf("told twice: %+v", item)
		}
	}
}
