package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/store"
)

var readers = []mcpserver.Tool{{Name: "list_sessions", Title: "List", Description: "Lists.", Schema: json.RawMessage(`{"type":"object"}`)}}

type reader struct{ db *store.Store }

func (reader) Tools() []mcpserver.Tool { return readers }

func (r reader) Read(ctx context.Context, s mcpserver.Visibility, _ string, _ json.RawMessage) (mcpserver.ReadResult, error) {
	var out mcpserver.ReadResult
	list, err := r.db.Sessions(ctx, chat.SessionQuery{})
	for _, session := range list {
		if s.All {
			out.Text += session.Title + "\n"
			out.Shown = append(out.Shown, chat.ShownTurn{Session: session.ID})
		}
	}
	return out, err
}

// peer is a program that mcp serves over pipes. It writes the protocol's lines itself; other tests use the SDK.
type peer struct {
	t     *testing.T
	in    io.WriteCloser // its requests
	out   *bufio.Scanner // the responses
	ended chan int
	errs  strings.Builder
}

func connect(t *testing.T, h *home, client string) *peer {
	t.Helper()
	stdin, requests := io.Pipe()
	responses, stdout := io.Pipe()
	p := &peer{t: t, in: requests, out: bufio.NewScanner(responses), ended: make(chan int, 1)}
	go func() {
		code := h.runTo(stdin, stdout, &p.errs, "mcp", "--client", client)
		_ = stdout.Close()
		p.ended <- code
	}()
	p.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p
}

func (p *peer) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// ask sends a request and returns the response line.
func (p *peer) ask(line string) string {
	p.t.Helper()
	p.send(line)
	if !p.out.Scan() {
		p.t.Fatalf("no answer to %s: %v", line, p.out.Err())
	}
	return p.out.Text()
}

// list calls the tool that lists sessions.
func (p *peer) list() (text string, isError bool) {
	p.t.Helper()
	var doc struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	line := p.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}`)
	if err := json.Unmarshal([]byte(line), &doc); err != nil || len(doc.Result.Content) != 1 {
		p.t.Fatalf("%v in %s", err, line)
	}
	return doc.Result.Content[0].Text, doc.Result.IsError
}

func TestMCP(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	step := func(name string, code int, args ...string) map[string]any {
		t.Helper()
		doc := h.run(append(args, "--json")...).exits(code).document()
		m.golden(t, name, doc)
		return doc
	}
	step("mcp_clients_none", 0, "mcp", "clients")
	step("mcp_access_none", 0, "mcp", "access")
	h.send("--new", "Name a colour")
	p := connect(t, h, "Zed")
	if text, isError := p.list(); !isError {
		t.Errorf("a program without access got %s", text)
	}
	step("mcp_clients_asked", 0, "mcp", "clients")
	step("mcp_clients_allow", 0, "mcp", "clients", "allow", "Zed", "--all", "--remember")
	if text, isError := p.list(); isError || !strings.Contains(text, "Name a colour") {
		t.Errorf("a program with access to everything got %s", text)
	}
	step("mcp_access", 0, "mcp", "access")
	step("mcp_clients_refuse", 0, "mcp", "clients", "refuse", "Zed")
	if text, isError := p.list(); !isError {
		t.Errorf("a program that was refused got %s", text)
	}
	_ = p.in.Close()
	if code := <-p.ended; code != 0 || strings.Contains(p.errs.String(), "error") {
		t.Errorf("exit code %d, %s", code, p.errs.String())
	}
	step("mcp_clients_forget", 0, "mcp", "clients", "forget", "Zed")
	step("mcp_access_clear", 0, "mcp", "access", "--clear")
	if doc := h.run("mcp", "clients", "token", "Editor", "--json").exits(0).document(); len(doc["token"].(string)) < 30 {
		t.Errorf("the token is %v", doc)
	}
	step("mcp_clients_revoke", 0, "mcp", "clients", "revoke", "Editor")
	h.run("verify").exits(0)
}

func TestMCPUsageErrors(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.send("--new", "hi")
	for _, c := range []struct {
		exit int
		code string
		args []string
	}{
		{2, "invalid", []string{"mcp", "--json"}},
		{2, "invalid", []string{"mcp", "--client", "<b>", "--json"}},
		{2, "invalid", []string{"mcp", "extra"}},
		{2, "invalid", []string{"mcp", "clients", "allow", "Zed"}},
		{2, "invalid", []string{"mcp", "clients", "allow", "Zed", "--all", "--folder", "x"}},
		{1, "invalid", []string{"mcp", "clients", "allow", "<b>", "--all"}},
		{2, "invalid", []string{"mcp", "clients", "allow"}},
		{1, "not_found", []string{"mcp", "clients", "allow", "Zed", "--session", "01ARZ3NDEKTSV4RRFFQ69G5FAV"}},
		{1, "not_found", []string{"mcp", "clients", "forget", "Zed"}},
		{1, "not_found", []string{"mcp", "clients", "revoke", "Zed"}},
		{2, "invalid", []string{"mcp", "access", "--limit", "0"}},
		{2, "invalid", []string{"mcp", "call"}},
	} {
		doc := h.run(append(c.args, "--json")...).exits(c.exit).document()
		if fault, ok := doc["error"].(map[string]any); !ok || fault["code"] != c.code {
			t.Errorf("%q: %v", c.args, doc)
		}
	}
	if doc := h.run("mcp", "clients", "--json").exits(0).document(); len(doc["clients"].([]any)) > 0 {
		t.Errorf("something was created: %v", doc)
	}
}
