package app

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
)

// A first message to each protocol of a provider that no one here wrote: the
// text arrives in pieces, the document at the end says what was stored.
func TestSendStreamsFromEveryProtocol(t *testing.T) {
	t.Parallel()
	config := aimockModels(t)
	for i, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, shipped(t), config)
			streamsInPieces(t, h, w, 100+i)
			answersWithDocument(t, h, w, 200+i)
			h.clean()
		})
	}
}

func streamsInPieces(t *testing.T, h *home, w wireProtocol, number int) {
	t.Helper()
	p := h.start(nil, "send", "--new", "--model", w.name, "Speak slowly. "+tag("slow", number))
	want := answerTo(number)
	pieces, length := 0, 0
	p.await("the whole answer", p.out, func(s string) bool {
		if len(s) > length {
			pieces, length = pieces+1, len(s)
		}
		return len(s) >= len(want)
	})
	r := p.wait().exits(0)
	if pieces < 2 { // how many is the machine's affair; all at once would be one
		t.Errorf("the answer was seen in %d pieces: it did not stream", pieces)
	}
	if r.stdout != want+"\n" || r.stderr != "" {
		t.Errorf("stdout %q\nstderr %q", clip(r.stdout), clip(r.stderr))
	}
}

func answersWithDocument(t *testing.T, h *home, w wireProtocol, number int) {
	t.Helper()
	r := h.ok("send", "--new", "--json", "--model", w.name, "At once. "+tag("good", number))
	hasFields(t, r.stdout, "schema", "session_id", "branch_id", "turn_id", "turn_seq", "phase", "outcome", "text", "usage", "attempts")
	s := r.sent()
	if s.Text != answerTo(number) || s.Phase != chat.PhaseResponseFinalized || s.Outcome != chat.OutcomeCompleted ||
		s.Seq != 1 || s.Attempts != 1 || s.Error != nil {
		t.Errorf("send: %+v", s)
	}
	if s.Usage == nil || s.Usage.InputTokens != 10 || s.Usage.OutputTokens != 5 {
		t.Errorf("usage is %+v, the provider said 10 and 5", s.Usage)
	}
	turn := h.only(s.SessionID)
	if turn.ID != s.TurnID || turn.BranchID != s.BranchID || turn.text() != s.Text || turn.User.RenderedText() != "At once. "+tag("good", number) {
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
			t.Errorf("field %s is missing or null in %s", n, clip(doc))
		}
	}
}

// The text is on stdout while the provider still holds the connection open.
func TestTextIsShownBeforeTheStreamEnds(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			server := newHeldServer(t, true, w.saying(false, "First words", ", then silence 🌍")...)
			h := newHome(t, shipped(t), w.model("held", server.url))
			p := h.start(nil, "send", "--new", "--model", "held", "Talk.")
			p.awaitOutput("First words, then silence 🌍")
			p.interrupt()
			r := p.wait().exits(1)
			if !strings.Contains(r.stderr, "topped") {
				t.Errorf("stderr: %q", clip(r.stderr))
			}
			if turn := h.only(h.lastSession()); turn.Outcome != chat.OutcomeStopped || turn.text() != "First words, then silence 🌍" {
				t.Errorf("a stopped answer stands as %s %q", turn.Outcome, turn.text())
			}
			h.clean()
		})
	}
}

// With no key and no network the built-in model answers from the user's own history.
func TestSendToRecall(t *testing.T) {
	t.Parallel()
	h := newHome(t, shipped(t), "")
	first := h.ok("send", "--new", "--json", "--wait", "indexed", "The migration to the violet cluster happens on the ninth of May.").sent()
	if first.Phase != chat.PhaseDone || first.Text == "" {
		t.Fatalf("without any configuration: %+v", first)
	}
	p := h.start(nil, "send", "--new", "When does the migration to the violet cluster happen?")
	r := p.wait().exits(0)
	if !strings.Contains(r.stdout, "ninth of May") {
		t.Errorf("recall did not quote the message: %q", clip(r.stdout))
	}
	again := h.only(h.lastSession())
	if strings.TrimSuffix(r.stdout, "\n") != again.text() {
		t.Errorf("stdout %q is not what was stored: %q", clip(r.stdout), clip(again.text()))
	}
	if strings.Contains(h.ok("sessions").stdout, "No sessions") {
		t.Error("sessions lists nothing")
	}
	h.clean()
}

func TestWaitRunsBackgroundWorkAsFarAsAsked(t *testing.T) {
	t.Parallel()
	models := aimockModels(t)
	h := newHome(t, shipped(t), "[librarian]\nafter_send_s = 0\n"+models)
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
		s := h.ok("send", "--new", "--json", "--wait", c.wait, "--model", "openai", "Wait. "+tag("good", 300+i)).sent()
		doc := h.show(s.SessionID)
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
	if f := h.run("send", "--new", "--json", "--wait", "soon", "x").fails(2, chat.CodeInvalid); !strings.Contains(f.Message, "soon") {
		t.Errorf("a wrong --wait: %+v", f)
	}
	h.configure(models) // by default what is due is done after the answer was printed
	s := h.ok("send", "--new", "--json", "--model", "openai", "Wait. "+tag("good", 310)).sent()
	if stored := h.only(s.SessionID).Phase; s.Phase != chat.PhaseResponseFinalized || stored != chat.PhaseDone {
		t.Errorf("send alone printed %s and left the turn %s", s.Phase, stored)
	}
	h.clean()
}

// --session goes on, --branch chooses, stdin is a message byte for byte.
func TestSendGoesWhereItIsTold(t *testing.T) {
	t.Parallel()
	h := newHome(t, shipped(t), aimockModels(t))
	one := h.ok("send", "--new", "--json", "--model", "anthropic", "One. "+tag("good", 401)).sent()
	two := h.ok("send", "--json", "--session", one.SessionID, "Two. "+tag("good", 402)).sent()
	if two.SessionID != one.SessionID || two.BranchID != one.BranchID || two.Seq != 2 {
		t.Errorf("--session: %+v after %+v", two, one)
	}
	h.ok("fork", one.TurnID, "--json")
	other := h.show(one.SessionID).other(t, one.BranchID).ID
	piped := "  Piped,\nwith lines \t and an end. " + tag("good", 403) + "\n"
	three := h.runIn(piped, "send", "--json", "--session", one.SessionID, "--branch", other, "-").exits(0).sent()
	four := h.runIn(piped, "send", "--json", "--session", one.SessionID, "--branch", one.BranchID).exits(0).sent()
	if three.BranchID != other || three.Seq != 2 || four.BranchID != one.BranchID || four.Seq != 3 {
		t.Errorf("--branch: %+v and %+v", three, four)
	}
	if got := h.show(one.SessionID, "--branch", other).Turns; len(got) != 2 || got[1].User.RenderedText() != piped {
		t.Errorf("the forked branch shows %+v", got)
	}
	h.clean()
}

func TestSendAttachesAnImage(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			server := newHeldServer(t, false, w.saying(true, "A grey picture.")...)
			h := newHome(t, shipped(t), w.model("eye", server.url))
			path := filepath.Join(h.dir, "grey.png")
			write(t, path, picture.Bytes())
			s := h.ok("send", "--new", "--json", "--model", "eye", "--image", path, "What is this?").sent()
			if body := string(<-server.asked); !strings.Contains(body, base64.StdEncoding.EncodeToString(picture.Bytes())) || !strings.Contains(body, "image/png") {
				t.Errorf("the request holds no image: %s", clip(body))
			}
			turn := h.only(s.SessionID)
			if len(turn.User.Blocks) != 2 {
				t.Errorf("%d blocks are stored, want image and text", len(turn.User.Blocks))
			}
			h.clean()
		})
	}
}
