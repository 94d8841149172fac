package asking

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// A model uses a server's tool only after its definition was accepted and the call was allowed. The third-party
// provider calls files__search, among others.
func TestATurnWithAServersTool(t *testing.T) {
	t.Parallel()
	script := harness.InModule("test", "mcp", "asking", "hostile.mjs")
	h := harness.NewHome(t, harness.Shipped(t), harness.AimockModels(t)+fmt.Sprintf(`
[tools]
mode = "enabled"

[mcp.servers.files]
command = %s
args = [%s]
env = { FAULT = "none" }
`, strconv.Quote(node(t)), strconv.Quote(script)))
	model := harness.Wires[0].Name
	ask := func(more ...string) (shown string) {
		s := h.OK(append([]string{"send", "--new", "--json", "--model", model, "Look it up. " + harness.Tag("tools", 3)}, more...)...).Sent()
		if s.Outcome != chat.OutcomeCompleted {
			t.Errorf("send: %+v", s)
		}
		return h.OK("show", s.SessionID, "--json").Stdout
	}
	if shown := ask(); strings.Contains(shown, "found by a real server") {
		t.Error("a tool that was not accepted was run")
	}
	if out := h.OK("tools", "accept", "files").Stdout; !strings.Contains(out, "search") {
		t.Errorf("accepted: %s", out)
	}
	if shown := ask("--allow", "files__search"); strings.Count(shown, "found by a real server") < 1 {
		t.Errorf("the tool was not run: %s", harness.Clip(shown))
	}
	h.Clean()
}
