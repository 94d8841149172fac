package app

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// post sends a program's request over HTTP and returns the status, session and body of the response.
func post(t *testing.T, url, token, session, body string) (status int, inSession, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Mcp-Session-Id"), string(text)
}

const (
	initialize  = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	searchCall  = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_memory","arguments":{"query":"deploy Orders"}}}`
	noteCall    = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"remember","arguments":{"text":"Orders runs on port 8080"}}}`
)

// After HTTP has been enabled, the window serves other programs that have a token, within the permissions that the user
// gave. The window shows what was read. Closing it stops the server.
func TestWindowServesOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	harness.WriteFile(t, filepath.Join(dir, "config.toml"), fmt.Appendf(nil, "[mcp.server]\nport = %d\n", port))
	p := openPage(t, dir)
	programs := serviceIn[*api.Programs](p.window)
	if err := p.settings.FinishFirstRun("recall"); err != nil {
		t.Fatal(err)
	}
	first := p.say(api.SendRequest{Text: "We decided to deploy Orders on Sunday at 05:00."})
	if v := must[api.ProgramsPanel](t)(programs.Panel()); v.HTTP.On || v.HTTP.Running || len(v.Clients) > 0 || len(v.Snippets) != 3 {
		t.Errorf("at first: %+v", v)
	}
	// The port is in use: the page says so, and the setting stays on.
	if v := must[api.ProgramsPanel](t)(programs.SetHTTP(true)); !v.HTTP.On || v.HTTP.Running || !strings.Contains(v.HTTP.Problem, fmt.Sprint(port)) {
		t.Errorf("on a port in use: %+v", v.HTTP)
	}
	_ = l.Close()
	must[api.ProgramsPanel](t)(programs.SetHTTP(false))
	v := must[api.ProgramsPanel](t)(programs.SetHTTP(true))
	if !v.HTTP.Running || v.HTTP.Problem != "" {
		t.Fatalf("switched on: %+v", v.HTTP)
	}
	token := must[api.ProgramToken](t)(programs.MakeToken("Zed"))
	if !strings.Contains(token.Snippet, token.Token) || !strings.Contains(token.Snippet, v.HTTP.URL) {
		t.Errorf("the lines for a token are %s", token.Snippet)
	}
	status, session, _ := post(t, v.HTTP.URL, token.Token, "", initialize)
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	post(t, v.HTTP.URL, token.Token, session, initialized)
	if _, _, answer := post(t, v.HTTP.URL, token.Token, session, searchCall); strings.Contains(answer, "Sunday") {
		t.Errorf("a program without permission got %s", answer)
	}
	v = must[api.ProgramsPanel](t)(programs.Allow(api.ProgramChoice{Name: "Zed", Scope: "chosen", Sessions: []string{first.SessionID}, Remember: true}))
	if len(v.Clients) != 1 || v.Clients[0].Scope != "chosen" || len(v.Clients[0].Sessions) != 1 || v.Clients[0].TokenAt == 0 || v.Clients[0].Claims != "probe 1" {
		t.Errorf("allowed: %+v", v.Clients)
	}
	if _, _, answer := post(t, v.HTTP.URL, token.Token, session, searchCall); !strings.Contains(answer, "Sunday") {
		t.Errorf("a program that may see the session got %s", answer)
	}
	if _, _, answer := post(t, v.HTTP.URL, token.Token, session, noteCall); !strings.Contains(answer, "Stored as turn_id") {
		t.Errorf("a note: %s", answer)
	}
	page := must[api.ProgramAccessPage](t)(programs.Accesses("", 0))
	if len(page.Accesses) != 3 || page.Accesses[1].Query != "deploy Orders" || len(page.Accesses[1].Shown) == 0 || page.Accesses[1].Shown[0].SessionID != first.SessionID || page.Accesses[2].Outcome != chat.AccessRefused {
		t.Errorf("the record is %+v", page.Accesses)
	}
	p.eventually("the note's session was not shown", func() bool {
		list := must[[]api.SessionRow](t)(p.sessions.List(false, "Notes from Zed"))
		return len(list) == 1 && list[0].Turns == 1
	})
	if _, changes := p.seen(); !anyKind(changes, chat.ChangePrograms) {
		t.Error("a program's access was not reported to the page")
	}
	must[api.ProgramsPanel](t)(programs.RevokeToken("Zed"))
	if status, _, _ := post(t, v.HTTP.URL, token.Token, session, searchCall); status != http.StatusUnauthorized {
		t.Errorf("with a revoked token: status %d", status)
	}
	p.window.Close()
	if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
		_ = c.Close()
		t.Error("the server still runs after the window was closed")
	}
}

func anyKind(changes []api.Change, kind chat.ChangeKind) bool {
	return slices.ContainsFunc(changes, func(c api.Change) bool { return c.Kind == kind })
}

// While the window has the data open, it serves a program that runs the mcp command.
func TestWindowServesTheMcpCommand(t *testing.T) {
	dir := t.TempDir()
	p := openPage(t, dir)
	programs := serviceIn[*api.Programs](p.window)
	if err := p.settings.FinishFirstRun("recall"); err != nil {
		t.Fatal(err)
	}
	p.say(api.SendRequest{Text: "We decided to deploy Orders on Sunday at 05:00."})
	must[api.ProgramsPanel](t)(programs.Allow(api.ProgramChoice{Name: "Zed", Scope: "all"}))
	h := harness.NewHome(t, harness.Shipped(t), "")
	in, stdin := io.Pipe()
	process := h.Start(in, "mcp", "--client", "Zed", "--data-dir", dir, "--config", filepath.Join(dir, "config.toml"))
	if _, err := io.WriteString(stdin, initialize+"\n"+initialized+"\n"+searchCall+"\n"); err != nil {
		t.Fatal(err)
	}
	process.AwaitOutput("Sunday")
	_ = stdin.Close()
	process.Wait().Exits(0)
	if page := must[api.ProgramAccessPage](t)(programs.Accesses("Zed", 0)); len(page.Accesses) != 1 || page.Accesses[0].Outcome != chat.AccessAnswered {
		t.Errorf("the record is %+v", page.Accesses)
	}
	if _, changes := p.seen(); !anyKind(changes, chat.ChangePrograms) {
		t.Error("nothing was reported to the page")
	}
}
