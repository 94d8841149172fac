package turn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/transfer"
)

// sentTexts returns the texts of a request to the scripted provider, in order.
func sentTexts(t *testing.T, body string) []string {
	t.Helper()
	var req struct {
		System   []string       `json:"system"`
		Messages []chat.Message `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatal(err)
	}
	out := req.System
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			out = append(out, b.(chat.Text).Text)
		}
	}
	return out
}

// TestXRayShowsEveryByte: for any past turn, the X-ray shows exactly the text that was sent, even after the cut
// advanced and the turn was committed.
func TestXRayShowsEveryByte(t *testing.T) {
	w := newEnv(t)
	w.window = 6000
	if _, err := w.store.AddPin(t.Context(), w.branch.ID, "Never on a Friday", 4); err != nil {
		t.Fatal(err)
	}
	var turns []chat.Turn
	for i := range 30 {
		w.provider.script(call{events: []string{text(strings.Repeat("answer ", 120)), done}})
		turns = append(turns, w.send(fmt.Sprintf("question %d %s", i, strings.Repeat("word ", 60))))
		if _, err := w.jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	requests := w.provider.requests()
	cut := false
	for i, turn := range turns {
		seen, err := w.engine.ContextSeen(t.Context(), turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !seen.Same {
			t.Fatalf("turn %d: %s", i+1, seen.Note)
		}
		cut = cut || seen.Manifest.History.Cut > 0
		shown := map[string]string{}
		for _, x := range seen.Texts {
			shown[x.Section] += x.Text
		}
		var all strings.Builder
		for _, s := range seen.Manifest.Sections {
			all.WriteString(shown[s.Name])
		}
		if sent := strings.Join(sentTexts(t, requests[i]), ""); sent != all.String() {
			t.Fatalf("turn %d: %d bytes were sent, %d are shown", i+1, len(sent), all.Len())
		}
	}
	if !cut {
		t.Fatal("the cut never advanced, so the test proves too little")
	}
	w.clean()
}

// TestPrefixThroughTheStore: while turns are committed and range summaries are made, sections 1 to 6 of a request are
// a prefix of the next request until the cut advances.
func TestPrefixThroughTheStore(t *testing.T) {
	w := newEnv(t)
	w.window = 8192
	var last prompt.Manifest
	var lastSent []string
	advances := 0
	for i := range 60 {
		w.provider.script(call{events: []string{text(strings.Repeat("answer ", 100)), done}})
		turn := w.send(fmt.Sprintf("question %d %s", i, strings.Repeat("word ", 50)))
		if i%3 == 0 {
			if _, err := w.jobs.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := w.jobs.SummarizeRanges(t.Context(), w.branch.ID, false); err != nil {
				t.Fatal(err)
			}
		}
		seen, err := w.engine.ContextSeen(t.Context(), turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		reqs := w.provider.requests()
		sent := stablePart(sentTexts(t, reqs[len(reqs)-1]))
		if i > 0 && seen.Manifest.History.Cut == last.History.Cut {
			if !strings.HasPrefix(strings.Join(sent, "\x00"), strings.Join(lastSent, "\x00")) {
				t.Fatalf("turn %d does not share the prefix of the turn before", i+1)
			}
		} else if i > 0 {
			advances++
		}
		last, lastSent = seen.Manifest, sent
	}
	if advances < 2 || advances > 6 {
		t.Fatalf("the cut advanced %d times in 60 turns", advances)
	}
}

// TestForcedSummaries: on request, all turns but the newest are summarized once although they still fit. They are
// sent in full until they no longer fit.
func TestForcedSummaries(t *testing.T) {
	w := newEnv(t)
	for i := range 8 {
		w.provider.script(call{events: []string{text(strings.Repeat("answer ", 100)), done}})
		w.send(fmt.Sprintf("question %d %s", i, strings.Repeat("word ", 50)))
	}
	if _, err := w.jobs.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := w.engine.EnqueueRanges(t.Context(), w.branch.ID); err != nil || n != 0 {
		t.Fatalf("%d ranges of a conversation that fits, %v", n, err)
	}
	if n, err := w.engine.EnqueueAll(t.Context(), w.branch.ID); err != nil || n != 1 {
		t.Fatalf("%d forced ranges, %v", n, err)
	}
	if n, err := w.jobs.SummarizeRanges(t.Context(), w.branch.ID, true); err != nil || n != 1 {
		t.Fatalf("%d jobs, %v", n, err)
	}
	made, err := w.store.Summaries(t.Context(), w.branch.ID)
	if err != nil || len(made) != 1 || made[0].From != 1 || made[0].To != 7 {
		t.Fatalf("the summaries are %+v, %v", made, err)
	}
	if n, err := w.engine.EnqueueAll(t.Context(), w.branch.ID); err != nil || n != 0 {
		t.Fatalf("forced again: %d ranges, %v", n, err)
	}
	w.provider.script(call{events: []string{text("fine"), done}})
	seen, err := w.engine.ContextSeen(t.Context(), w.send("and now?").ID)
	if err != nil || seen.Manifest.History.Cut != 0 {
		t.Fatalf("the cut is at %d, %v", seen.Manifest.History.Cut, err)
	}
	w.clean()
}

// stablePart returns the texts before the memory block and the message.
func stablePart(texts []string) []string { return texts[:len(texts)-2] }

// TestSizeRejection: if the provider rejects a request for its size, a smaller one is sent, up to three times, and
// each attempt is logged. Then the turn fails with a clear error.
func TestSizeRejection(t *testing.T) {
	tooLarge := &llm.Error{Code: chat.CodeTooLarge, Status: 400, Message: "prompt is too long"}
	for _, tt := range []struct {
		rejections int
		phase      chat.Phase
		steps      int
	}{{2, chat.PhaseResponseFinalized, 3}, {9, chat.PhaseFailed, 4}} {
		w := newEnv(t)
		w.window = 6000
		for range 12 {
			w.provider.script(call{events: []string{text(strings.Repeat("answer ", 120)), done}})
			w.send(strings.Repeat("word ", 60))
		}
		if _, err := w.jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range tt.rejections { // before the stream, and inside it
			w.provider.script(call{events: [][]string{nil, {reasoning("Hm.")}}[i%2], err: tooLarge})
		}
		got := w.send("one more")
		steps, err := w.store.Steps(t.Context(), got.ID)
		if err != nil || got.Phase != tt.phase || len(steps) != tt.steps {
			t.Fatalf("%d rejections: %s after %d steps (%v) %+v", tt.rejections, got.Phase, len(steps), err, got.Failure)
		}
		if tt.phase == chat.PhaseFailed {
			if got.Failure.Code != chat.CodeTooLarge || got.Failure.Hint == "" {
				t.Fatalf("%+v", got.Failure)
			}
			continue
		}
		seen, err := w.engine.ContextSeen(t.Context(), got.ID)
		if err != nil || !seen.Same || seen.Manifest.Inputs.Reduce >= 0.9 {
			t.Fatalf("%+v %v", seen.Manifest.Inputs, err)
		}
		w.clean()
	}
}

// TestSizeRejectionAfterText: text that was shown is not replaced by that of a smaller request; the user decides.
func TestSizeRejectionAfterText(t *testing.T) {
	w := newEnv(t)
	w.provider.script(call{events: []string{text("half")}, err: &llm.Error{Code: chat.CodeTooLarge, Message: "too long"}})
	w.is(w.send("hi"), chat.PhaseResponding, chat.OutcomeIncomplete, "half")
	w.clean()
}

// TestARefusedPartIsLeftOut: the message is sent again without the part that its server refused, and the X-ray says so;
// a server that refuses the same part again is not asked a third time.
func TestARefusedPartIsLeftOut(t *testing.T) {
	refused := func(part string) call {
		return call{err: &llm.Error{Code: chat.CodeProvider, Status: 400, Message: "not supported", Refused: part}}
	}
	for _, tt := range []struct {
		calls []call
		phase chat.Phase
		sent  int
	}{
		{[]call{refused("stream_options"), refused("max_tokens")}, chat.PhaseResponseFinalized, 3},
		{[]call{refused("stream_options"), refused("stream_options")}, chat.PhaseFailed, 2},
	} {
		w := newEnv(t)
		w.provider.script(tt.calls...)
		got := w.send("hi")
		if got.Phase != tt.phase || len(w.provider.requests()) != tt.sent {
			t.Errorf("%s after %d requests", got.Phase, len(w.provider.requests()))
		}
		seen, err := w.engine.ContextSeen(t.Context(), got.ID)
		if err != nil || !strings.Contains(strings.Join(seen.Manifest.Notes, " "), "stream_options") {
			t.Errorf("it says %q, %v", seen.Manifest.Notes, err)
		}
		w.clean()
	}
}

// TestCalibration: if a provider counts more tokens than we do, less is sent, but only from the next advance of the
// cut on.
func TestCalibration(t *testing.T) {
	w := newEnv(t)
	w.window = 20000
	for range 20 {
		if err := w.store.ObserveCalibration(t.Context(), "scripted", "main", 1000, 1300); err != nil {
			t.Fatal(err)
		}
	}
	first := w.send("hello")
	seen, err := w.engine.ContextSeen(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if f := seen.Manifest.Budget.Calibration; f < 1.25 || f > 1.35 {
		t.Fatalf("calibration %v", f)
	}
	// People see numbers in the model's own tokens: the working set is the one that models lists, whatever is learned.
	m := seen.Manifest
	learned, plain := prompt.UsageOf(m), prompt.NewBudget(m.Limits, m.Policy, 1).Ceiling
	if want := int(math.Round(float64(m.TotalTokens) * m.Budget.Calibration)); learned.Ceiling != plain || learned.Used != want || m.Budget.Ceiling >= plain {
		t.Errorf("shown: %d of %d tokens, want %d of %d; the ceiling by our count is %d", learned.Used, learned.Ceiling, want, plain, m.Budget.Ceiling)
	}
	for range 50 {
		if err := w.store.ObserveCalibration(t.Context(), "scripted", "main", 1000, 800); err != nil {
			t.Fatal(err)
		}
	}
	second := w.send("and again")
	again, err := w.engine.ContextSeen(t.Context(), second.ID)
	if err != nil || again.Manifest.Budget.Calibration != seen.Manifest.Budget.Calibration {
		t.Fatalf("the calibration moved without an advance: %v %v", again.Manifest.Budget.Calibration, err)
	}
}

// TestPlainChat: with memory off, nothing derived is sent, and turns are still stored.
func TestPlainChat(t *testing.T) {
	w := newEnv(t)
	w.settings.Policy.History = prompt.HistoryOff
	for range 3 {
		w.send("hello there")
		if _, err := w.jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reqs := w.provider.requests()
	if last := reqs[len(reqs)-1]; strings.Contains(last, "state_summary") || strings.Count(last, "hello there") != 3 {
		t.Fatalf("plain chat sent %s", last)
	}
	w.clean()
}

// TestWhyNoContext: the error for a turn without a stored context is true of turns that were copied or imported, and of
// one that was never sent.
func TestWhyNoContext(t *testing.T) {
	w := newEnv(t)
	w.send("hello")
	first := func(session chat.SessionID) chat.Turn {
		t.Helper()
		s, err := w.store.Session(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		turns, err := w.store.Lineage(t.Context(), chat.LineageQuery{Branch: s.ActiveBranch})
		if err != nil || len(turns) == 0 {
			t.Fatal(len(turns), err)
		}
		return turns[0]
	}
	imported := func(id string, answer *chat.Message) chat.Turn {
		t.Helper()
		im, err := w.store.ImportConversation(t.Context(), transfer.Conversation{
			Source: transfer.SourceJSONL, ID: id, Key: id, Title: "Old", Model: "test", Current: "1",
			Turns: []transfer.Turn{{Key: "1", ContentKey: id, User: chat.UserText("hi"), Assistant: answer, Provider: "openai", Model: "test"}},
		}, chat.ImportRules{
			Summarize: func(string, []chat.Pin, []chat.Turn) chat.State {
				return chat.State{Summary: "## Facts\n", TokenCount: 1}
			},
			Excerpt: func(s string) (string, int) { return s, 1 },
		})
		if err != nil {
			t.Fatal(err)
		}
		return first(im.Session)
	}
	copied, err := w.store.Duplicate(t.Context(), w.branch.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	unsent, err := w.store.Accept(t.Context(), chat.Acceptance{BranchID: copied.Session.ActiveBranch, User: chat.UserText("hi"), Provider: "scripted", Model: "main"})
	if err != nil {
		t.Fatal(err)
	}
	answer := chat.AssistantText("Hello.")
	for _, c := range []struct {
		turn chat.Turn
		want string
	}{
		{first(copied.Session.ID), "The context of this turn is not stored here: it belongs to the original of this copy."},
		{imported("answered", &answer), "The context of this turn is not stored here: the turn was imported."},
		{imported("unanswered", nil), "The context of this turn is not stored here: the turn was imported."},
		{unsent, "Nothing was assembled for this turn: it was never sent."},
	} {
		if _, err := w.engine.ContextSeen(t.Context(), c.turn.ID); chat.CodeOf(err) != chat.CodeNotFound || chat.AsError(err).Message != c.want {
			t.Errorf("turn %d, %s: %v, want %q", c.turn.Seq, c.turn.Phase, err, c.want)
		}
	}
}

// TestPendingLimitFollowsTheWindow: a small window has less room for pending turns, whatever the setting says.
func TestPendingLimitFollowsTheWindow(t *testing.T) {
	w := newEnv(t)
	limits := map[int]int{}
	for _, window := range []int{4000, 32000} {
		w.window = window
		limits[window] = w.engine.PendingLimit(t.Context(), w.branch.ID)
	}
	if limits[4000] < 200 || limits[4000] > 2000 || limits[32000] < 4*limits[4000] {
		t.Errorf("%v", limits)
	}
}

// TestTheHeadIsTheCommittedSummary: a context is assembled from the branch's head state, also after it has moved
// (SRD 2.3.2).
func TestTheHeadIsTheCommittedSummary(t *testing.T) {
	w := newEnv(t)
	seen := map[string]bool{}
	for _, fact := range []string{"We decided to use SQLite.", "We decided to use Postgres for the archive.", "What did we decide?"} {
		b, err := w.store.Branch(t.Context(), w.branch.ID)
		if err != nil {
			t.Fatal(err)
		}
		m := w.manifest(w.send(fact).ID)
		if m.Inputs.HeadState != string(b.HeadState) || seen[m.Inputs.HeadState] {
			t.Errorf("assembled from state %s, the head is %s", m.Inputs.HeadState, b.HeadState)
		}
		seen[m.Inputs.HeadState] = true
		if _, err := w.jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sent := w.provider.requests()
	if last := sent[len(sent)-1]; strings.Count(last, "state_summary>") < 2 || !strings.Contains(last, "Postgres for the archive") {
		t.Errorf("the head's summary is not in the last request: %s", last)
	}
	w.clean()
}
