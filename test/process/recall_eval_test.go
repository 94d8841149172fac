package process

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// The command eval recall packs the answer to each question within the budget, using only the question's conversation.
// The user's data is not touched, and an invalid line is reported.
func TestEvalRecall(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), "")
	corpus, queries, out := filepath.Join(h.Dir, "c.jsonl"), filepath.Join(h.Dir, "q.jsonl"), filepath.Join(h.Dir, "packed.jsonl")
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, `{"conv":"a","session":"%d","date":"March-%02d-2024","speaker":"user","text":"On day %d we painted <room %d> in colour number%d."}`+"\n", i/10, i/2+1, i, i, i)
		fmt.Fprintf(&lines, `{"conv":"a","session":"%d","date":"March-%02d-2024","speaker":"assistant","text":"Noted: room %d."}`+"\n", i/10, i/2+1, i)
	}
	lines.WriteString(`{"conv":"b","session":1,"date":"1:56 pm on 8 May, 2023","speaker":"Ann","text":"My colour number7 is a secret."}` + "\n")
	harness.WriteFile(t, corpus, []byte(lines.String()))
	harness.WriteFile(t, queries, []byte(`{"id":"q/1","conv":"a","query":"Which room has colour number7?"}`+"\n"+`{"id":2,"conv":"b","query":"What is the colour of Ann?"}`+"\n"))
	var doc struct {
		Messages, Turns, Questions, Unanswered int
		Embedder                               string
	}
	args := []string{"eval", "recall", "--corpus", corpus, "--queries", queries, "--budget", "100", "--out", out, "--json"}
	h.OK(args...).Document(&doc)
	if doc.Messages != 81 || doc.Turns != 41 || doc.Questions != 2 || doc.Unanswered != 0 || !strings.HasPrefix(doc.Embedder, "local/") {
		t.Errorf("%+v", doc)
	}
	var several struct{ Measurements []struct{ Questions int } }
	h.OK("eval", "recall", "--corpus", corpus, "--queries", queries, "--budget", "100", "--budget", "200", "--out", out, "--json").Document(&several)
	if len(several.Measurements) != 2 || several.Measurements[1].Questions != 2 {
		t.Errorf("%+v", several)
	}
	packed := map[string]string{}
	for line := range strings.Lines(string(harness.ReadFile(t, out))) {
		var result struct {
			ID     json.RawMessage
			Packed string
		}
		if err := json.Unmarshal([]byte(line), &result); err != nil {
			t.Fatal(err)
		}
		packed[string(result.ID)] = result.Packed
	}
	if p := packed[`"q/1"`]; !strings.Contains(p, "painted <room 7>") || !strings.Contains(p, "March 2024") || strings.Contains(p, "secret") || len(p) > 400 {
		t.Errorf("packed %q", p)
	}
	if p := packed["2"]; !strings.Contains(p, "[8 May 2023]\n#1 13:56 Ann: My colour number7") || strings.Contains(p, "room") {
		t.Errorf("packed %q", p)
	}
	if _, err := os.Stat(h.DataDir()); !os.IsNotExist(err) {
		t.Errorf("the data directory was touched: %v", err)
	}
	harness.WriteFile(t, corpus, []byte(lines.String()+"{\n"))
	if f := h.Run(args...).Fails(1, chat.CodeInvalid); !strings.Contains(f.Message, "c.jsonl, line 82:") {
		t.Errorf("%+v", f)
	}
	h.Run("eval", "recall", "--corpus", corpus).Exits(2)
}
