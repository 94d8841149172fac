package asking

import (
	"errors"
	"strings"
	"testing"

	"contextinfinity/backend/config"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/tools"
	"contextinfinity/test/harness"
)

// With a misbehaving server in another language nothing hangs, and the outcome of each call is either known or
// reported as unknown. backend/mcpclient tests these and more faults with a server in Go.
func TestServersThatMisbehave(t *testing.T) {
	script := harness.InModule("test", "mcp", "asking", "hostile.mjs")
	for fault, c := range map[string]struct {
		state mcpclient.State
		tools int
		call  string // the result of a call, or a part of its error
		fails bool
	}{
		"garbage":    {mcpclient.StateReady, 2, "ok", false},
		"poison":     {mcpclient.StateReady, 2, "ok", false},
		"rug":        {mcpclient.StateReady, 2, "ok", false},
		"flood":      {mcpclient.StateReady, 2, "ok", false},
		"noschema":   {mcpclient.StateReady, 1, "ok", false},
		"structonly": {mcpclient.StateReady, 2, `{"a":1}`, false},
		"stubborn":   {mcpclient.StateReady, 2, "ok", false},
		"die":        {mcpclient.StateReady, 2, "The program ended", true},
		"hang":       {mcpclient.StateReady, 2, "deadline", true},
		"huge":       {mcpclient.StateReady, 2, "16 MiB", true},
		"badtype":    {mcpclient.StateReady, 2, "cannot be read", true},
		"loop":       {mcpclient.StateReady, 0, "", false},
		"future":     {mcpclient.StateWaiting, 0, "", false},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			server := config.MCPServer{
				Name: "hostile", Enabled: true, Command: "sh", Args: []string{"-c", `"$0" "$1"; true`, node(t), script}, Cwd: t.TempDir(),
				Env: map[string]string{"FAULT": fault},
			}
			if fault == "hang" {
				server.TimeoutS = 1
			}
			m := client(server, map[string]string{})
			defer m.Stop()
			m.Ensure(t.Context())
			st := m.Statuses()[0]
			if st.State != c.state || st.Tools != c.tools {
				lines, _, _ := m.Logs("hostile")
				t.Fatalf("the server is %s with %d tools: %s\n%v", st.State, st.Tools, st.Full(), lines)
			}
			if c.tools == 0 {
				return
			}
			if _, err := m.Sources()[0].Call(t.Context(), tools.Call{Tool: "twin"}); !errors.Is(err, tools.ErrNotStarted) {
				t.Errorf("a tool with a duplicate name was called: %v", err)
			}
			if c.fails {
				_, err := m.Sources()[0].Call(t.Context(), tools.Call{Tool: "t"})
				if err == nil || errors.Is(err, tools.ErrNotStarted) || !strings.Contains(err.Error(), c.call) {
					t.Errorf("the call: %v", err)
				}
			} else if text, _ := call(t, m.Sources()[0], "t", `{}`); text != c.call {
				t.Errorf("the call: %q", text)
			}
			if fault == "garbage" {
				lines, _, _ := m.Logs("hostile")
				var log strings.Builder
				for _, l := range lines {
					log.WriteString(l.Text + "\n")
				}
				if !strings.Contains(log.String(), "npm notice") || strings.ContainsRune(log.String(), '\x1b') {
					t.Errorf("the log is %q", log.String())
				}
			}
		})
	}
}
