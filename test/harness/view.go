package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/prompt"
)

// View is the output of `context --json`.
type View struct {
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

// ViewOf decodes the output of context --json.
func ViewOf(r Result) View {
	r.T.Helper()
	var v View
	r.Document(&v)
	return v
}

// Sources counts the items by source.
func (v View) Sources() map[string]int {
	n := map[string]int{}
	for _, it := range v.Items {
		n[it.Source]++
	}
	return n
}

// Text returns all items as one text.
func (v View) Text() string {
	var b strings.Builder
	for _, it := range v.Items {
		b.WriteString(it.Text)
	}
	return b.String()
}

// WireTexts returns all texts of a request body, in the order in which the model reads them.
func WireTexts(t testing.TB, w WireProtocol, body []byte) []string {
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
	out = append(out, ContentTexts(t, req.System)...)
	for _, raw := range append(req.Input, req.Messages...) {
		var m struct{ Content json.RawMessage }
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, ContentTexts(t, m.Content)...)
	}
	if len(out) < 2 {
		t.Fatalf("%s: only %d texts were found in %s", w.Name, len(out), Clip(string(body)))
	}
	return out
}

// ContentTexts reads content that is either one text or a list of parts.
func ContentTexts(t testing.TB, raw json.RawMessage) []string {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var single string
	if json.Unmarshal(raw, &single) == nil {
		return []string{single}
	}
	var parts []struct{ Text, Refusal string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		t.Fatalf("%v in %s", err, Clip(string(raw)))
	}
	var out []string
	for _, p := range parts {
		out = append(out, p.Text+p.Refusal)
	}
	return out
}

// EveryByteIsShown asserts that the items, in order, are exactly the texts on the wire, and that each item matches
// its entry in the manifest.
func EveryByteIsShown(t testing.TB, w WireProtocol, v View, body []byte, where string) {
	t.Helper()
	if !v.Same {
		t.Errorf("%s: the result differs: %s", where, v.Note)
	}
	wire, shown := strings.Join(WireTexts(t, w, body), ""), v.Text()
	if wire != shown {
		at := 0
		for at < len(wire) && at < len(shown) && wire[at] == shown[at] {
			at++
		}
		t.Errorf("%s: %d bytes were sent and %d are shown; from byte %d on\nsent  %q\nshown %q", where, len(wire), len(shown), at,
			Clip(wire[max(0, at-40):min(len(wire), at+80)]), Clip(shown[max(0, at-40):min(len(shown), at+80)]))
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

// Reply returns the n-th answer, in one protocol.
func Reply(w WireProtocol, n int) llmtest.Step {
	return llmtest.Stream(w.TextStream(true, fmt.Sprintf("Answer %d. ", n), strings.Repeat("It is all noted, and the boxes stand where they should. ", 8), "Done 🌍.")...)
}

// Summarizing answers as a well-behaved librarian: its summary contains what it is asked to keep.
func Summarizing(w WireProtocol) func(*http.Request, string) llmtest.Step {
	return func(_ *http.Request, body string) llmtest.Step {
		return llmtest.Stream(w.TextStream(true, goodSummary(body))...)
	}
}

func goodSummary(body string) string {
	facts := "- The boxes were moved week by week\n"
	if _, list, found := strings.Cut(body, `<must_include>\n`); found {
		list, _, _ = strings.Cut(list, `</must_include>`)
		facts += strings.ReplaceAll(list, `\n`, "\n")
	}
	if strings.Contains(body, "You summarize one range of turns") {
		return "## What happened\nThe boxes were moved.\n\n## Facts\n" + facts
	}
	return "## Facts\n" + facts + "\n## Decisions\n\n## Constraints\n\n## Artifacts\n\n## Open tasks\n"
}
