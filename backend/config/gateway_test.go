package config

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// What is wrong with a model makes that model unusable. The rest of the configuration is in effect and can be edited, and
// nothing that was meant for the model goes to a built-in model of another company.
func TestAFaultIsOneModels(t *testing.T) {
	const good = "\n[models.good]\nprovider = \"chatcompletions\"\nmodel_id = \"x\"\nbase_url = \"https://h.example/v1\"\n"
	for address, problem := range map[string]string{
		"https://h.example /v1":        "must not contain blanks",
		"https://h.example/v1 ":        "must not contain blanks",
		"https://h.example/a b":        "must not contain blanks",
		"h.example/v1":                 "must be an http:// or https:// address",
		"localhost:8080/v1":            "must be an http:// or https:// address",
		"https://h.example/v1#x":       "must not have a fragment",
		"https://h.example/v1?key=abc": "must not contain a key in its query",
	} {
		bad := "[stream]\nfsync_ms = 70\n[models.bad]\nprovider = \"chatcompletions\"\nmodel_id = \"x\"\nbase_url = \"" + address + "\"\n"
		s := open(t, bad+good)
		c := s.Config()
		if s.Err() != nil || s.Defaults() || c.Stream.FsyncMs != 70 || len(c.Faults) != 1 || c.Faults[0].Line != 6 {
			t.Fatalf("%q: %v, %+v, %v", address, s.Err(), c.Stream, c.Faults)
		}
		m, _ := c.Model("bad", nil)
		if ok, why := m.Usable(nil); ok || !strings.Contains(why.String(), "models.bad.base_url "+problem) {
			t.Errorf("%q: %v %q", address, ok, why)
		}
		if got := c.DefaultModel(keys("anthropic")).Name; got != "good" {
			t.Errorf("%q: the default is %s", address, got)
		}
		if err := s.Set("stream.fsync_ms", "80"); err != nil {
			t.Errorf("%q: another setting: %v", address, err)
		}
		if err := s.SaveModel(Model{Name: "new", Provider: ProviderChatCompletions, ModelID: "x", BaseURL: address}); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%q: a new fault was saved: %v", address, err)
		}
		if err := s.Set("models.bad.base_url", "https://h.example/v2"); err != nil || len(s.Config().Faults) != 0 {
			t.Errorf("%q: the correction: %v", address, err)
		}
		only := open(t, bad).Config()
		if got := only.DefaultModel(keys("anthropic")).Name; got != "bad" {
			t.Errorf("%q: without another model, the default is %s", address, got)
		}
	}
}

// The same holds for MCP servers, the embedder's server and the reranker: what is wrong with one makes it unusable, and
// nothing else. What was meant for a server at another address goes nowhere.
func TestAFaultIsOneServers(t *testing.T) {
	const model = "[models.good]\nprovider = \"chatcompletions\"\nmodel_id = \"x\"\nbase_url = \"https://h.example/v1\"\n"
	for text, where := range map[string]string{
		"[mcp.servers.notes]\nurl = \"notes.example/mcp\"\n":                       "mcp.servers.notes.url",
		"[mcp.servers.notes]\ncommand = 5\n":                                       "mcp.servers.notes.command",
		"[mcp.servers.notes]\ncommand = \"x\"\ncomand = \"y\"\n":                   "mcp.servers.notes.comand",
		"[mcp.servers.notes]\n":                                                    "mcp.servers.notes",
		"[mcp.servers]\nnotes = 5\n":                                               "mcp.servers.notes",
		"[mcp.servers.My_Notes]\ncommand = \"x\"\n":                                "mcp.servers.My_Notes",
		"[models.recall]\nprovider = \"openai\"\nmodel_id = \"x\"\n":               "models.recall",
		"[retrieval]\nembedder = \"ollama\"\nembedding_base_url = \"h.example\"\n": "retrieval.embedding_base_url",
		"[retrieval]\nembedder = \"openai\"\nembedding_dimension = \"many\"\n":     "retrieval.embedding_dimension",
		"[retrieval]\nreranker_base_url = \"https://h.example/v1 \"\n":             "retrieval.reranker_base_url",
	} {
		c := open(t, text+model)
		if c.Err() != nil || c.Defaults() || len(c.Config().Faults) != 1 || c.Config().Faults[0].Key != where {
			t.Errorf("%s: %v, %v", text, c.Err(), c.Config().Faults)
			continue
		}
		if got := c.Config().DefaultModel(keys()).Name; got != "good" {
			t.Errorf("%s: the default is %s", text, got)
		}
		s, found := c.Config().Server("notes")
		if found && s.Fault == "" {
			t.Errorf("%s: the server can be started", text)
		}
		if strings.Contains(text, "embedd") && c.Config().Embedding().Fault == "" {
			t.Errorf("%s: texts are sent to the server", text)
		}
		if r, ok := c.Config().Reranker(); strings.Contains(text, "rerank") && (!ok || r.Fault == "") {
			t.Errorf("%s: it is not said that nothing is reranked", text)
		}
	}
}

func TestHeadersOfModels(t *testing.T) {
	model := func(lines string) Model {
		t.Helper()
		c, err := Parse("c.toml", []byte("[models.m]\nprovider = \"anthropic\"\nmodel_id = \"x\"\nbase_url = \"https://gate.example/a?api-version=1\"\n"+lines))
		if err != nil {
			t.Fatal(err)
		}
		return c.Configured[0]
	}
	for lines, fault := range map[string]string{
		`headers = ["X-Title: Mine", "OpenAI-Organization:org"]`:    "",
		`headers = ["Authorization: Bearer ${env:GATE}"]`:           "",
		`headers = ["cf-aig-authorization: Bearer ${secret:gate}"]`: "",
		`key_header = "Authorization"`:                              "",
		`headers = ["Authorization: Bearer sk-canary"]`:             "its value must come from ${env:NAME}",
		`headers = ["x-gate-token: sk-canary"]`:                     "its value must come from ${env:NAME}",
		`headers = ["sk-canary"]`:                                   `must be a header in the form "NAME: value"`,
		`headers = ["bad name: sk-canary"]`:                         `must be a header in the form "NAME: value"`,
		`headers = ["A: sk-canary\nB: x"]`:                          `must be a header in the form "NAME: value"`,
		`headers = ["content-length: 7"]`:                           "the protocol itself sets",
		`key_header = "sk canary"`:                                  "must be the name of a header",
		`key_header = "Host"`:                                       "the protocol itself sets",
	} {
		m := model(lines)
		if (fault == "") != (m.Fault == "") || !strings.Contains(m.Fault, fault) || strings.Contains(m.Fault, "canary") {
			t.Errorf("%s: %q", lines, m.Fault)
		}
	}
	m := model(`headers = ["A: ${env:GATE} ${secret:gate}"]`)
	for have, want := range map[string]string{
		"":                 "the secret gate: store it with contextinfinity keys set header/gate.",
		"header/gate":      "the variable GATE, which is not set",
		"header/gate GATE": "",
	} {
		ok, why := m.Usable(keys(strings.Fields(have)...))
		if ok != (want == "") || !strings.Contains(why.String(), want) {
			t.Errorf("with %q: %v %q", have, ok, why)
		}
	}
	m.BaseURL = "http://gate.example"
	if ok, why := m.Usable(keys("header/gate", "GATE")); ok || !strings.Contains(why.String(), "plain http") {
		t.Errorf("over plain http: %v %q", ok, why)
	}
}
