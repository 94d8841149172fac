package process

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// toolModel answers a message with two tool calls, and their results with text.
func toolModel(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request struct {
			Messages []struct {
				Role string `json:"role"`
			} `json:"messages"`
		}
		_ = json.Unmarshal(body, &request)
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := func(delta, finish string) {
			_, _ = fmt.Fprintf(w, "data: {\"id\":\"r\",\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
		}
		call := func(i int, word string) string {
			return fmt.Sprintf(`{"index":%d,"id":"call_%s","type":"function","function":{"name":"counter__count","arguments":"{\"word\":\"%s\"}"}}`, i, word, word)
		}
		asked := strings.Contains(string(body), "Count for me")
		if n := len(request.Messages); n > 0 && request.Messages[n-1].Role == "user" && asked && !strings.Contains(string(body), "Go on") {
			chunk(`{"role":"assistant","content":"I count. "}`, "null")
			chunk(`{"tool_calls":[`+call(0, "one")+`,`+call(1, "two")+`]}`, "null")
			chunk(`{}`, `"tool_calls"`)
		} else {
			chunk(`{"role":"assistant","content":"Counted."}`, "null")
			chunk(`{}`, `"stop"`)
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// toolHome returns a home in which a model may use the counter without asking, and the counter's file.
func toolHome(t *testing.T) (h *harness.Home, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "counter")
	config := "[general]\ndefault_model = \"m\"\n\n[tools]\nmode = \"enabled\"\nallow = [\"counter\"]\n\n" + harness.ChatWire.Model("m", toolModel(t)) +
		fmt.Sprintf("[mcp.servers.counter]\ncommand = %q\n\n[mcp.servers.counter.env]\n%s = %q\n", os.Args[0], counterFile, file)
	h = harness.NewHome(t, harness.Breakable(t), config)
	h.OK("tools", "accept", "counter")
	return h, file
}

// counted returns the words in the counter's file.
func counted(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// pointsOfABatch returns the fault points of a turn with two calls, from the end of the answer with the calls to the next
// request.
func pointsOfABatch() []string {
	var out []string
	for _, moment := range []string{"begun", "committing", "committed"} {
		out = append(out, "tx.tool.propose."+moment+":1", "tx.tool.commit."+moment+":1")
		for _, op := range []string{"decide", "start", "end"} {
			out = append(out, "tx.tool."+op+"."+moment+":1", "tx.tool."+op+"."+moment+":2")
		}
	}
	for _, name := range []string{"tool.started", "tool.returned"} {
		out = append(out, name+":1", name+":2")
	}
	return append(out, "turn.batch_committed:1", "turn.step_begun:2")
}

// TestACallRunsAtMostOnce kills the program at each point of a batch, and cuts the power at some. No call with
// effects runs twice, the user is asked about unknown outcomes, verify finds nothing, and the conversation continues.
// The short form tries every other point, the long form each of them, 1 000 times in all. backend/turn kills a turn
// at each of its writes.
func TestACallRunsAtMostOnce(t *testing.T) {
	t.Parallel()
	faults := testtier.Sample(pointsOfABatch(), 14)
	ends := []string{"exit"}
	kills := len(faults)
	if testtier.Exhaustive() {
		ends, kills = []string{"exit", "power"}, 1000
	}
	for i := range kills {
		point, end := faults[i%len(faults)], ends[rand.IntN(len(ends))]
		if !testtier.Exhaustive() && i%5 == 0 {
			end = "power"
		}
		t.Run(fmt.Sprintf("%s:%s/%d", point, end, i), func(t *testing.T) {
			t.Parallel()
			killInABatch(t, point+":"+end)
		})
	}
}

func killInABatch(t *testing.T, fault string) {
	h, file := toolHome(t)
	h.With("CONTEXTINFINITY_FAULT="+fault).Run("send", "--new", "Count for me").Exits(137)
	session := h.LastSession()
	for range 5 { // the steps that recovery needs, as a user would take them
		h.OK("reconcile")
		h.OK("reconcile")
		var waiting struct {
			Calls []struct {
				ID    string `json:"call_id"`
				State string `json:"state"`
			} `json:"calls"`
		}
		h.OK("tools", "waiting", "--json").Document(&waiting)
		turn := h.Only(session)
		switch {
		case turn.Phase.Finalized():
		case len(waiting.Calls) > 0 && waiting.Calls[0].State == string(chat.CallUnknown):
			h.Run("tools", "resolve", waiting.Calls[0].ID, "tell")
			continue
		default:
			h.OK("continue", turn.ID)
			continue
		}
		break
	}
	turn := h.Only(session)
	if turn.Phase != chat.PhaseResponseFinalized && !turn.Phase.Finalized() {
		t.Fatalf("the turn is %s %q", turn.Phase, turn.Outcome)
	}
	words := counted(t, file)
	slices.Sort(words)
	if len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("counted %q: a call ran twice", words)
	}
	h.OK("send", "--session", session, "Go on")
	h.Clean()
}
