package app

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/prompt"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// chatter returns the text of a turn: prose with a decision in it, so long that forty turns do not fit into 8 000
// tokens.
func chatter(i int) string {
	return fmt.Sprintf("In week %d we moved the green boxes. We decided to use shelf %d for them. ", i, 100+i) +
		strings.Repeat("The weather was mild and nobody hurried, so that the talk went on for a while. ", 5) + "<b>&amp; größer 漢字</b>"
}

// conversation is the branch of the X-ray test, with the request body of each turn.
type conversation struct {
	*fixture
	wire    harness.WireProtocol
	relay   *harness.Relay
	session string
	turns   []harness.Sent
	sent    map[string][]byte // by turn
}

func (c *conversation) say(args ...string) harness.Sent {
	c.t.Helper()
	s := c.send(c.session, append(args, "--model", "m")...)
	c.session = s.SessionID
	c.turns = append(c.turns, s)
	c.sent[s.TurnID] = c.relay.LastBody(c.t)
	return s
}

// For any past turn and each protocol, every byte of text that was sent belongs to exactly one item of the X-ray, and
// no item shows more. This covers pins, pending turns, extracts, summaries by a model, a continuation, an image, and
// a fork.
func TestXRayShowsWhatWasOnTheWire(t *testing.T) {
	t.Parallel()
	for _, w := range testtier.Size(harness.Wires[1:2], harness.Wires) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			c := fortyTurns(t, w)
			counts := map[string]int{}
			for i, s := range c.turns {
				v := c.contextView(c.session, "--turn", s.TurnID)
				harness.EveryByteIsShown(t, w, v, c.sent[s.TurnID], fmt.Sprintf("turn %d", i+1))
				for source, n := range v.Sources() {
					counts[source] += n
				}
				for _, sec := range v.Manifest.Sections {
					counts[sec.Name]++
				}
				if v.Reported < 12 {
					t.Errorf("turn %d: the provider's count is shown as %d", i+1, v.Reported)
				}
			}
			for _, kind := range []string{"pin", "turn", "summary", "extract", "state", "message", "partial", prompt.SectionPending, prompt.SectionOriginals} {
				if counts[kind] == 0 {
					t.Errorf("no context had a %s, so the test proves too little (%v)", kind, counts)
				}
			}
			c.Clean()
		})
	}
}

func fortyTurns(t *testing.T, w harness.WireProtocol) *conversation {
	t.Helper()
	cutRequest := 0
	reply := func(n int) llmtest.Step {
		if cutRequest == n {
			return llmtest.Step{Chunks: llmtest.Stream(w.TextStream(false, "Half of an ans")...).Chunks, Drop: true}
		}
		return harness.Reply(w, n)
	}
	r := harness.NewRelay(t, w, reply, harness.Summarizing(w))
	c := &conversation{fixture: newFixture(t, w.Windowed("m", r.URL, 8192)+"[librarian]\nafter_send_s = 0\n"), wire: w, relay: r, sent: map[string][]byte{}}
	c.say("Hello. " + chatter(0))
	c.OK("pin", c.session, "Never on a <Friday>,\nand never & ever")
	for i := 1; i < 36; i++ {
		args := []string{chatter(i)}
		switch {
		case i == 12:
			cutRequest = len(r.Bodies()) + 1
			c.addContinued(chatter(i))
			continue
		case i == 20:
			args = append(args, "--image", c.picture())
		case i%3 == 0 || i > 25:
			args = append(args, "--wait", "committed")
		}
		c.say(args...)
		if i == 22 {
			c.OK("summarize", c.session)
		}
	}
	c.forkAfter(c.turns[30])
	return c
}

// addContinued adds a turn whose answer was cut off and then continued.
func (c *conversation) addContinued(text string) {
	c.t.Helper()
	s := c.Run("send", "--json", "--session", c.session, "--model", "m", text).Exits(1).Sent()
	c.OK("continue", s.TurnID, "--json")
	c.turns = append(c.turns, s)
	c.sent[s.TurnID] = c.relay.LastBody(c.t)
}

// forkAfter continues the conversation on a fork after an earlier turn.
func (c *conversation) forkAfter(turn harness.Sent) {
	c.t.Helper()
	c.OK("fork", turn.TurnID, "--switch")
	for i := range 4 {
		if s := c.say(chatter(200 + i)); s.BranchID == turn.BranchID {
			c.t.Fatal("the message did not go to the fork")
		}
	}
}

func (c *conversation) picture() string {
	c.t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		c.t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(c.config), "grey.png")
	harness.WriteFile(c.t, path, b.Bytes())
	return path
}
