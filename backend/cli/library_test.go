package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lastRequest returns the newest request.
func (p *scripted) lastRequest() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[len(p.requests)-1]
}

func TestAssistants(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	step := func(name string, code int, args ...string) map[string]any {
		t.Helper()
		doc := h.run(append(args, "--json")...).exits(code).document()
		m.golden(t, name, doc)
		return doc
	}
	step("assistants_none", 0, "assistants")
	step("assistants_new", 0, "assistants", "new", "Poet", "--instructions", "Rhyme.", "--temperature", "1.5", "--effort", "high", "--tools", "disabled")
	h.run("assistants", "new", "poet").exits(1)
	h.run("assistants", "new", "Hot", "--temperature", "3").exits(1)
	sent := h.send("--assistant", "poet", "an ode")
	if got := h.provider.lastRequest(); !strings.Contains(got, "Rhyme.") {
		t.Errorf("the instructions were not sent: %s", got)
	}
	h.runWith(strings.NewReader("Never rhyme.\n"), "assistants", "set", "POET", "--instructions", "-", "--temperature", "").exits(0)
	step("assistants", 0, "assistants")
	if r := h.run("assistants").exits(0); !strings.Contains(r.out, "Poet") || !strings.Contains(r.out, "Never rhyme.") {
		t.Error(r.out)
	}
	h.send("--session", sent.SessionID, "another")
	if got := h.provider.lastRequest(); !strings.Contains(got, "Rhyme.") || strings.Contains(got, "Never rhyme.") {
		t.Errorf("a change of the assistant changed a session: %s", got)
	}
	step("assistants_apply", 0, "assistants", "apply", "Poet", sent.SessionID)
	h.send("--session", sent.SessionID, "a third")
	if got := h.provider.lastRequest(); !strings.Contains(got, "Never rhyme.") {
		t.Errorf("the assistant was not applied: %s", got)
	}
	file := filepath.Join(t.TempDir(), "poet.json")
	h.run("assistants", "export", "Poet", "-o", file).exits(0)
	h.run("assistants", "export", "Poet", "-o", file).exits(1)
	h.run("assistants", "export", "Poet", "--json").exits(2)
	step("assistants_import", 0, "assistants", "import", file)
	h.runWith(strings.NewReader(h.run("assistants", "export", "Poet").exits(0).out), "assistants", "import", "-").exits(0)
	h.run("assistants", "duplicate", "Poet (2)").exits(0)
	h.run("assistants", "set", "Poet (4)", "--name", "Critic", "--model", "test").exits(0)
	h.run("assistants", "new", "Lost", "--model", "nowhere").exits(0)
	before := len(h.run("sessions", "--json").exits(0).document()["sessions"].([]any))
	h.run("send", "--assistant", "Lost", "hi").exits(1)
	h.run("send", "--assistant", "nobody", "hi").exits(1)
	if after := len(h.run("sessions", "--json").exits(0).document()["sessions"].([]any)); after != before {
		t.Errorf("%d sessions, and %d before", after, before)
	}
	h.run("send", "--assistant", "Poet", "--session", sent.SessionID, "hi").exits(2)
	h.run("assistants", "apply", "Lost", sent.SessionID).exits(1)
	step("assistants_delete", 0, "assistants", "delete", "Critic")
	h.run("assistants", "show", "Critic").exits(1)
	if r := h.run("assistants", "show", "Poet").exits(0); !strings.Contains(r.out, "Never rhyme.") {
		t.Error(r.out)
	}
	h.run("verify").exits(0)
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	step := func(name string, code int, args ...string) map[string]any {
		t.Helper()
		doc := h.run(append(args, "--json")...).exits(code).document()
		m.golden(t, name, doc)
		return doc
	}
	step("prompts_none", 0, "prompts")
	step("prompts_new", 0, "prompts", "new", "Translate", "Into {{language:English}}: {{text}}")
	h.runWith(strings.NewReader("piped {{x}}"), "prompts", "new", "Piped").exits(0)
	h.run("prompts", "new", "Empty", " ").exits(2)
	h.runWith(strings.NewReader("two\nlines"), "send", "--new", "--prompt", "translate", "--var", "text=-").exits(0)
	if got := h.provider.lastRequest(); !strings.Contains(got, `Into English: two\nlines`) {
		t.Errorf("the prompt was not sent: %s", got)
	}
	step("prompts_lacks", 1, "send", "--new", "--prompt", "Translate")
	for _, args := range [][]string{
		{"--prompt", "Translate", "text too"},
		{"--var", "a=b", "text"},
		{"--prompt", "Translate", "--var", "text"},
		{"--prompt", "Translate", "--var", "text=-", "--var", "language=-"},
	} {
		h.run(append([]string{"send", "--new"}, args...)...).exits(2)
	}
	h.run("send", "--new", "--prompt", "none").exits(1)
	h.run("prompts", "set", "piped", "other words", "--name", "Other").exits(0)
	step("prompts", 0, "prompts")
	file := filepath.Join(t.TempDir(), "prompts.json")
	h.run("prompts", "export", "-o", file).exits(0)
	h.run("prompts", "delete", "Other").exits(0)
	step("prompts_import", 0, "prompts", "import", file)
	others, err := json.Marshal([]map[string]any{{"command": "/sum", "title": "Sum up", "content": "Sum up: {{CLIPBOARD}}", "timestamp": 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, others, 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("prompts", "import", file).exits(0)
	if r := h.run("prompts", "show", "sum up").exits(0); !strings.Contains(r.out, "{{clipboard}}") {
		t.Error(r.out)
	}
	h.run("prompts", "import", filepath.Join(h.dir, "none.json")).exits(1)
	if r := h.talk("/prompt Translate text=house", "/prompt", "/assistant", "/assistant nobody", "/quit"); !strings.Contains(h.provider.lastRequest(), "Into English: house") || !strings.Contains(r.err, "Sum up") {
		t.Errorf("%s %s", r.out, r.err)
	}
	h.run("verify").exits(0)
}

func TestKnows(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	if r := h.run("knows").exits(0); !strings.Contains(r.out, "Nothing is remembered yet.") {
		t.Error(r.out)
	}
	sent := h.send("--new", "--wait", "committed", "Always answer in French.")
	h.run("pin", sent.SessionID, "I live in Bern").exits(0)
	m.golden(t, "knows", h.run("knows", "--json").exits(0).document())
	if r := h.run("knows", "--kind", "pin", "--text", "bern").exits(0); !strings.Contains(r.out, "Pinned facts (1)") || !strings.Contains(r.out, "I live in Bern") {
		t.Error(r.out)
	}
	h.run("knows", "--kind", "all").exits(2)
	h.run("knows", "--limit", "0").exits(2)
}
