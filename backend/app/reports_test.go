package app

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// reportsDir returns the inputs of reports, or skips.
func reportsDir(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("CONTEXTINFINITY_SHARED")
	for dir, parent := ".", ".."; shared == "" && len(parent) < 40; dir, parent = parent, filepath.Join(parent, "..") {
		if info, err := os.Stat(filepath.Join(dir, "shared", "reports")); err == nil && info.IsDir() {
			shared = filepath.Join(dir, "shared")
		}
	}
	if shared == "" {
		t.Skip("no shared directory beside this checkout; set CONTEXTINFINITY_SHARED")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the servers of the reports need python3")
	}
	dir, err := filepath.Abs(filepath.Join(shared, "reports"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// startMock starts one of the servers of the reports, and returns its address.
func startMock(t *testing.T, script string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	_ = free.Close()
	cmd := exec.Command("python3", script, fmt.Sprint(port), filepath.Join(t.TempDir(), "log"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
		t.Fatalf("%s: %q, %v", script, line, err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// report is a server of a report, and how a message to it should end.
type report struct {
	kind    string
	outcome chat.Outcome
	text    string // of the answer
	reason  string // in the error
	long    bool   // in a session of forty long turns
}

// reportedStreams are the kinds of servers by the protocol that they speak.
var reportedStreams = map[string][]report{
	"chatcompletions": {
		{kind: "perplexity", text: "The tower opened in 1889[1]."},
		{kind: "repeatfinal", text: "Once only"},
		{kind: "litellm_idx", text: "Answer at index one"},
		{kind: "thinktag", text: "The visible answer."},
		{kind: "finerror", outcome: chat.OutcomeIncomplete, text: "Half an answ", reason: "error"},
		{kind: "vllmerrstream", outcome: chat.OutcomeIncomplete, reason: "EngineCore died COCONUT"},
		{kind: "u_xai", text: "ok"},
		{kind: "ctx_s_lmstudio", long: true},
		{kind: "ctx_s_openrouter", long: true},
		{kind: "ctx_s_vllm", long: true},
		{kind: "slowping", text: "After pings"},
	},
	"anthropic": {
		{kind: "a_ctxmax", long: true, text: "Hello there"},
		{kind: "a_ctxstream", long: true, text: "Hello there"},
		{kind: "a_error_stop", outcome: chat.OutcomeIncomplete, text: "Half ans", reason: "error"},
		{kind: "a_mismatch2", text: "Text in thinking block"},
		{kind: "a_openailen", outcome: chat.OutcomeTruncated, text: "Cut ans"},
	},
	"openai": {
		{kind: "r_ctxstream", long: true, text: "Resp good"},
		{kind: "r_ctxstream2", long: true, text: "Resp good"},
	},
}

// contextRefusals are kinds that refuse a request for its size before they stream, each in the words of one product.
const contextRefusals = `openai openai2 vllm vllm2 llamacpp llamacpp500 llamacppold lmstudio lmstudio2 groq groq2 mistral deepseek gemini openrouter openrouternested xai together copilot bedrock bedrock2 ollama ollama2 kimi zhipu zhipucn qwen qwen2 minimax cohere hf cerebras fireworks sglang sglang2 tgwui litellm anthropic413 nginx413 volc mlx trt siliconflow stepfun`

func init() {
	for _, name := range testtier.Sample(strings.Fields(contextRefusals), 9) {
		all := append(reportedStreams["chatcompletions"], report{kind: "ctx_" + name, long: true, text: "Good answer."})
		reportedStreams["chatcompletions"] = all
	}
}

// startMocks starts both servers of the reports, and returns their addresses.
func startMocks(t *testing.T, dir string) map[string]string {
	t.Helper()
	return map[string]string{
		"chatcompletions": startMock(t, filepath.Join(dir, "mocks", "mock.py")),
		"other":           startMock(t, filepath.Join(dir, "mocks", "mock2.py")),
	}
}

func TestReportedStreams(t *testing.T) {
	t.Parallel()
	dir := reportsDir(t)
	mocks := startMocks(t, dir)
	var config strings.Builder
	config.WriteString("[librarian]\nmodel = \"\"\n[stream]\nidle_timeout_s = 5\n")
	for provider, all := range reportedStreams {
		for _, r := range all {
			config.WriteString(reportedModel(provider, r.kind, mocks))
		}
	}
	d := newFixture(t, config.String())
	d.OK("import", filepath.Join(dir, "mocks", "long.jsonl"))
	var list struct {
		Sessions []struct {
			ID string `json:"session_id"`
		} `json:"sessions"`
	}
	d.OK("sessions", "--json").Document(&list)
	if len(list.Sessions) != 1 {
		t.Fatalf("%+v", list)
	}
	for _, all := range reportedStreams {
		for _, r := range all {
			args := []string{"send", "--json", "--new", "What of the carpet market?", "--model", r.kind}
			if r.long {
				args[2] = "--session=" + list.Sessions[0].ID
			}
			sent, reason := d.sentTo(args...)
			if r.outcome == "" {
				r.outcome = chat.OutcomeCompleted
			}
			if sent.Outcome != r.outcome || r.text != "" && sent.Text != r.text || !strings.Contains(reason, r.reason) {
				t.Errorf("%s: %s %q %q, want %s %q %q", r.kind, sent.Outcome, sent.Text, reason, r.outcome, r.text, r.reason)
			}
			if r.long && sent.Attempts < 2 {
				t.Errorf("%s: %d attempts", r.kind, sent.Attempts)
			}
			if r.kind == "u_xai" && (sent.Usage == nil || sent.Usage.OutputTokens != 510) {
				t.Errorf("%s: %+v", r.kind, sent.Usage)
			}
		}
	}
}

// sentTo sends a message that may fail, and returns why it did.
func (d *fixture) sentTo(args ...string) (sent harness.Sent, reason string) {
	d.t.Helper()
	result := d.Run(args...)
	if err := json.Unmarshal([]byte(result.Stdout), &sent); err != nil {
		d.t.Fatalf("%v: %v\n%s%s", args, err, result.Stdout, result.Stderr)
	}
	if sent.Error != nil {
		reason = sent.Error.Message
	}
	return sent, reason
}

// Tools of the reports: two calls at one index both arrive, what DeepSeek wants back is sent back in every later request,
// and a server's schemas reach no model in a form that its provider refuses.
func TestReportedTools(t *testing.T) {
	t.Parallel()
	dir := reportsDir(t)
	mocks := startMocks(t, dir)
	d := newFixture(t, "[tools]\nmode = \"enabled\"\n[librarian]\nmodel = \"\"\n[retrieval]\nscope = \"all\"\n"+
		reportedModel("anthropic", "a_two", mocks)+reportedModel("chatcompletions", "ds_v4", mocks)+
		reportedModel("chatcompletions", "schema400", mocks)+
		fmt.Sprintf("[mcp.servers.t]\ncommand = \"python3\"\nargs = [%q, \"schemas\"]\n", filepath.Join(dir, "mcp-schemas", "srv.py")))
	d.OK("tools", "accept", "t")
	sent, reason := d.sentTo("send", "--json", "--new", "Look it up", "--model", "a_two")
	var calls []struct {
		Name  string
		Input map[string]any
	}
	text, found := strings.CutPrefix(sent.Text, "CALLS ")
	if err := json.Unmarshal([]byte(text), &calls); !found || err != nil || len(calls) != 2 || calls[0].Name != "search_memory" ||
		calls[0].Input["query"] != "apple" || calls[1].Name != "list_sessions" || len(calls[1].Input) != 0 {
		t.Errorf("a_two: %s %q %s", sent.Outcome, sent.Text, reason)
	}
	first, reason := d.sentTo("send", "--json", "--new", "Which sessions are there?", "--model", "ds_v4")
	if first.Outcome != chat.OutcomeCompleted {
		t.Errorf("ds_v4: %s %s", first.Outcome, reason)
	}
	second, reason := d.sentTo("send", "--json", "--session", first.SessionID, "And now?", "--model", "ds_v4")
	if second.Outcome != chat.OutcomeCompleted || !strings.HasPrefix(second.Text, "Answer ") {
		t.Errorf("ds_v4, the second message: %s %q %s", second.Outcome, second.Text, reason)
	}
	for _, kind := range []string{"schema400"} {
		if sent, reason := d.sentTo("send", "--json", "--new", "Hello", "--model", kind); sent.Text != "Good answer." {
			t.Errorf("%s: %s %q %s", kind, sent.Outcome, sent.Text, reason)
		}
	}
}

// Each text in every script is the first result for what people type to find it.
func TestReportedSearches(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(reportsDir(t), "search-scripts")
	d := newFixture(t, "[librarian]\nmodel = \"\"\n")
	d.OK("import", filepath.Join(dir, "uni.jsonl"))
	for ran := 1; ran > 0; {
		var err error
		if ran, err = d.Jobs.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var list struct {
		Sessions []struct {
			ID    string `json:"session_id"`
			Title string
		}
	}
	d.OK("sessions", "--json").Document(&list)
	titles := map[string]string{}
	for _, s := range list.Sessions {
		titles[s.ID] = s.Title
	}
	raw, err := os.ReadFile(filepath.Join(dir, "q.json"))
	if err != nil {
		t.Fatal(err)
	}
	var queries [][2]string
	if err := json.Unmarshal(raw, &queries); err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		title, query := q[0], q[1]
		found := d.search("--scope", "all", query)
		first := ""
		if len(found.Results) > 0 {
			first = titles[found.Results[0].SessionID]
		}
		if first != title {
			t.Errorf("%q finds %q first, want %q", query, first, title)
		}
	}
}

func reportedModel(provider, kind string, mocks map[string]string) string {
	address := mocks["other"] + "/" + kind
	if provider != "anthropic" {
		address += "/v1"
	}
	if provider == "chatcompletions" {
		address = mocks[provider] + "/" + kind + "/v1"
	}
	return fmt.Sprintf("[models.%s]\nprovider = %q\nmodel_id = \"m\"\nbase_url = %q\ncontext_limit = 60000\nmax_output = 4000\n", kind, provider, address)
}
