package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const twoServers = `# mine
[mcp.servers.files]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]
timeout_s = 20
env = { TOKEN = "${secret:TOKEN}", PROXY = "${env:HTTPS_PROXY}" }

[mcp.servers.web]
url = "https://example.test/mcp?x=1"
enabled = false
[mcp.servers.web.headers]
Authorization = "Bearer ${secret:web.key}"
`

func TestServersAreRead(t *testing.T) {
	c, err := Parse("c.toml", []byte(twoServers))
	if err != nil {
		t.Fatal(err)
	}
	want := []MCPServer{
		{Name: "files", Enabled: true, Command: "npx", Args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/tmp"}, TimeoutS: 20, Env: map[string]string{"TOKEN": "${secret:TOKEN}", "PROXY": "${env:HTTPS_PROXY}"}},
		{Name: "web", Args: []string{}, URL: "https://example.test/mcp?x=1", Headers: map[string]string{"Authorization": "Bearer ${secret:web.key}"}},
	}
	if !reflect.DeepEqual(c.Servers, want) {
		t.Fatalf("got  %+v\nwant %+v", c.Servers, want)
	}
	if got := c.Servers[0].SecretNames(); !slices.Equal(got, []string{"TOKEN"}) {
		t.Errorf("secrets %v", got)
	}
	secret := func(name string) (string, error) { return "<" + name + ">", nil }
	env := func(name string) (string, error) { return "(" + name + ")", nil }
	if got, err := Fill("a ${secret:T} ${env:P} ${secret:} ${other:X}", secret, env); err != nil || got != "a <T> (P) ${secret:} ${other:X}" {
		t.Errorf("filled %q, %v", got, err)
	}
}

func TestInvalidServersAreReported(t *testing.T) {
	for text, want := range map[string]string{
		"[mcp.servers]\nx = 1":                                                            "must be a table",
		"[mcp]\nservers = 1":                                                              "must contain tables",
		"[mcp]\nserverz = 1":                                                              "did you mean servers?",
		"[mcp.servers.Big]\ncommand = \"x\"":                                              "not a valid name",
		"[mcp.servers.builtin]\ncommand = \"x\"":                                          "reserved for the built-in tools",
		"[mcp.servers.a]":                                                                 "needs command",
		"[mcp.servers.a]\ncommand = \"x\"\nurl = \"https://h\"":                           "has both",
		"[mcp.servers.a]\nurl = \"ftp://h\"":                                              "must be an http:// or https:// address",
		"[mcp.servers.a]\nurl = \"https://u:p@h\"":                                        "must not contain a user name",
		"[mcp.servers.a]\ncommand = \"x\"\ntimeout_s = 0":                                 "must be between",
		"[mcp.servers.a]\ncommand = \"x\"\nenv = { A = 1 }":                               "must be text in quotes",
		"[mcp.servers.a]\ncommand = \"x\"\nenv = \"A\"":                                   "must be a table",
		"[mcp.servers.a]\ncommand = \"x\"\nenv = { \"A B\" = \"\" }":                      "not a variable",
		"[mcp.servers.a]\ncommand = \"x\"\nheaders = { A = \"b\" }":                       "only a server with a url",
		"[mcp.servers.a]\nurl = \"https://h\"\nargs = [\"x\"]":                            "have no meaning",
		"[mcp.servers.a]\nurl = \"https://h\"\nheaders = { \"a:\" = \"b\" }":              "not a header",
		"[mcp.servers.a]\nurl = \"https://h\"\nheaders = { host = \"b\" }":                "set by the protocol",
		"[mcp.servers.a]\nurl = \"http://far.test\"\nheaders = { A = \"${secret:K}\" }":   "plain http",
		"[mcp.servers.a]\nurl = \"http://far.test\"\nheaders = { authorization = \"x\" }": "plain http",
		"[mcp.servers.a]\ncommand = \"x\"\ncomand = \"x\"":                                "did you mean command?",
		"[mcp.servers.a]\ncommand = \"x\"\ntoken = \"sk-canary\"":                         "API keys are never kept",
	} {
		c, err := Parse("c.toml", []byte(text+"\n"))
		if err == nil {
			err = c.Faults.Err()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestServersAreSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(twoServers), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	web, _ := s.Config().Server("web")
	web.Enabled, web.Headers = true, map[string]string{"X-Key": "${secret:other}"}
	added := MCPServer{Name: "memory", Enabled: true, Command: "node", Args: []string{"a b", `"q"`}, Env: map[string]string{"A": "1", "B": `x"y`}}
	if err := s.SaveServers([]MCPServer{web, added}); err != nil {
		t.Fatal(err)
	}
	again, err := Open(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := again.Config().Server("web"); !reflect.DeepEqual(got, web) {
		t.Errorf("web is %+v", got)
	}
	if got, _ := again.Config().Server("memory"); !reflect.DeepEqual(got, added) {
		t.Errorf("memory is %+v", got)
	}
	if err := s.SaveServers([]MCPServer{{Name: "ok", Command: "x"}, {Name: "bad"}}); err == nil {
		t.Error("a server without command and address was saved")
	}
	if _, ok := s.Config().Server("ok"); ok {
		t.Error("part of a refused change was saved")
	}
	if err := s.RemoveServer("memory"); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveServer("memory"); err == nil {
		t.Error("a server that is not there was removed")
	}
	data, _ := os.ReadFile(path)
	if text := string(data); !strings.HasPrefix(text, "# mine\n") || strings.Contains(text, "memory") {
		t.Errorf("the file is\n%s", text)
	}
}
