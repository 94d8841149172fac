package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/prompt"
)

// view is what `context --json` prints.
type view struct {
	SessionID string          `json:"session_id"`
	TurnID    string          `json:"turn_id"`
	Usage     string          `json:"usage_format"`
	Manifest  prompt.Manifest `json:"manifest"`
	Items     []prompt.Text   `json:"items"`
	Same      bool            `json:"same"`
	Note      string          `json:"note"`
	Reported  int             `json:"reported_input_tokens"`
	Diff      *struct {
		Against     string        `json:"against"`
		Added       []prompt.Text `json:"added"`
		Removed     []prompt.Text `json:"removed"`
		SharedBytes int           `json:"shared_prefix_bytes"`
		TotalBytes  int           `json:"total_bytes"`
	} `json:"diff"`
}

func viewOf(r result) view {
	r.t.Helper()
	var v view
	r.document(&v)
	return v
}

// sources counts the items by where they came from.
func (v view) sources() map[string]int {
	n := map[string]int{}
	for _, it := range v.Items {
		n[it.Source]++
	}
	return n
}

func (v view) text() string {
	var b strings.Builder
	for _, it := range v.Items {
		b.WriteString(it.Text)
	}
	return b.String()
}

// wireTexts are all texts of a request's body, in the order in which the model
// reads them.
func wireTexts(t testing.TB, w wireProtocol, body []byte) []string {
	t.Helper()
	var req struct {
		Instructions string            `json:"instructions"`
		System       json.RawMessage   `json:"system"`
		Input        []json.RawMessage `json:"input"`
		Messages     []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	var out []string
	if req.Instructions != "" {
		out = append(out, req.Instructions)
	}
	out = append(out, contentTexts(t, req.System)...)
	for _, raw := range append(req.Input, req.Messages...) {
		var m struct{ Content json.RawMessage }
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, contentTexts(t, m.Content)...)
	}
	if len(out) < 2 {
		t.Fatalf("%s: only %d texts were found in %s", w.name, len(out), clip(string(body)))
	}
	return out
}

// contentTexts reads a content that is one text, or a list of parts.
func contentTexts(t testing.TB, raw json.RawMessage) []string {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var parts []struct{ Text, Refusal string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		t.Fatalf("%v in %s", err, clip(string(raw)))
	}
	var out []string
	for _, p := range parts {
		out = append(out, p.Text+p.Refusal)
	}
	return out
}

// everyByteIsShown: the items in their order are the texts on the wire, byte for
// byte, and each item is what its part of the manifest says it is.
func everyByteIsShown(t testing.TB, w wireProtocol, v view, body []byte, where string) {
	t.Helper()
	if !v.Same {
		t.Errorf("%s: it does not come out the same: %s", where, v.Note)
	}
	wire, shown := strings.Join(wireTexts(t, w, body), ""), v.text()
	if wire != shown {
		at := 0
		for at < len(wire) && at < len(shown) && wire[at] == shown[at] {
			at++
		}
		t.Errorf("%s: %d bytes were sent and %d are shown; from byte %d on\nsent  %q\nshown %q", where, len(wire), len(shown), at,
			clip(wire[max(0, at-40):min(len(wire), at+80)]), clip(shown[max(0, at-40):min(len(shown), at+80)]))
	}
	n := 0
	for _, s := range v.Manifest.Sections {
		for _, part := range s.Items {
			if n >= len(v.Items) {
				t.Fatalf("%s: the manifest has more items than are shown", where)
			}
			it := v.Items[n]
			if !reflect.DeepEqual(it.Part, part) || it.Section != s.Name || it.Bytes != len(it.Text) || it.SHA256 != chat.HashText(it.Text) {
				t.Errorf("%s: item %d is %+v, the manifest says %+v", where, n, it.Part, part)
			}
			n++
		}
	}
	if n != len(v.Items) {
		t.Errorf("%s: %d items are shown, the manifest has %d", where, len(v.Items), n)
	}
}

// chatter is what the two sides say of a turn: prose with something to keep in
// it, long enough that forty turns do not fit 8 000 tokens.
func chatter(i int) string {
	return fmt.Sprintf("In week %d we moved the green boxes. We decided to use shelf %d for them. ", i, 100+i) +
		strings.Repeat("The weather was mild and nobody hurried, so that the talk went on for a while. ", 5) + "<b>&amp; größer 漢字</b>"
}

func reply(w wireProtocol, n int) llmtest.Step {
	return llmtest.Stream(w.saying(true, fmt.Sprintf("Answer %d. ", n), strings.Repeat("It is all noted, and the boxes stand where they should. ", 8), "Done 🌍.")...)
}

// summarizing answers as a librarian that does its work: what it is told to keep
// stands in what it writes.
func summarizing(w wireProtocol) func(*http.Request, string) llmtest.Step {
	return func(_ *http.Request, body string) llmtest.Step {
		return llmtest.Stream(w.saying(true, goodSummary(body))...)
	}
}

func goodSummary(body string) string {
	facts := "- The boxes were moved week by week\n"
	if _, list, found := strings.Cut(body, `<must_include>\n`); found {
		list, _, _ = strings.Cut(list, `</must_include>`)
		facts += strings.ReplaceAll(list, `\n`, "\n")
	}
	if strings.Contains(body, "You summarize one stretch") {
		return "## What happened\nThe boxes were moved.\n\n## Facts\n" + facts
	}
	return "## Facts\n" + facts + "\n## Decisions\n\n## Constraints\n\n## Artifacts\n\n## Open tasks\n"
}

// conversation is a branch as the X-ray test drives it: which body was sent for
// which turn.
type conversation struct {
	*desk
	wire    wireProtocol
	relay   *relay
	session string
	turns   []sent
	sent    map[string][]byte // by turn
}

func (c *conversation) say(args ...string) sent {
	c.t.Helper()
	s := c.send(c.session, append(args, "--model", "m")...)
	c.session = s.SessionID
	c.turns = append(c.turns, s)
	c.sent[s.TurnID] = c.relay.lastBody(c.t)
	return s
}

// The X-ray of any past turn, of each protocol: every byte of text that stood on
// the wire belongs to exactly one item shown, and no item shows more; through
// pins, pending turns, extracts, summaries by a model, a continuation, an image,
// and a fork.
func TestXRayShowsWhatWasOnTheWire(t *testing.T) {
	t.Parallel()
	for _, w := range wires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			c := fortyTurns(t, w)
			have := map[string]int{}
			for i, s := range c.turns {
				v := c.seen(c.session, "--turn", s.TurnID)
				everyByteIsShown(t, w, v, c.sent[s.TurnID], fmt.Sprintf("turn %d", i+1))
				for source, n := range v.sources() {
					have[source] += n
				}
				for _, sec := range v.Manifest.Sections {
					have[sec.Name]++
				}
				if v.Reported < 12 {
					t.Errorf("turn %d: the provider's count is shown as %d", i+1, v.Reported)
				}
			}
			for _, kind := range []string{"pin", "turn", "summary", "extract", "state", "message", "partial", prompt.SectionPending, prompt.SectionOriginals} {
				if have[kind] == 0 {
					t.Errorf("no context had a %s: the test shows too little (%v)", kind, have)
				}
			}
			c.clean()
		})
	}
}

func fortyTurns(t *testing.T, w wireProtocol) *conversation {
	t.Helper()
	cutOnce := 0
	say := func(n int) llmtest.Step {
		if cutOnce == n {
			return llmtest.Step{Chunks: llmtest.Stream(w.saying(false, "Half of an ans")...).Chunks, Drop: true}
		}
		return reply(w, n)
	}
	r := newRelay(t, w, func(n int) llmtest.Step { return say(n) }, summarizing(w))
	c := &conversation{desk: newDesk(t, w.windowed("m", r.url, 8192)+"[librarian]\nafter_send_s = 0\n"), wire: w, relay: r, sent: map[string][]byte{}}
	c.say("Hello. " + chatter(0))
	c.ok("pin", c.session, "Never on a <Friday>,\nand never & ever")
	for i := 1; i < 36; i++ {
		args := []string{chatter(i)}
		switch {
		case i == 12:
			cutOnce = len(r.bodies()) + 1
			c.continued(chatter(i))
			continue
		case i == 20:
			args = append(args, "--image", c.picture())
		case i%3 == 0 || i > 25:
			args = append(args, "--wait", "committed")
		}
		c.say(args...)
		if i == 22 {
			c.ok("summarize", c.session)
		}
	}
	c.forked(c.turns[30])
	return c
}

// continued is a turn whose answer was cut, and that the model went on with.
func (c *conversation) continued(text string) {
	c.t.Helper()
	s := c.run("send", "--json", "--session", c.session, "--model", "m", text).exits(1).sent()
	c.ok("continue", s.TurnID, "--json")
	c.turns = append(c.turns, s)
	c.sent[s.TurnID] = c.relay.lastBody(c.t)
}

// forked goes on from an earlier turn; what was before it is the same history.
func (c *conversation) forked(at sent) {
	c.t.Helper()
	c.ok("fork", at.TurnID, "--switch")
	for i := range 4 {
		if s := c.say(chatter(200 + i)); s.BranchID == at.BranchID {
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
	write(c.t, path, b.Bytes())
	return path
}
