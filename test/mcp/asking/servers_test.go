package asking

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/tools"
)

// reference starts one of the reference servers.
func reference(t *testing.T, name string, args ...string) (*mcpclient.Manager, tools.Source) {
	t.Helper()
	script := filepath.Join(packages(t), "@modelcontextprotocol", "server-"+name, "dist", "index.js")
	m := client(config.MCPServer{
		Name: name, Enabled: true, Command: node(t), Args: append([]string{script}, args...), Cwd: t.TempDir(),
		Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.jsonl")},
	}, map[string]string{})
	t.Cleanup(m.Stop)
	m.Ensure(t.Context())
	if st := m.Statuses()[0]; st.State != mcpclient.StateReady || st.Tools == 0 {
		lines, _, _ := m.Logs(name)
		t.Fatalf("the server is %s: %s\n%v", st.State, st.Full(), lines)
	}
	return m, m.Sources()[0]
}

func call(t *testing.T, s tools.Source, tool, arguments string) (string, tools.Output) {
	t.Helper()
	out, err := s.Call(t.Context(), tools.Call{Tool: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var parts []string
	for _, b := range out.Content {
		switch b := b.(type) {
		case chat.Text:
			parts = append(parts, b.Text)
		case chat.Image:
			parts = append(parts, "<"+b.MediaType+">")
		}
	}
	return strings.Join(parts, "\n"), out
}

func TestServerEverything(t *testing.T) {
	t.Parallel()
	m, s := reference(t, "everything")
	if text, out := call(t, s, "echo", `{"message": "hello there"}`); !strings.Contains(text, "hello there") || out.IsError {
		t.Errorf("echo: %q", text)
	}
	if text, _ := call(t, s, "get-sum", `{"a": 2, "b": 3}`); !strings.Contains(text, "5") {
		t.Errorf("sum: %q", text)
	}
	if text, _ := call(t, s, "get-tiny-image", `{}`); !strings.Contains(text, "<image/png>") {
		t.Errorf("image: %q", text)
	}
	if text, out := call(t, s, "get-sum", `{"a": "x"}`); !out.IsError {
		t.Errorf("wrong arguments: %q", text)
	}
	var progress []tools.Progress
	if _, err := s.Call(t.Context(), tools.Call{Tool: "trigger-long-running-operation", Arguments: json.RawMessage(`{"duration": 1, "steps": 4}`), Progress: func(p tools.Progress) { progress = append(progress, p) }}); err != nil || len(progress) == 0 {
		t.Errorf("progress: %+v, %v", progress, err)
	}
	prompts := m.Prompts(t.Context())
	if !slices.ContainsFunc(prompts, func(p mcpclient.Prompt) bool { return p.Name == "simple-prompt" }) {
		t.Fatalf("prompts %+v", prompts)
	}
	if p, err := m.GetPrompt(t.Context(), "everything", "simple-prompt", nil); err != nil || len(p.Messages) == 0 {
		t.Errorf("prompt: %+v, %v", p, err)
	}
	resources := m.Resources(t.Context())
	if len(resources) == 0 {
		t.Fatal("the server offers no resources")
	}
	for _, r := range resources {
		if r.Template {
			continue
		}
		if blocks, err := m.ReadResource(t.Context(), "everything", r.URI); err != nil || len(blocks) == 0 {
			t.Errorf("%s: %v", r.URI, err)
		}
		break
	}
}

func TestServerFilesystem(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, s := reference(t, "filesystem", dir)
	path, _ := json.Marshal(filepath.Join(dir, "a.txt"))
	call(t, s, "write_file", `{"path": `+string(path)+`, "content": "written by a tool"}`)
	if raw, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(raw) != "written by a tool" {
		t.Errorf("the file: %q, %v", raw, err)
	}
	if text, _ := call(t, s, "read_text_file", `{"path": `+string(path)+`}`); !strings.Contains(text, "written by a tool") {
		t.Errorf("read: %q", text)
	}
	if text, out := call(t, s, "read_text_file", `{"path": "/etc/passwd"}`); !out.IsError {
		t.Errorf("a file outside of the folder: %q", text)
	}
}

func TestServerMemory(t *testing.T) {
	t.Parallel()
	_, s := reference(t, "memory")
	call(t, s, "create_entities", `{"entities": [{"name": "Falcon", "entityType": "project", "observations": ["due on the 14th of March"]}]}`)
	if text, _ := call(t, s, "search_nodes", `{"query": "Falcon"}`); !strings.Contains(text, "14th of March") {
		t.Errorf("search: %q", text)
	}
}
