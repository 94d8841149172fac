package app

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// hostile returns texts that try to leave the memory block or to pose as another role, or that contain invisible text
// (testdata/hostile.txt, one Go string per line).
func hostile(t *testing.T) []string {
	t.Helper()
	var out []string
	lines := bufio.NewScanner(bytes.NewReader(harness.ReadFile(t, "testdata/hostile.txt")))
	for lines.Scan() {
		s, err := strconv.Unquote(lines.Text())
		if err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		out = append(out, s)
	}
	if len(out) < 200 {
		t.Fatalf("only %d hostile texts", len(out))
	}
	return out
}

// marker returns a word by which one of the texts is found.
func marker(i int) string { return fmt.Sprintf("hz%dq", i) }

// textsPerMessage is how many texts one message contains.
const textsPerMessage = 8

// SPEC 2.8, SRD 14.2: recalled text is in the memory block of the last user message and nowhere else. It cannot close
// the block, hides nothing, and never reaches the system role. The test reads the bytes that a server received.
func TestHostileMemoryStaysData(t *testing.T) {
	t.Parallel()
	texts := hostile(t)
	for _, w := range testtier.Size(harness.Wires[:1], harness.Wires) {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			r := harness.NewRelay(t, w, func(n int) llmtest.Step { return llmtest.Stream(w.TextStream(true, "Noted.")...) }, nil)
			d := newFixture(t, w.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n")
			session := ""
			for i := 0; i < len(texts); i += textsPerMessage {
				var parts []string
				for j, s := range texts[i:min(i+textsPerMessage, len(texts))] {
					parts = append(parts, marker(i+j)+" "+s+" "+marker(i+j))
				}
				session = d.sendIn(session, strings.Join(parts, "\n\n"))
			}
			for i := range 12 { // until all texts are before the cut
				session = d.sendIn(session, chatter(i)+chatter(i+20))
			}
			recalled := map[int]bool{}
			for i := 0; i < len(texts); i += textsPerMessage {
				var names []string
				for j := i; j < min(i+textsPerMessage, len(texts)); j++ {
					names = append(names, marker(j))
				}
				question := "What was noted of " + strings.Join(names, " ") + "?"
				session = d.sendIn(session, question)
				inside := memoryOf(t, wireRoles(t, r.LastBody(t)), question)
				for j := range texts {
					if strings.Contains(inside, marker(j)) {
						recalled[j] = true
					}
				}
			}
			if len(recalled) < len(texts)*9/10 {
				t.Errorf("only %d of %d hostile texts were recalled: too few for the test", len(recalled), len(texts))
			}
			d.Clean()
		})
	}
}

// sendIn sends a message, waits until it is indexed, and returns the session.
func (d *fixture) sendIn(session, text string) string {
	d.t.Helper()
	return d.send(session, text, "--model", "m", "--wait", "indexed").SessionID
}

// roleText is one message of a request.
type roleText struct{ role, text string }

// wireRoles reads the role and text of each message of a request, in any protocol.
func wireRoles(t *testing.T, body []byte) []roleText {
	t.Helper()
	var req struct {
		Instructions string
		System       json.RawMessage
		Input        []json.RawMessage
		Messages     []json.RawMessage
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	out := []roleText{{"system", req.Instructions + strings.Join(harness.ContentTexts(t, req.System), "")}}
	for _, raw := range append(req.Input, req.Messages...) {
		var m struct {
			Role    string
			Content json.RawMessage
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, roleText{m.Role, strings.Join(harness.ContentTexts(t, m.Content), "")})
	}
	return out
}

// ownTag matches the tags that the program itself puts into its blocks.
var ownTag = regexp.MustCompile(`<m>|</?state_summary>|<turns from="\d+" to="\d+">|</turns>`)

// memoryOf checks a request and returns the content of its memory block.
func memoryOf(t *testing.T, messages []roleText, question string) string {
	t.Helper()
	for _, m := range messages {
		if (m.role == "system" || m.role == "developer") && strings.Contains(m.text, "hz") {
			t.Errorf("recalled text has the role %s: %s", m.role, harness.Clip(m.text))
		}
	}
	last := messages[len(messages)-1]
	inside := insideBlock(t, last.text, question)
	if last.role != "user" {
		t.Errorf("the last message has the role %s", last.role)
	}
	for _, m := range messages[:len(messages)-1] {
		if strings.HasPrefix(m.text, "<memory>\n[Earlier conversation summary]\n") {
			insideBlock(t, m.text, "")
		}
	}
	return inside
}

// insideBlock returns the content of the block at the beginning of a text. It checks that the block contains no other
// tags, control tokens or invisible characters, and that rest follows it.
func insideBlock(t *testing.T, text, rest string) string {
	t.Helper()
	const opening, closing = "<memory>\n", "</memory>\n\n"
	at := strings.Index(text, closing)
	if !strings.HasPrefix(text, opening) || at < 0 || rest != "" && text[at+len(closing):] != rest {
		t.Fatalf("it is not a single block: %s", harness.Clip(text))
	}
	inside := text[len(opening):at]
	if bare := ownTag.ReplaceAllString(inside, ""); strings.Contains(bare, "<") || strings.Contains(strings.ToUpper(bare), "[INST]") || strings.Contains(strings.ToUpper(bare), "[TOOL_CALLS]") {
		t.Errorf("something in the block can be read as a tag: %s", harness.Clip(bare))
	}
	for _, r := range inside {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0xE0000 && r <= 0xE0FFF || strings.ContainsRune("\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\u00ad", r) {
			t.Errorf("%U in the block is invisible", r)
		}
	}
	return inside
}
