package process

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// A first message to each protocol of a third-party mock: the text arrives in pieces, and the document at the end
// reports what was stored.
func TestSendStreamsFromEveryProtocol(t *testing.T) {
	t.Parallel()
	config := harness.AimockModels(t)
	for i, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			h := harness.NewHome(t, harness.Shipped(t), config)
			streamsInPieces(t, h, w, 100+i)
			answersWithDocument(t, h, w, 200+i)
			h.Clean()
		})
	}
}

func streamsInPieces(t *testing.T, h *harness.Home, w harness.WireProtocol, number int) {
	t.Helper()
	p := h.Start(nil, "send", "--new", "--model", w.Name, "Speak slowly. "+harness.Tag("slow", number))
	want := harness.AnswerTo(number)
	pieces, length := 0, 0
	p.Await("the complete answer", p.Out, func(s string) bool {
		if len(s) > length {
			pieces, length = pieces+1, len(s)
		}
		return len(s) >= len(want)
	})
	r := p.Wait().Exits(0)
	if pieces < 2 { // the number depends on the machine; without streaming it would be one
		t.Errorf("the answer arrived in %d pieces: it did not stream", pieces)
	}
	if r.Stdout != want+"\n" || r.Stderr != "" {
		t.Errorf("stdout %q\nstderr %q", harness.Clip(r.Stdout), harness.Clip(r.Stderr))
	}
}

func answersWithDocument(t *testing.T, h *harness.Home, w harness.WireProtocol, number int) {
	t.Helper()
	r := h.OK("send", "--new", "--json", "--model", w.Name, "At once. "+harness.Tag("good", number))
	hasFields(t, r.Stdout, "schema", "session_id", "branch_id", "turn_id", "turn_seq", "phase", "outcome", "text", "usage", "attempts")
	s := r.Sent()
	if s.Text != harness.AnswerTo(number) || s.Phase != chat.PhaseResponseFinalized || s.Outcome != chat.OutcomeCompleted ||
		s.Seq != 1 || s.Attempts != 1 || s.Error != nil {
		t.Errorf("send: %+v", s)
	}
	if s.Usage == nil || s.Usage.InputTokens != 10 || s.Usage.OutputTokens != 5 {
		t.Errorf("usage is %+v, the provider reported 10 and 5", s.Usage)
	}
	turn := h.Only(s.SessionID)
	if turn.ID != s.TurnID || turn.BranchID != s.BranchID || turn.Text() != s.Text || turn.User.RenderedText() != "At once. "+harness.Tag("good", number) {
		t.Errorf("show differs from send: %+v", turn)
	}
	if len(turn.Steps) != 1 || turn.Steps[0].Outcome.Status != chat.StepCompleted || turn.Steps[0].Durable != int64(len(s.Text)) {
		t.Errorf("steps: %+v", turn.Steps)
	}
}

func hasFields(t *testing.T, doc string, names ...string) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &fields); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if v, ok := fields[n]; !ok || string(v) == "null" {
			t.Errorf("field %s is missing or null in %s", n, harness.Clip(doc))
		}
	}
}

// The text is on stdout while the provider still holds the connection open.
func TestTextIsShownBeforeTheStreamEnds(t *testing.T) {
	t.Parallel()
	for _, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			server := harness.NewHeldServer(t, true, w.TextStream(false, "First words", ", then silence 🌍")...)
			h := harness.NewHome(t, harness.Shipped(t), w.Model("held", server.URL))
			p := h.Start(nil, "send", "--new", "--model", "held", "Talk.")
			p.AwaitOutput("First words, then silence 🌍")
			p.Interrupt()
			r := p.Wait().Exits(1)
			if !strings.Contains(r.Stderr, "topped") {
				t.Errorf("stderr: %q", harness.Clip(r.Stderr))
			}
			if turn := h.Only(h.LastSession()); turn.Outcome != chat.OutcomeStopped || turn.Text() != "First words, then silence 🌍" {
				t.Errorf("a stopped answer is stored as %s %q", turn.Outcome, turn.Text())
			}
			h.Clean()
		})
	}
}

// Without a key and a network, the built-in model answers from the user's own history.
func TestSendToRecall(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), "")
	first := h.OK("send", "--new", "--json", "--wait", "indexed", "The migration to the violet cluster happens on the ninth of May.").Sent()
	if first.Phase != chat.PhaseDone || first.Text == "" {
		t.Fatalf("without any configuration: %+v", first)
	}
	p := h.Start(nil, "send", "--new", "When does the migration to the violet cluster happen?")
	r := p.Wait().Exits(0)
	if !strings.Contains(r.Stdout, "ninth of May") {
		t.Errorf("recall did not quote the message: %q", harness.Clip(r.Stdout))
	}
	again := h.Only(h.LastSession())
	if strings.TrimSuffix(r.Stdout, "\n") != again.Text() {
		t.Errorf("stdout %q is not what was stored: %q", harness.Clip(r.Stdout), harness.Clip(again.Text()))
	}
	if strings.Contains(h.OK("sessions").Stdout, "No sessions") {
		t.Error("sessions lists nothing")
	}
	h.Clean()
}

func TestWaitRunsBackgroundWorkUpToItsLevel(t *testing.T) {
	t.Parallel()
	models := harness.AimockModels(t)
	h := harness.NewHome(t, harness.Shipped(t), "[librarian]\nafter_send_s = 0\n"+models)
	cases := []struct {
		wait    string
		phase   chat.Phase
		pending int
	}{
		{"finalized", chat.PhaseResponseFinalized, 1},
		{"committed", chat.PhaseStateCommitted, 0},
		{"indexed", chat.PhaseDone, 0},
	}
	for i, c := range cases {
		s := h.OK("send", "--new", "--json", "--wait", c.wait, "--model", "openai", "Wait. "+harness.Tag("good", 300+i)).Sent()
		doc := h.Show(s.SessionID)
		turn, branch := doc.Turns[0], doc.Branches[0]
		if s.Phase != c.phase || turn.Phase != c.phase {
			t.Errorf("--wait %s: phase %s, stored %s, want %s", c.wait, s.Phase, turn.Phase, c.phase)
		}
		if branch.Pending != c.pending || (turn.StateAfter == "") != (c.pending == 1) {
			t.Errorf("--wait %s: %d pending, state_after %q", c.wait, branch.Pending, turn.StateAfter)
		}
		if moved := branch.HeadState != turn.StateBefore; moved != (c.pending == 0) {
			t.Errorf("--wait %s: head moved: %v", c.wait, moved)
		}
	}
	if f := h.Run("send", "--new", "--json", "--wait", "soon", "x").Fails(2, chat.CodeInvalid); !strings.Contains(f.Message, "soon") {
		t.Errorf("a wrong --wait: %+v", f)
	}
	h.Configure(models) // by default background work is done after the answer was printed
	s := h.OK("send", "--new", "--json", "--model", "openai", "Wait. "+harness.Tag("good", 310)).Sent()
	if stored := h.Only(s.SessionID).Phase; s.Phase != chat.PhaseResponseFinalized || stored != chat.PhaseDone {
		t.Errorf("send alone printed %s and left the turn %s", s.Phase, stored)
	}
	h.Clean()
}

// --session continues a session, --branch chooses a branch, and stdin is a message byte for byte.
func TestSendToASessionAndBranch(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), harness.AimockModels(t))
	one := h.OK("send", "--new", "--json", "--model", "anthropic", "One. "+harness.Tag("good", 401)).Sent()
	two := h.OK("send", "--json", "--session", one.SessionID, "Two. "+harness.Tag("good", 402)).Sent()
	if two.SessionID != one.SessionID || two.BranchID != one.BranchID || two.Seq != 2 {
		t.Errorf("--session: %+v after %+v", two, one)
	}
	h.OK("fork", one.TurnID, "--json")
	other := h.Show(one.SessionID).Other(t, one.BranchID).ID
	piped := "  Piped,\nwith lines \t and an end. " + harness.Tag("good", 403) + "\n"
	three := h.RunIn(piped, "send", "--json", "--session", one.SessionID, "--branch", other, "-").Exits(0).Sent()
	four := h.RunIn(piped, "send", "--json", "--session", one.SessionID, "--branch", one.BranchID).Exits(0).Sent()
	if three.BranchID != other || three.Seq != 2 || four.BranchID != one.BranchID || four.Seq != 3 {
		t.Errorf("--branch: %+v and %+v", three, four)
	}
	if got := h.Show(one.SessionID, "--branch", other).Turns; len(got) != 2 || got[1].User.RenderedText() != piped {
		t.Errorf("the forked branch shows %+v", got)
	}
	h.Clean()
}

func TestSendAttachesAnImage(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	for _, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			server := harness.NewHeldServer(t, false, w.TextStream(true, "A grey picture.")...)
			h := harness.NewHome(t, harness.Shipped(t), w.Model("eye", server.URL))
			path := filepath.Join(h.Dir, "grey.png")
			harness.WriteFile(t, path, picture.Bytes())
			s := h.OK("send", "--new", "--json", "--model", "eye", "--image", path, "What is this?").Sent()
			if body := string(<-server.Asked); !strings.Contains(body, base64.StdEncoding.EncodeToString(picture.Bytes())) || !strings.Contains(body, "image/png") {
				t.Errorf("the request has no image: %s", harness.Clip(body))
			}
			turn := h.Only(s.SessionID)
			if len(turn.User.Blocks) != 2 {
				t.Errorf("%d blocks are stored, want image and text", len(turn.User.Blocks))
			}
			h.Clean()
		})
	}
}
