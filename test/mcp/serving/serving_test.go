package serving

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// probed is the output of the probes with the TypeScript SDKs.
type probed struct {
	Server                                  string
	Tools                                   []string
	Found, Listed, Noted, NotedAgain, Wrong struct {
		Text    string
		IsError bool
	}
}

// sees asserts the results for a program that may see everything and write notes.
func (p probed) sees(t *testing.T) {
	t.Helper()
	if p.Server != "contextinfinity" || !slices.Equal(p.Tools, []string{"get_turn", "list_sessions", "remember", "search_memory"}) {
		t.Errorf("%s offers %v", p.Server, p.Tools)
	}
	if p.Found.IsError || !strings.Contains(p.Found.Text, storedMessage) || !strings.Contains(p.Listed.Text, "Falcon") {
		t.Errorf("found %+v, listed %+v", p.Found, p.Listed)
	}
	if p.Noted.IsError || p.NotedAgain.IsError || !strings.Contains(p.NotedAgain.Text, "exists already") || !p.Wrong.IsError {
		t.Errorf("noted %+v, again %+v, wrong %+v", p.Noted, p.NotedAgain, p.Wrong)
	}
}

type accesses struct {
	Accesses []struct {
		Client, Tool, Query, Outcome string
		Shown                        []struct {
			Title string `json:"session_title"`
			Turn  string `json:"turn_id"`
		}
	}
}

// Programs with either TypeScript SDK see nothing until they are allowed, then everything, and each access is
// recorded.
func TestTypeScriptPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"probe1", "probe2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := home(t)
			path := harness.InModule("test", "mcp", "clients", name+".mjs")
			var before, after probed
			out, _ := script(t, h, path, "stdio", h.Bin, "mcp", "--client", "Probe")
			decode(t, out, &before)
			if slices.Contains(before.Tools, "remember") || !before.Found.IsError || !before.Noted.IsError || strings.Contains(out, "14th") {
				t.Errorf("a program without permission got %s", out)
			}
			h.OK("mcp", "clients", "allow", "Probe", "--all", "--remember")
			out, _ = script(t, h, path, "stdio", h.Bin, "mcp", "--client", "Probe")
			decode(t, out, &after)
			after.sees(t)

			var list struct {
				Clients []struct{ Name, Scope, Claims string }
			}
			h.OK("mcp", "clients", "--json").Document(&list)
			if len(list.Clients) != 1 || list.Clients[0].Claims != name+" 1.0.0" || list.Clients[0].Scope != "all" {
				t.Errorf("the list is %+v", list.Clients)
			}
			var record accesses
			h.OK("mcp", "access", "--json").Document(&record)
			outcomes := map[string]int{}
			for _, a := range record.Accesses {
				outcomes[a.Outcome]++
			}
			if len(record.Accesses) != 10 || outcomes[chat.AccessRefused] != 6 || outcomes[chat.AccessAnswered] != 4 {
				t.Errorf("the record is %+v", record.Accesses)
			}
			h.Clean()
		})
	}
}

func TestProgramsOverHTTP(t *testing.T) {
	t.Parallel()
	h, address, token := overHTTP(t)
	for _, name := range []string{"probe1", "probe2"} {
		out, _ := script(t, h, harness.InModule("test", "mcp", "clients", name+".mjs"), "http", address, token)
		var p probed
		decode(t, out, &p)
		p.sees(t)
	}
	if out, code := script(t, h, harness.InModule("test", "mcp", "clients", "probe1.mjs"), "http", address, "cinf_wrong"); code == 0 {
		t.Errorf("with a wrong token the program got %s", out)
	}
	h.OK("mcp", "clients", "revoke", "Probe")
	if out, code := script(t, h, harness.InModule("test", "mcp", "clients", "probe1.mjs"), "http", address, token); code == 0 {
		t.Errorf("with a revoked token the program got %s", out)
	}
	h.Clean()
}

func TestTheInspector(t *testing.T) {
	t.Parallel()
	h := home(t)
	h.OK("mcp", "clients", "allow", "Inspector", "--all")
	inspector := inspectorPath(t)
	var list struct{ Tools []struct{ Name string } }
	// Like many programs, the inspector passes on only HOME and PATH from the environment.
	server := []string{"--cli", h.Bin, "mcp", "--client", "Inspector", "--data-dir", h.DataDir(), "--method"}
	out, code := script(t, h, inspector, append(server, "tools/list")...)
	decode(t, out, &list)
	if code != 0 || len(list.Tools) != 3 {
		t.Errorf("exit code %d, %s", code, out)
	}
	out, code = script(t, h, inspector, append(server, "tools/call", "--tool-name", "search_memory", "--tool-arg", "query=deadline of Falcon")...)
	if code != 0 || !strings.Contains(out, storedMessage) {
		t.Errorf("exit code %d, %s", code, out)
	}
}

// inspectorPath returns the path of the inspector's command.
func inspectorPath(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(filepath.Join(packages(t), ".bin", "mcp-inspector"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A connection stays open while another program opens and closes the data; the program that has the data open answers
// the requests.
func TestAnotherProgramHasTheData(t *testing.T) {
	t.Parallel()
	h := home(t)
	h.OK("mcp", "clients", "allow", "Go", "--all", "--remember")
	s := session(t, h, "Go")
	found := func(when string) {
		t.Helper()
		if text, isError := call(t, s, "search_memory", map[string]any{"query": "deadline of Falcon"}); isError || !strings.Contains(text, storedMessage) {
			t.Errorf("%s: %s", when, text)
		}
	}
	found("alone")
	host := h.Host("--model", "recall")
	found("while another program has the data")
	if text, isError := call(t, s, "remember", map[string]any{"text": "noted while a conversation was open", "key": "k"}); isError {
		t.Error(text)
	}
	host.Leave()
	found("alone again")
	if text, isError := call(t, s, "remember", map[string]any{"text": "noted once more", "key": "k"}); isError || !strings.Contains(text, "exists already") {
		t.Errorf("sent again: %s", text)
	}
	h.OK("reconcile")
	if text, _ := call(t, s, "search_memory", map[string]any{"query": "conversation was open"}); !strings.Contains(text, "noted while a conversation was open") {
		t.Errorf("the note is not found: %s", text)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	h.Clean()
}

// A program sees only the sessions that it was allowed to see, and none that is archived or deleted.
func TestProgramsSeeOnlyAllowedSessions(t *testing.T) {
	t.Parallel()
	h := home(t)
	open := h.OK("send", "--new", "--json", "--model", "recall", "The zebra is called Martha").Sent().SessionID
	filed := h.OK("send", "--new", "--json", "--model", "recall", "The zebra sleeps in barn seven").Sent().SessionID
	h.OK("sessions", "folder", filed, "Zoo")
	h.OK("mcp", "clients", "allow", "Go", "--session", open, "--folder", "Zoo")
	s := session(t, h, "Go")
	defer func() { _ = s.Close() }()
	sees := func(want ...string) {
		t.Helper()
		search, _ := call(t, s, "search_memory", map[string]any{"query": "zebra Falcon deadline", "limit": 20})
		list, _ := call(t, s, "list_sessions", map[string]any{})
		for _, part := range []string{"Martha", "barn seven", "14th of March"} {
			wanted := slices.Contains(want, part)
			if strings.Contains(search, part) != wanted || strings.Contains(list, part) != wanted {
				t.Errorf("%q seen: %v; searched %s, listed %s", part, !wanted, search, list)
			}
		}
	}
	sees("Martha", "barn seven")
	closed := h.Show(h.OK("send", "--new", "--json", "--model", "recall", "not for others").Sent().SessionID).Turns[0].ID
	if text, isError := call(t, s, "get_turn", map[string]any{"turn_id": closed}); !isError || strings.Contains(text, "not for others") {
		t.Errorf("a turn of another session: %s", text)
	}
	if text, isError := call(t, s, "get_turn", map[string]any{"session_id": open, "number": 1}); isError || !strings.Contains(text, "Martha") {
		t.Errorf("a visible turn: %s", text)
	}
	h.OK("sessions", "archive", open)
	sees("barn seven")
	h.OK("delete", filed, "--hard", "--yes")
	sees()
	var record accesses
	h.OK("mcp", "access", "--json").Document(&record)
	for _, a := range record.Accesses {
		for _, x := range a.Shown {
			if strings.Contains(x.Title, "barn") || x.Title == "" {
				t.Errorf("a deleted session is in the record: %+v", a)
			}
		}
	}
	h.Clean()
}

// Stdout contains only the protocol, whatever arrives; the end of the input ends the program, and so does a signal.
func TestStdoutIsTheProtocol(t *testing.T) {
	t.Parallel()
	h := home(t)
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"x"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"no/such/method"}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search_memory","arguments":[1]}}`,
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := h.Start(in, "mcp", "--client", "Raw")
	_ = in.Close()
	if _, err := io.WriteString(stdin, strings.Join(lines, "\n")+"\n"); err != nil {
		t.Fatal(err)
	}
	p.Await("it answered all", p.Out, func(s string) bool { return strings.Count(s, "\n") == 4 })
	_ = stdin.Close()
	r := p.Wait().Exits(0)
	for line := range strings.Lines(r.Stdout) {
		var v struct{ Jsonrpc string }
		if json.Unmarshal([]byte(line), &v) != nil || v.Jsonrpc != "2.0" {
			t.Errorf("a line of stdout is %q", line)
		}
	}
	in, stdin, err = os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	p = h.Start(in, "mcp", "--client", "Raw")
	_ = in.Close()
	if _, err := io.WriteString(stdin, lines[0]+"\n"); err != nil {
		t.Fatal(err)
	}
	p.AwaitOutput(`"id":1`)
	p.Interrupt()
	p.Wait().Exits(0)
}
