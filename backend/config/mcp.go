package config

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/loopback"
	"contextinfinity/backend/internal/pattern"
)

// MCPServer is one [mcp.servers.NAME] table: a program that speaks MCP on its standard input and output, or the
// address of a server. Values of Args, Env, Headers and the address may contain ${secret:NAME}, a secret in the
// keyring, and ${env:NAME}, a variable of this program's environment.
type MCPServer struct {
	Name     string            `json:"name"`
	Enabled  bool              `json:"enabled"`
	Command  string            `json:"command"` // empty: use URL
	Args     []string          `json:"args"`
	Cwd      string            `json:"cwd"` // empty: the home directory
	URL      string            `json:"url"`
	TimeoutS int               `json:"timeoutS"` // per call; 0: only tools.call_timeout_s applies
	Env      map[string]string `json:"-"`
	Headers  map[string]string `json:"-"`
	// OAuthClientID is for servers that require manual registration of clients, and OAuthPort the port of the
	// registered redirect address; 0: any.
	OAuthClientID string `json:"oauthClientId"`
	OAuthPort     int    `json:"oauthPort"`
	// Fault is what is wrong with the server in the configuration, so that it is not started; empty: nothing.
	Fault string `json:"-"`
}

// Timeout returns the limit of one call; 0: none of its own.
func (s MCPServer) Timeout() time.Duration { return time.Duration(s.TimeoutS) * time.Second }

// HTTP reports whether the server is remote.
func (s MCPServer) HTTP() bool { return s.URL != "" }

// SecretNames returns the names in ${secret:NAME}, without duplicates, in a stable order. The secret of an OAuth client
// is not among them.
func (s MCPServer) SecretNames() []string { return s.placeholders("secret") }

// EnvNames returns the names in ${env:NAME}.
func (s MCPServer) EnvNames() []string { return s.placeholders("env") }

func (s MCPServer) placeholders(kind string) []string {
	texts := append(slices.Clone(s.Args), s.URL)
	for _, m := range []map[string]string{s.Env, s.Headers} {
		for _, name := range sortedKeys(m) {
			texts = append(texts, m[name])
		}
	}
	return placeholders(texts, kind)
}

// placeholders returns the names in ${kind:NAME}, without duplicates.
func placeholders(texts []string, kind string) []string {
	var names []string
	for _, text := range texts {
		for _, found := range placeholderPattern().FindAllStringSubmatch(text, -1) {
			if found[1] == kind && !slices.Contains(names, found[2]) {
				names = append(names, found[2])
			}
		}
	}
	return names
}

// Fill replaces the placeholders in a value using secret and env.
func Fill(value string, secret, env func(name string) (string, error)) (string, error) {
	var failed error
	out := placeholderPattern().ReplaceAllStringFunc(value, func(placeholder string) string {
		found := placeholderPattern().FindStringSubmatch(placeholder)
		lookUp := secret
		if found[1] == "env" {
			lookUp = env
		}
		text, err := lookUp(found[2])
		if err != nil && failed == nil {
			failed = err
		}
		return text
	})
	return out, failed
}

var (
	placeholderPattern = pattern.New(`\$\{(secret|env):([A-Za-z0-9_.-]{1,128})\}`)
	serverName         = pattern.New(`^[a-z0-9][a-z0-9-]{0,31}$`)
	headerName         = pattern.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")
)

// maxServers limits the number of configured servers, and maxPairs the values of each.
const (
	maxServers = 200
	maxPairs   = 100
)

// serverKey is a key inside [mcp.servers.NAME].
type serverKey = row[MCPServer]

const (
	serversKey = "servers"
	envKey     = "env"
	headersKey = "headers"
)

// serverTable has every key of a server except env and headers, which are tables.
var serverTable = []serverKey{
	{spec{name: "command", label: "Command", def: "", help: "The program to start."}, func(s *MCPServer) any { return &s.Command }},
	{spec{name: "args", label: "Arguments", def: []string{}, help: "Its arguments."}, func(s *MCPServer) any { return &s.Args }},
	{spec{name: "cwd", label: "Folder", def: "", check: checkWorkFolder, help: "The folder it is started in. Empty: the home directory."}, func(s *MCPServer) any { return &s.Cwd }},
	{spec{name: "url", label: "Address", def: "", check: checkServerURL, help: "The address of a server that is already running."}, func(s *MCPServer) any { return &s.URL }},
	{spec{name: "enabled", label: "Enabled", def: true, help: "When off, it is never started and none of its tools are offered."}, func(s *MCPServer) any { return &s.Enabled }},
	{spec{name: "timeout_s", label: "Timeout", unit: "s", def: 0, min: 1, max: 3600, help: "How long one call may take, if less than tools.call_timeout_s."}, func(s *MCPServer) any { return &s.TimeoutS }},
	{spec{name: "oauth_client_id", label: "OAuth client", def: "", help: "For servers that require programs to be registered manually."}, func(s *MCPServer) any { return &s.OAuthClientID }},
	{spec{name: "oauth_port", label: "OAuth port", def: 0, min: 1, max: 65535, help: "The port of the registered return address."}, func(s *MCPServer) any { return &s.OAuthPort }},
}

// checkServerURL is like checkBaseURL, but allows a query, which some servers need.
func checkServerURL(s string) string {
	u, problem := webAddress(s, "headers with ${secret:NAME}")
	if problem == "" && u.Fragment != "" {
		problem = "must not have a fragment"
	}
	return problem
}

// CheckServerName returns what is wrong with a server's name; empty if it is valid.
func CheckServerName(name string) string {
	switch {
	case name == chat.ToolSourceBuiltin:
		return "is reserved for the built-in tools"
	case !serverName().MatchString(name):
		return "is not a valid name: use 1 to 32 lowercase letters, digits and hyphens, without a hyphen first"
	}
	return ""
}

// readServers reads [mcp.servers]; the other keys of [mcp] are in the table.
func (r *reader) readServers() {
	section := []string{"mcp", serversKey}
	r.readTables(section, CheckServerName, r.readServer)
	if len(r.c.Servers) > maxServers {
		r.fail(section, "contains more than %d servers", maxServers)
	}
	slices.SortFunc(r.c.Servers, func(a, b MCPServer) int { return strings.Compare(a.Name, b.Name) })
}

func (r *reader) readServer(path []string, fields map[string]any) {
	before := len(r.problems)
	s := MCPServer{Name: path[2]}
	fillDefaults(serverTable, &s)
	readFields(r, path, fields, serverTable, &s, envKey, headersKey)
	s.Env = r.readPairs(slices.Concat(path, []string{envKey}), fields[envKey])
	s.Headers = r.readPairs(slices.Concat(path, []string{headersKey}), fields[headersKey])
	if len(r.problems) == before {
		for _, problem := range s.Faults() {
			r.fail(path, "%s", problem)
		}
	}
	s.Fault = r.fault(before)
	r.c.Servers = append(r.c.Servers, s)
}

func (r *reader) readPairs(path []string, raw any) map[string]string {
	if raw == nil {
		return nil
	}
	table, ok := raw.(map[string]any)
	if !ok {
		r.fail(path, `must be a table, such as { NAME = "value" }`)
		return nil
	}
	out := map[string]string{}
	for name, value := range table {
		text, ok := value.(string)
		if !ok {
			r.fail(slices.Concat(path, []string{name}), "must be text in quotes, not %s", tomlType(value))
			continue
		}
		out[name] = text
	}
	return out
}

// Faults returns what is wrong with a server whose individual keys are valid. No fault repeats a value, which might be
// a secret.
func (s MCPServer) Faults() []string {
	var out []string
	add := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	add(s.Command == "" && s.URL == "", "needs command, the program to start, or url, an address")
	add(s.Command != "" && s.URL != "", "has both command and url: it can have one of them")
	if problem := checkServerURL(s.URL); problem != "" && !strings.Contains(s.URL, "${") { // a placeholder is filled in later
		add(true, "has an address that %s", problem)
	}
	add(hasControl(s.Command) || hasControl(s.Cwd) || strings.ContainsRune(strings.Join(s.Args, ""), 0), "has control characters in its command or arguments")
	add(s.URL == "" && len(s.Headers) > 0, "has headers, which only a server with a url can have")
	add(s.URL != "" && (len(s.Args) > 0 || s.Cwd != "" || len(s.Env) > 0), "has a url, so args, cwd and env have no meaning")
	add(s.URL == "" && (s.OAuthClientID != "" || s.OAuthPort != 0), "has OAuth settings, which only a server with a url can have")
	add(len(s.Env) > maxPairs || len(s.Headers) > maxPairs || len(s.Args) > maxPairs, "has more than %d arguments, variables or headers", maxPairs)
	for _, name := range sortedKeys(s.Env) {
		add(!envName().MatchString(name) || strings.ContainsRune(s.Env[name], 0), "sets env.%s, which is not a variable: a name has letters, digits and underscores and begins with no digit, and a value has no zero byte", tomlKey(name))
	}
	for _, name := range sortedKeys(s.Headers) {
		add(!headerName().MatchString(name) || strings.ContainsAny(s.Headers[name], "\r\n\x00"), "headers.%s is not a header that can be sent", tomlKey(name))
		add(slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)), "headers.%s is set by the protocol itself", tomlKey(name))
	}
	if loopback.Exposes(s.URL) {
		add(len(s.SecretNames()) > 0 || s.OAuthClientID != "" || s.carriesKey(), "has a secret that would go to another computer over plain http, where others can read it on the way: use an https address")
	}
	return out
}

// ownHeaders are set by HTTP and by the protocol.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Accept", "Connection", "Transfer-Encoding", "Mcp-Session-Id", "Mcp-Protocol-Version", "Last-Event-Id"}

func (s MCPServer) carriesKey() bool {
	for name := range s.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" || looksLikeKeySetting(name) || strings.EqualFold(name, "x-api-key") {
			return true
		}
	}
	return false
}

// Server finds a configured MCP server by its name.
func (c *Config) Server(name string) (MCPServer, bool) {
	for _, s := range c.Servers {
		if s.Name == name {
			return s, true
		}
	}
	return MCPServer{}, false
}

// SaveServer writes [mcp.servers.NAME], new or changed; default values are omitted.
func (s *Store) SaveServer(server MCPServer) error { return s.SaveServers([]MCPServer{server}) }

// SaveServers writes several servers, all of them or none.
func (s *Store) SaveServers(servers []MCPServer) error {
	const op = "config.save_server"
	for _, server := range servers {
		if problem := CheckServerName(server.Name); problem != "" {
			return chat.Errorf(chat.CodeInvalid, op, "The name %s; nothing was changed.", problem)
		}
	}
	return s.edit(op, func(data []byte) (_ []byte, err error) {
		for _, server := range servers {
			if data, err = writeServer(data, server); err != nil {
				return nil, err
			}
		}
		return data, nil
	})
}

func writeServer(data []byte, s MCPServer) ([]byte, error) {
	table := []string{"mcp", serversKey, s.Name}
	data, err := writeFields(data, table, serverTable, &s)
	if err != nil {
		return nil, err
	}
	if data, err = writeOptions(data, slices.Concat(table, []string{envKey}), anyValues(s.Env)); err != nil {
		return nil, err
	}
	return writeOptions(data, slices.Concat(table, []string{headersKey}), anyValues(s.Headers))
}

func anyValues(m map[string]string) map[string]any {
	out := map[string]any{}
	for name, value := range m {
		out[name] = value
	}
	return out
}

// RemoveServer removes [mcp.servers.NAME] from the file.
func (s *Store) RemoveServer(name string) error {
	const op = "config.remove_server"
	return s.edit(op, func(data []byte) ([]byte, error) {
		_, d, err := parse(s.opts.Path, data)
		if err != nil {
			return nil, err
		}
		path := []string{"mcp", serversKey, name}
		if _, ok := d.lookup(path); !ok {
			return nil, chat.Errorf(chat.CodeNotFound, op, "No server of that name is configured; nothing was changed.")
		}
		return removePath(data, path)
	})
}
