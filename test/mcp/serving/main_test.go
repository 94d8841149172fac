// Package serving tests the program's MCP server with other programs that use its memory: the SDKs for Go and
// TypeScript, the inspector and the official conformance suite.
package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// storedMessage is the message in every home of these tests.
const storedMessage = "The deadline of Falcon is the 14th of March"

// home returns a home with one session, answered by recall.
func home(t *testing.T) *harness.Home {
	t.Helper()
	h := harness.NewHome(t, harness.Shipped(t), "")
	h.OK("send", "--new", "--model", "recall", storedMessage)
	return h
}

// packages returns where scripts/setup test installs the test clients.
func packages(t *testing.T) string {
	t.Helper()
	dir := harness.InModule("test", "mcp", "node_modules")
	if _, err := os.Stat(filepath.Join(dir, "conformance-2026")); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the test clients are not installed: scripts/setup test installs them")
		}
		t.Skip("the test clients are not installed: scripts/setup test installs them")
	}
	return dir
}

// node returns the path of Node 22, which the inspector and the conformance suite need.
func node(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	path := filepath.Join(packages(t), "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: scripts/setup test installs it")
	}
	return path
}

// script runs a Node program in the environment of a home.
func script(t *testing.T, h *harness.Home, path string, args ...string) (stdout string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(t), append([]string{path}, args...)...) // #nosec G204 -- of tests
	var out, errs bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.Env, h.Dir, &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if code = cmd.ProcessState.ExitCode(); code != 0 {
		t.Logf("%s %v: exit code %d\n%s", filepath.Base(path), args, code, harness.Clip(errs.String()))
	}
	return out.String(), code
}

// freePort returns a port that is free now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// overHTTP returns a home whose memory is served over HTTP, the address, and a token of the program "Probe", which
// may see everything and write notes.
func overHTTP(t *testing.T) (h *harness.Home, address, token string) {
	t.Helper()
	h = home(t)
	port := freePort(t)
	h.OK("config", "set", "mcp.server.port", fmt.Sprint(port))
	h.OK("mcp", "clients", "allow", "Probe", "--all", "--remember")
	var doc struct{ Token string }
	h.OK("mcp", "clients", "token", "Probe", "--json").Document(&doc)
	p := h.Start(nil, "mcp", "--http")
	p.Await("it served", p.Err, harness.Containing("serving http://"))
	t.Cleanup(func() { p.Interrupt(); p.Wait().Exits(0) })
	return h, fmt.Sprintf("http://127.0.0.1:%d/mcp", port), doc.Token
}

// authorized returns the address of a proxy that adds the token, because the conformance suite sends none. Host and
// Origin are passed on as if the proxy's port were the server's.
func authorized(t *testing.T, address, token string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ownPort := fmt.Sprint(":", l.Addr().(*net.TCPAddr).Port)
	transport := &http.Transport{}
	server := &http.Server{Handler: &httputil.ReverseProxy{Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { // #nosec G112 -- of tests
		r.Out.URL.Scheme, r.Out.URL.Host = "http", target.Host
		r.Out.Host = strings.Replace(r.In.Host, ownPort, ":"+target.Port(), 1)
		if origin := r.In.Header.Get("Origin"); origin != "" {
			r.Out.Header.Set("Origin", strings.Replace(origin, ownPort, ":"+target.Port(), 1))
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}}
	served := make(chan struct{})
	go func() { _ = server.Serve(l); close(served) }()
	t.Cleanup(func() { _ = server.Close(); <-served; transport.CloseIdleConnections() })
	return "http://localhost" + ownPort + "/mcp"
}

// session connects with the Go SDK over stdio.
func session(t *testing.T, h *harness.Home, client string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(h.Bin, "mcp", "--client", client) // #nosec G204 -- of tests
	cmd.Env, cmd.Dir, cmd.Stderr = h.Env, h.Dir, os.Stderr
	s, err := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// call runs a tool and returns its text.
func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (text string, isError bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, harness.Clip(text))
	}
}
