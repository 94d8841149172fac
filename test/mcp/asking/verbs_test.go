package asking

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/test/harness"
)

// output runs a command and returns everything that it prints.
func output(h *harness.Home, args ...string) string {
	r := h.OK(args...)
	return r.Stdout + r.Stderr
}

// The commands configure, start and use a real server, and no secret is in their output or in any file.
func TestVerbs(t *testing.T) {
	t.Parallel()
	const canary = "canary-of-a-pasted-key"
	h := harness.NewHome(t, harness.Shipped(t), "")
	script := filepath.Join(packages(t), "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if out := output(h, "mcp", "servers", "list"); !strings.Contains(out, "No servers are configured") {
		t.Errorf("list: %s", out)
	}
	const until = "are not offered to models until you accept them: contextinfinity tools accept everything"
	if out := output(h, "mcp", "servers", "add", "everything", "--env", "PLAIN=1", "--", node(t), script); !strings.Contains(out, "everything: its tools "+until) {
		t.Errorf("add: %s", out)
	}
	if out := output(h, "mcp", "servers", "list"); !strings.Contains(out, "everything: its tools "+until) {
		t.Errorf("list: %s", out)
	}
	if out := output(h, "mcp", "servers", "tools", "everything"); !strings.Contains(out, "echo") || !strings.Contains(out, "get-sum") || !strings.Contains(out, " tools "+until) {
		t.Errorf("tools: %s", out)
	}
	if out := output(h, "mcp", "servers", "restart", "everything"); !strings.Contains(out, "is ready and offers") || !strings.Contains(out, " tools "+until) {
		t.Errorf("restart: %s", out)
	}
	h.OK("tools", "accept", "everything__echo")
	if out := output(h, "mcp", "servers", "list", "--json"); !strings.Contains(out, `"tools_accepted":1`) {
		t.Errorf("after one tool was accepted: %s", out)
	}
	h.OK("tools", "accept", "everything")
	for _, verb := range []string{"list", "restart everything", "tools everything"} {
		if out := output(h, append([]string{"mcp", "servers"}, strings.Fields(verb)...)...); strings.Contains(out, "not offered") {
			t.Errorf("%s, after all tools were accepted: %s", verb, out)
		}
	}
	if out := output(h, "mcp", "servers", "logs", "everything"); !strings.Contains(out, "It is starting.") {
		t.Errorf("logs: %s", out)
	}
	file := filepath.Join(h.Dir, "mcp.json")
	pasted := `{"mcpServers": {"Far Away": {"url": "https://mcp.example.test/x", "headers": {"Authorization": "Bearer ` + canary + `"}}, "broken": {}}}`
	if err := os.WriteFile(file, []byte(pasted), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := output(h, "mcp", "servers", "import", "--dry-run", file); !strings.Contains(out, "far-away: found, not added") || !strings.Contains(out, "broken") || strings.Contains(out, canary) {
		t.Errorf("checked: %s", out)
	}
	if out := output(h, "mcp", "servers", "import", file); !strings.Contains(out, "far-away: added") || strings.Contains(out, canary) {
		t.Errorf("imported: %s", out)
	}
	h.OK("mcp", "servers", "disable", "far-away")
	if out := output(h, "mcp", "servers", "list", "--json"); !strings.Contains(out, `"far-away"`) || !strings.Contains(out, `"Authorization"`) || strings.Contains(out, canary) {
		t.Errorf("list: %s", out)
	}
	h.OK("mcp", "servers", "remove", "everything")
	if out := output(h, "mcp", "servers", "list"); strings.Contains(out, "everything") || !strings.Contains(out, "far-away") {
		t.Errorf("list: %s", out)
	}
	_ = filepath.WalkDir(h.Dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && path != file {
			if raw, err := os.ReadFile(path); err == nil && strings.Contains(string(raw), canary) {
				t.Errorf("%s contains the secret", path)
			}
		}
		return nil
	})
	h.Clean()
}
