package crash

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
	"contextinfinity/test/harness"
)

// crash is a way in which the program dies, and what the next start must find.
type crash struct {
	name    string
	fault   string // for the build with fault points; empty: kill -9 from outside
	texts   []string
	ends    bool // the provider sends its terminal event
	phase   chat.Phase
	outcome chat.Outcome
	partial bool // the text that arrived is stored as incomplete
}

var crashTexts = []string{"Half of ", "an ansẅer ", "with 漢字 ", "and 🌍", "."}

var crashes = []crash{
	{name: "before the request", fault: "turn.prepared:exit", texts: crashTexts, ends: true, phase: chat.PhaseContextPrepared},
	{name: "before the first event", fault: "turn.step_begun:exit", texts: crashTexts, ends: true, phase: chat.PhaseFailed, outcome: chat.OutcomeFailed},
	{name: "connected, nothing arrived", phase: chat.PhaseFailed, outcome: chat.OutcomeFailed},
	{name: "at the first text", fault: "turn.event:3:exit", texts: crashTexts, ends: true, phase: chat.PhaseResponding, outcome: chat.OutcomeIncomplete, partial: true},
	{name: "in the middle", fault: "turn.event:5:exit", texts: crashTexts, ends: true, phase: chat.PhaseResponding, outcome: chat.OutcomeIncomplete, partial: true},
	{name: "killed in the middle", texts: crashTexts, phase: chat.PhaseResponding, outcome: chat.OutcomeIncomplete, partial: true},
	{name: "after the terminal event, before finalize", fault: "turn.journal_sealed:exit", texts: crashTexts, ends: true, phase: chat.PhaseResponseFinalized, outcome: chat.OutcomeCompleted},
	{name: "between TX-A and prune", fault: "turn.settled:exit", texts: crashTexts, ends: true, phase: chat.PhaseResponseFinalized, outcome: chat.OutcomeCompleted},
}

// SRD 22.2: kill during streaming; restart; recovered partial output shows as incomplete; head not advanced. The test
// covers every other point of a turn too.
func TestSRD22_2CrashRecoveryMidStream(t *testing.T) {
	t.Parallel()
	for i, c := range crashes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := harness.Wires[i%len(harness.Wires)]
			server := harness.NewHeldServer(t, c.fault == "", crashStream(w, c)...)
			h := harness.NewHome(t, harness.Shipped(t), w.Model("m", server.URL))
			c.die(t, h, server)
			c.check(t, h)
		})
	}
}

func crashStream(w harness.WireProtocol, c crash) []chat.RawEvent {
	if len(c.texts) == 0 {
		return nil
	}
	return w.TextStream(c.ends, c.texts...)
}

// die sends a message and ends the program like a power failure, except that written data stays in the kernel.
func (c crash) die(t *testing.T, h *harness.Home, server *harness.HeldServer) {
	t.Helper()
	if c.fault != "" {
		h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+c.fault).Run("send", "--new", "--model", "m", "Will this survive?").Exits(137)
		return
	}
	p := h.Start(nil, "send", "--new", "--model", "m", "Will this survive?")
	if len(c.texts) > 0 {
		p.AwaitOutput(strings.Join(c.texts, ""))
	} else {
		<-server.Asked // its journal already exists
	}
	p.Kill()
}

// check inspects the state before any recovery, after one, and after another.
func (c crash) check(t *testing.T, h *harness.Home) {
	t.Helper()
	session := h.LastSession()
	journalled := ""
	if names := h.Journals(); len(names) > 0 {
		journalled = journalText(t, names[0])
	}
	if c.partial && journalled == "" {
		t.Fatal("the journal contains no text, but text had arrived")
	}
	before := h.Only(session)
	if before.User.RenderedText() != "Will this survive?" {
		t.Fatalf("the prompt is %q", before.User.RenderedText())
	}
	if c.partial && before.Text() != journalled {
		t.Errorf("before recovery show has %q, the journal %q", before.Text(), journalled)
	}
	h.OK("sessions", "rename", session, "Any verb that writes recovers first")
	c.checkRecovered(t, h, session, journalled)
	recovered := transcriptOf(t, h, session)
	h.OK("reconcile")
	afterFirst := transcriptOf(t, h, session)
	h.OK("reconcile")
	if again := transcriptOf(t, h, session); again != afterFirst {
		t.Errorf("reconcile twice differs from once:\n%s\n%s", afterFirst, again)
	}
	if c.phase != chat.PhaseResponseFinalized && afterFirst != recovered {
		t.Errorf("reconcile changed the result of the recovery:\n%s\n%s", recovered, afterFirst)
	}
	h.Clean()
}

// checkRecovered checks the state after the first command that writes.
func (c crash) checkRecovered(t *testing.T, h *harness.Home, session, journalled string) {
	t.Helper()
	doc := h.Show(session)
	if len(doc.Turns) != 1 {
		t.Fatalf("%d turns after recovery, want 1", len(doc.Turns))
	}
	turn := doc.Turns[0]
	if turn.Phase != c.phase || turn.Outcome != c.outcome {
		t.Fatalf("recovered as %s %q, want %s %q (%+v)", turn.Phase, turn.Outcome, c.phase, c.outcome, turn.Error)
	}
	want := ""
	switch {
	case c.partial:
		want = journalled
	case c.outcome == chat.OutcomeCompleted:
		want = strings.Join(c.texts, "")
	}
	if turn.Text() != want {
		t.Errorf("recovered text %q, want byte for byte %q", turn.Text(), want)
	}
	if turn.StateAfter != "" || doc.Branches[0].HeadState != turn.StateBefore {
		t.Errorf("the head moved: %+v", doc.Branches[0])
	}
	if remaining := h.Journals(); !c.partial && len(remaining) != 0 {
		t.Errorf("journals of settled turns remain: %v", remaining)
	}
}

// journalText decodes a stream journal without the program's code: the text of each provider event, in order, without
// a torn last line.
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

// deltaText returns the visible text that an event of any protocol adds.
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

// transcriptOf returns everything that show prints for a session, for comparison.
func transcriptOf(t *testing.T, h *harness.Home, session string) string {
	t.Helper()
	return h.OK("show", session, "--json").Stdout
}

// SRD 22.3: kill after response finalization but before commit; the reconciler commits the head deterministically at the
// restart.
func TestSRD22_3CrashRecoveryPostStreamPreCommit(t *testing.T) {
	t.Parallel()
	summaries := map[string]bool{}
	for _, w := range harness.Wires {
		server := harness.NewHeldServer(t, false, w.TextStream(true, crashTexts...)...)
		h := harness.NewHome(t, harness.Shipped(t), w.Model("m", server.URL))
		h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=turn.settled:exit").
			Run("send", "--new", "--model", "m", "--wait", "indexed", "Remember the number 4711.").Exits(137)
		session := h.LastSession()
		if turn := h.Only(session); turn.Phase != chat.PhaseResponseFinalized || turn.StateAfter != "" {
			t.Fatalf("after the crash the turn is %s with state %q", turn.Phase, turn.StateAfter)
		}
		h.OK("reconcile")
		doc := h.Show(session)
		turn, branch := doc.Turns[0], doc.Branches[0]
		if turn.Phase != chat.PhaseDone || turn.StateAfter == "" || branch.HeadState != turn.StateAfter || branch.Pending != 0 || branch.HeadSeq != 1 {
			t.Errorf("reconcile left %s, state %q, head %+v", turn.Phase, turn.StateAfter, branch)
		}
		summaries[h.Summary(session)] = true
		first := transcriptOf(t, h, session)
		h.OK("reconcile")
		if transcriptOf(t, h, session) != first {
			t.Error("a second reconcile changed the session")
		}
		h.Clean()
	}
	if len(summaries) != 1 {
		t.Errorf("the same turn was committed as %d different summaries", len(summaries))
	}
}

// After a crash each of the four decisions has exactly its effect.
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
		{"retry", []string{"--model", "good"}, chat.PhaseResponseFinalized, chat.OutcomeCompleted, " And all is said.", 2},
		{"continue", []string{"--model", "good"}, chat.PhaseResponseFinalized, chat.OutcomeCompleted, part + " And all is said.", 2},
	}
	for i, c := range cases {
		t.Run(c.verb, func(t *testing.T) {
			t.Parallel()
			w := harness.Wires[i%len(harness.Wires)]
			server := harness.NewHeldServer(t, true, w.TextStream(false, crashTexts...)...)
			good := harness.NewHeldServer(t, false, w.TextStream(true, " And all", " is said.")...)
			h := harness.NewHome(t, harness.Shipped(t), w.Model("m", server.URL)+w.Model("good", good.URL)+"[librarian]\nafter_send_s = 0\n")
			crash{texts: crashTexts}.die(t, h, server)
			session := h.LastSession()
			open := h.Only(session)
			s := h.OK(append([]string{c.verb, open.ID, "--json"}, c.args...)...).Sent()
			turn := h.Only(session)
			if s.Phase != c.phase || s.Outcome != c.outcome || turn.Phase != c.phase || turn.Outcome != c.outcome {
				t.Errorf("%s gave %s %q, stored %s %q", c.verb, s.Phase, s.Outcome, turn.Phase, turn.Outcome)
			}
			if s.Text != c.text || turn.Text() != c.text || len(turn.Steps) != c.steps {
				t.Errorf("%s: text %q, stored %q in %d steps, want %q in %d", c.verb, s.Text, turn.Text(), len(turn.Steps), c.text, c.steps)
			}
			if c.verb == "continue" {
				if body := string(<-good.Asked); !strings.Contains(body, "Half of an ans") {
					t.Errorf("the continuation does not show the model its own words: %s", harness.Clip(body))
				}
			}
			next := h.OK("send", "--json", "--session", session, "--model", "good", "--wait", "indexed", "Go on.").Sent()
			if next.Seq != 2 || next.Phase != chat.PhaseDone {
				t.Errorf("the next message: %+v", next)
			}
			h.Clean()
		})
	}
}

// A message that was not sent because of a crash is never sent automatically.
func TestAnUnsentMessageWaitsForTheUser(t *testing.T) {
	t.Parallel()
	w := harness.OpenAIWire
	server := harness.NewHeldServer(t, false, w.TextStream(true, "Now.")...)
	h := harness.NewHome(t, harness.Shipped(t), w.Model("m", server.URL))
	crashes[0].die(t, h, server)
	session := h.LastSession()
	h.OK("reconcile")
	h.OK("reconcile")
	if n := len(server.Asked); n != 0 {
		t.Fatalf("the provider was asked %d times", n)
	}
	open := h.Only(session)
	if f := h.Run("send", "--json", "--incomplete", "fail", "--session", session, "Another.").Fails(1, chat.CodeIncomplete); !strings.Contains(f.Hint, open.ID) {
		t.Errorf("the hint does not name the turn: %+v", f)
	}
	if s := h.OK("resend", open.ID, "--json").Sent(); s.TurnID != open.ID || s.Text != "Now." || s.Outcome != chat.OutcomeCompleted {
		t.Errorf("resend: %+v", s)
	}
	if n := len(h.Show(session).Turns); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
	h.Clean()
}

// A process that is killed during recovery leaves the same result as one that was not.
func TestACrashDuringRecoveryChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []crash{crashes[4], crashes[6]} {
		server := harness.NewHeldServer(t, false, harness.AnthropicWire.TextStream(true, crashTexts...)...)
		h := harness.NewHome(t, harness.Shipped(t), harness.AnthropicWire.Model("m", server.URL))
		c.die(t, h, server)
		session := h.LastSession()
		journalled := journalText(t, h.Journals()[0])
		h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=recover.settled:exit").Run("reconcile").Exits(137)
		h.OK("sessions", "rename", session, "The second recovery")
		c.checkRecovered(t, h, session, journalled)
		h.Clean()
	}
}

// A torn last line, as left by a full disk or a power failure, is dropped and reported; the lines before it are the
// answer, and the file does not change.
func TestATornJournalIsReadUpToTheTear(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.ChatWire.TextStream(false, crashTexts...)...)
	h := harness.NewHome(t, harness.Shipped(t), harness.ChatWire.Model("m", server.URL))
	crash{texts: crashTexts}.die(t, h, server)
	session, path := h.LastSession(), h.Journals()[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := data[:len(data)-7]
	harness.WriteFile(t, path, torn)
	want := journalText(t, path)
	if want == "" || want == strings.Join(crashTexts, "") {
		t.Fatalf("the torn end removed nothing or everything: %q", want)
	}
	r := h.OK("reconcile")
	if !strings.Contains(r.Stdout, "discarded_lines") {
		t.Errorf("the tear is not reported: %s", r.Stdout)
	}
	if turn := h.Only(session); turn.Text() != want || !(turn.Outcome == chat.OutcomeIncomplete) {
		t.Errorf("recovered %s %q, want %q", turn.Outcome, turn.Text(), want)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, torn) {
		t.Error("the journal was changed")
	}
	h.Clean()
}

// The command verify reports a flipped bit in a journal, before and after recovery; the lines before it are the answer.
func TestVerifyReportsADamagedJournal(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.ChatWire.TextStream(false, crashTexts...)...)
	h := harness.NewHome(t, harness.Shipped(t), harness.ChatWire.Model("m", server.URL))
	crash{texts: crashTexts}.die(t, h, server)
	session, path := h.LastSession(), h.Journals()[0]
	step := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("with"))
	data[at] ^= 0x01
	harness.WriteFile(t, path, data)
	for _, when := range []string{"before recovery", "after it"} {
		var doc struct{ Findings []chat.Finding }
		h.Run("verify", "--json").Exits(3).Document(&doc)
		if len(doc.Findings) != 1 || doc.Findings[0].ID != step || doc.Findings[0].Kind != "journal" {
			t.Errorf("%s: %+v", when, doc.Findings)
		}
		if turn := h.Only(session); turn.Text() != crashTexts[0]+crashTexts[1] {
			t.Errorf("%s the answer is %q", when, turn.Text())
		}
		h.OK("reconcile")
	}
}

// reconcile reports a recovered answer only once.
func TestReconcileReportsOnce(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.OpenAIWire.TextStream(false, crashTexts...)...)
	h := harness.NewHome(t, harness.Shipped(t), harness.OpenAIWire.Model("m", server.URL))
	crash{texts: crashTexts}.die(t, h, server)
	var report struct {
		Recovery chat.RecoveryReport
	}
	h.OK("reconcile", "--json").Document(&report)
	text := strings.Join(crashTexts, "")
	if items := report.Recovery.Items; len(items) != 1 || items[0].Kind != chat.RecoveredIncomplete || items[0].Bytes != int64(len(text)) {
		t.Errorf("the first report: %s", fmt.Sprint(items))
	}
	h.OK("reconcile", "--json").Document(&report)
	for _, item := range report.Recovery.Items {
		if item.Kind == chat.RecoveredIncomplete {
			t.Errorf("reported twice: %+v", item)
		}
	}
}
