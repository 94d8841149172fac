package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
)

// startServer starts a server over HTTP with a store in memory, and returns the token of "Zed", which may see
// everything.
func startServer(t *testing.T) (d *fakeStore, url, token string) {
	t.Helper()
	d, gateway := newGateway()
	d.allow("Zed", chat.ClientAll, true)
	h := NewHTTP(Options{Version: "1", Tools: d.Tools(), Send: gateway.Do})
	t.Cleanup(h.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.port = l.Addr().(*net.TCPAddr).Port
	h.serve(l)
	h.mu.Unlock()
	url, problem := h.Address()
	if problem != "" {
		t.Fatal(problem)
	}
	token, err = (&Gateway{Store: d}).MakeToken(t.Context(), "Zed")
	if err != nil {
		t.Fatal(err)
	}
	return d, url, token
}

// bearer adds a token to requests.
type bearer struct {
	token string
	http.Transport
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.Transport.RoundTrip(r)
}

func connect(t *testing.T, url, token string) (*mcp.ClientSession, error) {
	t.Helper()
	b := &bearer{token: token}
	t.Cleanup(b.CloseIdleConnections)
	return mcp.NewClient(&mcp.Implementation{Name: "probe", Version: "1"}, nil).
		Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: b}}, nil)
}

func TestBothRevisionsOverHTTP(t *testing.T) {
	d, url, token := startServer(t)
	s, err := connect(t, url, token)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_memory", Arguments: map[string]any{"query": "deadline"}})
	if err != nil || result.IsError || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, "found") {
		t.Fatalf("%+v, %v", result, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if a := d.last(t); a.Client != "Zed" || a.Query != "deadline" {
		t.Errorf("recorded as %+v", a)
	}
	// The revision of 2025, with a session, at the same address.
	first := post(t, url, token, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`)
	session := first.Header.Get("Mcp-Session-Id")
	if first.StatusCode != http.StatusOK || session == "" {
		t.Fatalf("%s, session %q", first.Status, session)
	}
	if r := post(t, url, token, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); r.StatusCode != http.StatusAccepted {
		t.Errorf("initialized: %s", r.Status)
	}
	other, err := (&Gateway{Store: d}).MakeToken(t.Context(), "Cursor")
	if err != nil {
		t.Fatal(err)
	}
	if r := post(t, url, other, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); r.StatusCode != http.StatusForbidden {
		t.Errorf("the session of another program: %s", r.Status)
	}
	if r := post(t, url, token, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); r.StatusCode != http.StatusOK {
		t.Errorf("tools/list in the session: %s", r.Status)
	}
}

func post(t *testing.T, url, token, session, body string) *http.Response {
	t.Helper()
	r := request(t, url, token, body)
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	return do(t, r)
}

func request(t *testing.T, url, token, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func do(t *testing.T, r *http.Request) *http.Response {
	t.Helper()
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func TestUnknownProgramsAreRefusedOverHTTP(t *testing.T) {
	d, url, token := startServer(t)
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"nothing changed":         {func(*http.Request) {}, http.StatusOK},
		"localhost":               {func(r *http.Request) { r.Host = strings.Replace(r.Host, "127.0.0.1", "localhost", 1) }, http.StatusOK},
		"no token":                {func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		"a wrong token":           {func(r *http.Request) { r.Header.Set("Authorization", "Bearer cinf_guess") }, http.StatusUnauthorized},
		"a long token":            {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 5000)) }, http.StatusUnauthorized},
		"a page's origin":         {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"a page of this computer": {func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }, http.StatusForbidden},
		"a file's origin":         {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"DNS rebinding":           {func(r *http.Request) { r.Host = "evil.example:" + r.URL.Port() }, http.StatusForbidden},
		"rebinding, no port":      {func(r *http.Request) { r.Host = "localhost" }, http.StatusForbidden},
		"another path":            {func(r *http.Request) { r.URL.Path = "/" }, http.StatusNotFound},
		"no JSON":                 {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		"a huge body":             {func(r *http.Request) { large(r, maxMessage+1) }, http.StatusRequestEntityTooLarge},
	} {
		r := request(t, url, token, ping)
		c.change(r)
		if got := do(t, r); got.StatusCode != c.want {
			t.Errorf("%s: %s, want %d", name, got.Status, c.want)
		}
	}
	if len(d.accesses) > 0 || len(d.clients) != 1 {
		t.Errorf("unknown programs left %+v and %d programs", d.accesses, len(d.clients))
	}
}

func large(r *http.Request, n int) {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", n) + `"}}`)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

// TestConnectionsAreBounded: a program with a token is served however many connections without one are open, and no more
// than the limit are.
func TestConnectionsAreBounded(t *testing.T) {
	_, url, token := startServer(t)
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), Path)
	var idle []net.Conn
	dial := func(first string) {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, first); err != nil {
			t.Fatal(err)
		}
		idle = append(idle, c)
	}
	for range maxConnections {
		dial("")
	}
	s, err := connect(t, url, token)
	if err != nil {
		t.Fatalf("beside connections that say nothing: %v", err)
	}
	defer func() { _ = s.Close() }()
	for range 3 * maxConnections {
		dial("POST /mcp HTTP/1.1\r\nHost: x\r\n") // a request that does not end
	}
	if _, err := s.ListTools(t.Context(), nil); err != nil {
		t.Errorf("an open connection with a token was closed for others: %v", err)
	}
	closed := 0
	for _, c := range idle[:2*maxConnections] { // the oldest
		if _, err := c.Read(make([]byte, 1)); err != nil {
			closed++
		}
	}
	if closed != 2*maxConnections {
		t.Errorf("%d connections over the limit were closed", closed)
	}
}

func TestRequestsAreBounded(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{}, maxRequests)
	h := guard(80, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { entered <- struct{}{}; <-hold }))
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, nil)
		r.Host = "127.0.0.1:80"
		h.ServeHTTP(w, r)
		return w
	}
	done := make(chan struct{}, maxRequests)
	for range maxRequests {
		go func() { ask(); done <- struct{}{} }()
	}
	for range maxRequests {
		<-entered
	}
	if w := ask(); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one over the limit: %d", w.Code)
	}
	close(hold)
	for range maxRequests {
		<-done
	}
}

// A program keeps a limited number of sessions, the newest ones, and does not displace another's.
func TestSessionsAreBounded(t *testing.T) {
	d, url, token := startServer(t)
	opened := func(token string) string {
		t.Helper()
		r := post(t, url, token, "", ping)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("a session: %s", r.Status)
		}
		return r.Header.Get("Mcp-Session-Id")
	}
	status := func(session string) int {
		t.Helper()
		return post(t, url, token, session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`).StatusCode
	}
	first, second := opened(token), opened(token)
	for range maxOwnSessions - 1 {
		opened(token)
	}
	if a, b := status(first), status(second); a != http.StatusNotFound || b != http.StatusOK {
		t.Errorf("the status of the oldest session is %d, of the next one %d", a, b)
	}
	for i := range maxSessions/maxOwnSessions - 1 {
		name := fmt.Sprint("Other ", i)
		d.allow(name, chat.ClientAll, false)
		other, err := (&Gateway{Store: d}).MakeToken(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for range maxOwnSessions {
			opened(other)
		}
	}
	d.allow("Late", chat.ClientAll, false)
	late, err := (&Gateway{Store: d}).MakeToken(t.Context(), "Late")
	if err != nil {
		t.Fatal(err)
	}
	if r := post(t, url, late, "", ping); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one over the total limit: %s", r.Status)
	}
}

func TestAPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	h := NewHTTP(Options{})
	defer h.Close()
	port := l.Addr().(*net.TCPAddr).Port
	if err := h.Apply(port); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("%v", err)
	}
	if address, problem := h.Address(); address != "" || !strings.Contains(problem, fmt.Sprint(port)) {
		t.Errorf("%q, %q", address, problem)
	}
	h.Close()
	if _, problem := h.Address(); problem != "" {
		t.Errorf("switched off it still says %q", problem)
	}
}

func TestStdioEndsWithItsInput(t *testing.T) {
	d, gateway := newGateway()
	d.allow("Zed", chat.ClientAll, false)
	in, program := io.Pipe()
	out, answers := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Stdio(context.WithoutCancel(t.Context()), Options{Client: "Zed", Tools: d.Tools(), Send: gateway.Do}, in, answers)
		_ = answers.Close()
	}()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "probe", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: program}, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "search_memory" {
		t.Errorf("offered %+v, %v", list, err)
	}
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_such_tool"}); err == nil {
		t.Error("a tool that does not exist was run")
	}
	_ = program.Close()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	_ = s.Close()
	if c := d.clients["Zed"]; c.Claims != "probe 1" {
		t.Errorf("its name is %q", c.Claims)
	}
	err = Stdio(t.Context(), Options{Client: "<b>"}, strings.NewReader(""), io.Discard)
	if chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("an invalid name: %v", err)
	}
}

// A line that is not a message of the protocol gets a response, and later lines are still processed.
func TestInvalidLines(t *testing.T) {
	d, gateway := newGateway()
	d.allow("Zed", chat.ClientAll, false)
	in, program := io.Pipe()
	out, answers := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Stdio(context.WithoutCancel(t.Context()), Options{Client: "Zed", Tools: d.Tools(), Send: gateway.Do}, in, answers)
		_ = answers.Close()
	}()
	replies := bufio.NewScanner(out)
	replies.Buffer(nil, 1<<20)
	for _, c := range []struct{ line, want string }{
		{"hello", `"code":-32700`},
		{`{"jsonrpc":"2.0"`, `"code":-32700`},
		{`[1]`, `"code":-32600`},
		{`5`, `"code":-32600`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"code":-32600`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + strings.Repeat("x", 2<<20) + `"}}`, "larger than"},
		{"\n\r\n" + `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"id":7,"result"`},
	} {
		if _, err := io.WriteString(program, c.line+"\n"); err != nil {
			t.Fatalf("%.40s: %v", c.line, err)
		}
		if !replies.Scan() || !strings.Contains(replies.Text(), c.want) || !json.Valid(replies.Bytes()) {
			t.Fatalf("%.40s is answered with %.200s", c.line, replies.Text())
		}
	}
	_, _ = io.WriteString(program, `{"jsonrpc":"2.0","id":8`) // the program ends here
	_ = program.Close()
	if err := <-ended; err != nil || replies.Scan() {
		t.Errorf("it ended with %v, saying %q", err, replies.Text())
	}
}

// A failure of the data is reported as an error and does not end the server.
func TestAFailureIsReported(t *testing.T) {
	d, gateway := newGateway()
	d.allow("Zed", chat.ClientAll, false)
	d.err = errors.New("a damaged page")
	server := newServer(Options{Client: "Zed", Tools: d.Tools(), Send: gateway.Do})
	a, b := mcp.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "probe", Version: "1"}, nil).Connect(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_memory", Arguments: map[string]any{"query": "x"}})
		if err != nil || !r.IsError {
			t.Errorf("%+v, %v", r, err)
		}
	}
	_ = s.Close()
	_ = serving.Wait()
}
