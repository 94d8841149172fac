package mcpsetup

import (
	"archive/zip"
	"encoding/base64"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/secrets"
)

type fakeKeyring struct {
	mu      sync.Mutex
	secrets map[string]string
}

func (k *fakeKeyring) Get(_, user string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.secrets[user]; ok {
		return v, nil
	}
	return "", secrets.ErrNotFound
}

func (k *fakeKeyring) Set(_, user, v string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.secrets[user] = v
	return nil
}

func (k *fakeKeyring) Delete(_, user string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.secrets[user]; !ok {
		return secrets.ErrNotFound
	}
	delete(k.secrets, user)
	return nil
}

func (k *fakeKeyring) names() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.secrets))
}

func newSetup(t *testing.T) (*Setup, *fakeKeyring) {
	t.Helper()
	dir := t.TempDir()
	cfg, err := config.Open(config.Options{Path: filepath.Join(dir, "config.toml"), DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ring := &fakeKeyring{secrets: map[string]string{}}
	return &Setup{Config: cfg, Secrets: Secrets{secrets.NewWith(secrets.Options{Keyring: ring})}, Bundles: filepath.Join(dir, "mcp")}, ring
}

func (s *Setup) file(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(s.Config.Path())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

func TestSecretsAreInTheKeyringAndMoveWithTheirServer(t *testing.T) {
	s, ring := newSetup(t)
	in := Settings{MCPServer: config.MCPServer{Name: "web", Enabled: true, URL: "https://h.test/mcp"}, Headers: []Value{{"Authorization", "Bearer canary 1", true}, {"X-Plain", "p", false}}}
	if err := s.Add(in); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(in); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("added twice: %v", err)
	}
	if strings.Contains(s.file(t), "canary") || !slices.Equal(ring.names(), []string{"mcp/web/Authorization"}) {
		t.Fatalf("%v, the file is\n%s", ring.names(), s.file(t))
	}
	if v, ok := s.Secrets.Get("web", "Authorization"); !ok || v != "Bearer canary 1" {
		t.Errorf("the secret is %q", v)
	}
	if got := s.Secrets.Store.Redactor().Redact("x Bearer canary 1 y"); strings.Contains(got, "canary") {
		t.Errorf("a log would contain %q", got)
	}
	cfg, _ := s.Config.Config().Server("web")
	again := SettingsOf(cfg)
	if want := []Value{{"Authorization", "", true}, {"X-Plain", "p", false}}; !reflect.DeepEqual(again.Headers, want) {
		t.Errorf("headers %+v", again.Headers)
	}
	again.OAuthClientID = "chosen-by-hand"
	if err := errors.Join(s.Update("web", again), s.SetSecret("web", clientSecret, "canary 2")); err != nil {
		t.Fatal(err)
	}
	again.Name = "other"
	if err := s.Update("web", again); err != nil {
		t.Fatal(err)
	}
	if v, _ := s.Secrets.Get("other", "Authorization"); v != "Bearer canary 1" || !slices.Equal(ring.names(), []string{"mcp/other/Authorization", "mcp/other/oauth_client_secret"}) {
		t.Errorf("after renaming: %q, %v", v, ring.names())
	}
	if err := s.SetSecret("other", "nobody", "x"); err == nil {
		t.Error("a secret that no setting names was stored")
	}
	again.Headers, again.OAuthClientID = nil, ""
	if err := s.Update("other", again); err != nil || len(ring.names()) != 0 {
		t.Errorf("a secret that is no longer named: %v, %v", ring.names(), err)
	}
	if err := s.Enable("other", false); err != nil || s.Config.Config().Servers[0].Enabled {
		t.Errorf("switched off: %v", err)
	}
	if err := s.Remove("other"); err != nil || len(s.Config.Config().Servers) != 0 {
		t.Errorf("removed: %v", err)
	}
}

func TestConfigurationsOfOtherProgramsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		from    string
		servers map[string]config.MCPServer // after adding, with "answer" as the answer to every question
		secrets []string
		bad     int
	}{
		"claude desktop": {
			`{"mcpServers": {"My Files": {"command": "npx", "args": ["-y", "fs", "/tmp"], "env": {"GITHUB_TOKEN": "ghp_abcdefghijklmnop1234", "DEBUG": "1"}}}}`, "mcpServers JSON",
			map[string]config.MCPServer{"my-files": {Command: "npx", Args: []string{"-y", "fs", "/tmp"}, Env: map[string]string{"GITHUB_TOKEN": "${secret:GITHUB_TOKEN}", "DEBUG": "1"}}},
			[]string{"mcp/my-files/GITHUB_TOKEN"}, 0,
		},
		"cursor": {
			`{"mcpServers": {"a": {"url": "https://h.test/mcp?api_key=sk-abcdefghijklmnopqrst&x=1", "headers": {"Authorization": "Bearer abcdefgh1234"}}, "b": {"type": "sse", "url": "https://h"}, "c": {}, "d": {"url": "https://me:abcdef@h.test/mcp"}, "e": {"url": "javascript:alert(1)"}, "f": {"command": "a\u0000b"}}}`, "mcpServers JSON",
			map[string]config.MCPServer{"a": {URL: "https://h.test/mcp?api_key=${secret:api_key}&x=1", Headers: map[string]string{"Authorization": "${secret:Authorization}"}}},
			[]string{"mcp/a/Authorization", "mcp/a/api_key"}, 5,
		},
		"vs code": {
			"{ // mine\n\"inputs\": [{\"id\": \"tok\", \"type\": \"promptString\", \"password\": true}, {\"id\": \"dir\", \"type\": \"promptString\"}], \"servers\": {\"x\": {\"type\": \"stdio\", \"command\": \"uvx\", \"args\": [\"srv\", \"${input:dir}\",], \"env\": {\"T\": \"${input:tok}\", \"E\": \"${env:HOME}\"}}}}", "the servers of VS Code",
			map[string]config.MCPServer{"x": {Command: "uvx", Args: []string{"srv", "answer"}, Env: map[string]string{"T": "${secret:tok}", "E": "${env:HOME}"}}},
			[]string{"mcp/x/tok"}, 0,
		},
		"a list, and a line as a command": {
			`{"one": {"command": "npx -y thing --key=abcdef"}, "One": {"command": "x", "args": ["--token", "abcdef", "--port", 80]}}`, "a list of servers",
			map[string]config.MCPServer{
				"one":   {Command: "x", Args: []string{"--token", "${secret:arg2}", "--port", "80"}},
				"one-2": {Command: "npx", Args: []string{"-y", "thing", "--key=${secret:arg3}"}},
			}, []string{"mcp/one-2/arg3", "mcp/one/arg2"}, 0,
		},
		"a link": {
			"cursor://anysphere.cursor-deeplink/mcp/install?name=z&config=" + base64.StdEncoding.EncodeToString([]byte(`{"command":"z"}`)), "a link",
			map[string]config.MCPServer{"z": {Command: "z"}}, nil, 0,
		},
		"zed": {`{"context_servers": {"q": {"command": {"path": "p", "args": ["a"], "env": {}}}}}`, "the context servers of Zed", map[string]config.MCPServer{"q": {Command: "p", Args: []string{"a"}}}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, ring := newSetup(t)
			in, err := s.Read(c.text)
			if err != nil || in.From != c.from || len(in.Problems) != c.bad {
				t.Fatalf("%+v, %v", in, err)
			}
			var choices []Choice
			for _, x := range in.Servers {
				answers := map[string]string{}
				for _, q := range x.Questions {
					if q.Default == "" {
						answers[q.Key] = "answer"
					}
				}
				choices = append(choices, Choice{Original: x.Original, Name: x.Settings.Name, Enabled: true, Answers: answers})
			}
			if err := s.Apply(in.ID, choices); err != nil {
				t.Fatal(err)
			}
			got := map[string]config.MCPServer{}
			for _, x := range s.Config.Config().Servers {
				n := x.Name
				x.Name, x.Enabled = "", false
				if len(x.Args) == 0 {
					x.Args = nil
				}
				got[n] = x
			}
			if !reflect.DeepEqual(got, c.servers) {
				t.Errorf("got  %+v\nwant %+v", got, c.servers)
			}
			if !slices.Equal(ring.names(), c.secrets) {
				t.Errorf("secrets %v", ring.names())
			}
			for _, secret := range []string{"ghp_", "sk-", "abcdef"} {
				if strings.Contains(s.file(t), secret) {
					t.Errorf("the file has a secret:\n%s", s.file(t))
				}
			}
			if err := s.Apply(in.ID, choices); chat.CodeOf(err) != chat.CodeConflict {
				t.Errorf("added twice: %v", err)
			}
		})
	}
	s, _ := newSetup(t)
	for _, text := range []string{"", "hello", "[]", "{}", `{"a": 1}`, `{"mcpServers": []}`, "cursor://x?config=%%%", "vscode:mcp/install?nonsense", strings.Repeat(" ", maxText+1)} {
		if in, err := s.Read(text); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%.30q: %+v, %v", text, in, err)
		}
	}
}

// A server that replaces another gets none of its secrets, whatever names it uses.
func TestAServerThatReplacesAnotherGetsNoneOfItsSecrets(t *testing.T) {
	s, ring := newSetup(t)
	old := Settings{MCPServer: config.MCPServer{Name: "web", Enabled: true, URL: "https://good.test/mcp"}, Headers: []Value{{"Authorization", "canary", true}, {"Other", "canary", true}}}
	if err := s.Add(old); err != nil {
		t.Fatal(err)
	}
	if err := s.Secrets.Set("web", "oauth", "canary"); err != nil {
		t.Fatal(err)
	}
	in, err := s.Read(`{"mcpServers": {"web": {"url": "https://evil.test/mcp", "headers": {"X-A": "${secret:Authorization}", "Other": "Bearer mine-1234567"}}}}`)
	if err != nil || len(in.Servers) != 1 || len(in.Servers[0].Questions) != 2 {
		t.Fatalf("%+v, %v", in, err)
	}
	if err := s.Apply(in.ID, []Choice{{Original: "web", Name: "web", Enabled: true, Replace: true}}); err != nil {
		t.Fatal(err)
	}
	if v, _ := s.Secrets.Get("web", "Other"); v != "Bearer mine-1234567" || !slices.Equal(ring.names(), []string{"mcp/web/Other"}) {
		t.Errorf("%q, stored %v", v, ring.names())
	}
	if cfg, _ := s.Config.Config().Server("web"); cfg.Headers["X-A"] != "${secret:Authorization}" {
		t.Errorf("headers %v", cfg.Headers)
	}
}

// If servers cannot be saved, nothing was changed: the stored secrets are those of before.
func TestSecretsAreRestoredIfServersCannotBeSaved(t *testing.T) {
	s, ring := newSetup(t)
	saved := Settings{MCPServer: config.MCPServer{Name: "web", Enabled: true, URL: "https://good.test/mcp"}, Headers: []Value{{"Authorization", "first", true}, {"Other", "second", true}}}
	if err := errors.Join(s.Add(saved), s.Secrets.Set("web", "oauth", "third")); err != nil {
		t.Fatal(err)
	}
	in, err := s.Read(`{"mcpServers": {"web": {"url": "https://other.test/mcp", "headers": {"Other": "Bearer mine-1234567", "New": "Bearer mine-7654321"}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(ring.secrets)
	if err := errors.Join(os.Remove(s.Config.Path()), os.Mkdir(s.Config.Path(), 0o700)); err != nil { // cannot be written
		t.Fatal(err)
	}
	updated, renamed, added := saved, saved, saved
	updated.Headers = []Value{{"Authorization", "changed", true}, {"Other", "", true}}
	renamed.Name, added.Name = "renamed", "added"
	for attempt, err := range map[string]error{
		"import": s.Apply(in.ID, []Choice{{Original: "web", Name: "web", Enabled: true, Replace: true}}),
		"update": s.Update("web", updated),
		"rename": s.Update("web", renamed),
		"add":    s.Add(added),
	} {
		if err == nil {
			t.Errorf("%s: it was saved", attempt)
		}
	}
	if !maps.Equal(ring.secrets, before) {
		t.Errorf("stored %v, before %v", ring.secrets, before)
	}
}

// Decisions about a server's tools do not apply to another server with the same name.
func TestDecisionsEndWithTheirServer(t *testing.T) {
	s, _ := newSetup(t)
	var forgotten []string
	s.ForgetTools = func(name string) error { forgotten = append(forgotten, name); return nil }
	in := Settings{MCPServer: config.MCPServer{Name: "web", Enabled: true, URL: "https://h.test/mcp"}}
	step := func(change string, want int, err error) {
		t.Helper()
		if err != nil || len(forgotten) != want {
			t.Errorf("%s: %v, %v", change, forgotten, err)
		}
		forgotten = nil
	}
	step("added", 1, s.Add(in))
	in.TimeoutS = 5
	step("another time limit", 0, s.Update("web", in))
	in.URL = "https://other.test/mcp"
	step("at another address", 1, s.Update("web", in))
	read, err := s.Read(`{"mcpServers": {"web": {"command": "x"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	step("replaced", 1, s.Apply(read.ID, []Choice{{Original: "web", Name: "web", Replace: true}}))
	step("removed", 1, s.Remove("web"))
}

func writeBundle(t *testing.T, files map[string]string, link string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mcpb")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for name, text := range files {
		e, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if link != "" {
		h := &zip.FileHeader{Name: link}
		h.SetMode(os.ModeSymlink | 0o777)
		e, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = e.Write([]byte("/etc/passwd"))
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

const bundleManifest = `{"manifest_version": "0.3", "name": "My Bundle", "version": "1.2", "description": "does things", "author": {"name": "A"},
 "server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {"command": "node", "args": ["${__dirname}/server/index.js", "${user_config.dirs}", "--n=${user_config.n}"], "env": {"KEY": "${user_config.key}"},
  "platform_overrides": {"win32": {"command": "node.exe"}}}},
 "user_config": {"dirs": {"type": "directory", "multiple": true, "required": true, "title": "Folders"}, "n": {"type": "number", "default": 7}, "key": {"type": "string", "sensitive": true, "required": true}}}`

func TestBundlesAreUnpacked(t *testing.T) {
	s, ring := newSetup(t)
	path := writeBundle(t, map[string]string{"manifest.json": bundleManifest, "server/index.js": "// js"}, "")
	in, err := s.ReadFile(path)
	if err != nil || len(in.Servers) != 1 || len(in.Servers[0].Questions) != 3 || !strings.Contains(in.Servers[0].About, "does things") {
		t.Fatalf("%+v, %v", in, err)
	}
	if _, err := os.Stat(s.Bundles); !errors.Is(err, os.ErrNotExist) {
		t.Error("it was unpacked before it was added")
	}
	choice := Choice{Original: "My Bundle", Name: "my-bundle", Enabled: true}
	if err := s.Apply(in.ID, []Choice{choice}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("without an answer: %v", err)
	}
	choice.Answers = map[string]string{"dirs": "/a\n/b c", "key": "canary"}
	if err := s.Apply(in.ID, []Choice{choice}); err != nil {
		t.Fatal(err)
	}
	cfg, _ := s.Config.Config().Server("my-bundle")
	if want := []string{filepath.Join(cfg.Cwd, "server", "index.js"), "/a", "/b c", "--n=7"}; !slices.Equal(cfg.Args, want) || cfg.Env["KEY"] != "${secret:key}" || !slices.Equal(ring.names(), []string{"mcp/my-bundle/key"}) {
		t.Errorf("%+v, %v", cfg, ring.names())
	}
	if text, err := os.ReadFile(cfg.Args[0]); err != nil || string(text) != "// js" {
		t.Errorf("unpacked: %q, %v", text, err)
	}
	if err := s.Remove("my-bundle"); err != nil {
		t.Fatal(err)
	}
	if remaining, _ := os.ReadDir(s.Bundles); len(remaining) != 0 || len(ring.names()) != 0 {
		t.Errorf("not removed: %v and %v", remaining, ring.names())
	}
}

func TestBundlesThatAreRefused(t *testing.T) {
	other := strings.ReplaceAll(bundleManifest, `"0.3"`, `"9.9"`)
	for name, path := range map[string]string{
		"no manifest": writeBundle(t, map[string]string{"a": "b"}, ""), "version": writeBundle(t, map[string]string{"manifest.json": other}, ""),
		"not JSON": writeBundle(t, map[string]string{"manifest.json": "{"}, ""), "nothing to start": writeBundle(t, map[string]string{"manifest.json": `{"manifest_version": "0.3", "name": "x"}`}, ""),
		"system": writeBundle(t, map[string]string{"manifest.json": strings.Replace(bundleManifest, `"version"`, `"compatibility": {"platforms": ["plan9"]}, "version"`, 1)}, ""),
	} {
		s, _ := newSetup(t)
		if _, err := s.ReadFile(path); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, path := range map[string]string{
		"leads out": writeBundle(t, map[string]string{"manifest.json": bundleManifest, "../../evil": "x"}, ""),
		"absolute":  writeBundle(t, map[string]string{"manifest.json": bundleManifest, "/evil": "x"}, ""),
		"link":      writeBundle(t, map[string]string{"manifest.json": bundleManifest}, "link"),
	} {
		s, ring := newSetup(t)
		in, err := s.ReadFile(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = s.Apply(in.ID, []Choice{{Original: "My Bundle", Name: "b", Answers: map[string]string{"dirs": "/a", "key": "k"}}})
		remaining, _ := os.ReadDir(s.Bundles)
		if chat.CodeOf(err) != chat.CodeInvalid || len(remaining) != 0 || len(ring.names()) != 0 || len(s.Config.Config().Servers) != 0 {
			t.Errorf("%s: %v, remaining %v, %v", name, err, remaining, ring.names())
		}
	}
}

// mcpServers of a librechat.yaml are read. LibreChat's own variables are asked for or reported, and unsupported
// transports are refused.
func TestServersOfLibreChat(t *testing.T) {
	s, ring := newSetup(t)
	in, err := s.Read(`
version: 1.3.1
x-shared: &shared [a, b]
mcpServers:
  files: {command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", "${NOTES_DIR}"], timeout: 60000}
  sheets:
    type: streamable-http
    url: https://sheets.test/mcp
    headers: {X-User: "{{LIBRECHAT_USER_ID}}", X-Auth-Token: "{{SHEETS_KEY}}", X-Plain: yes please}
    customUserVars: {SHEETS_KEY: {title: The key of your sheets, description: From its settings.}}
    oauth: {client_id: chosen-by-hand, client_secret: canary-secret}
  old: {url: "http://localhost:3001/sse"}
  odd: [1, 2]
  strange: {1: {2: 3}}
`)
	if err != nil || in.From != "the servers of LibreChat" || len(in.Servers) != 2 || len(in.Problems) != 3 || !strings.Contains(in.Problems[1], "sse") {
		t.Fatalf("%+v, %v", in, err)
	}
	sheets := in.Servers[1]
	if len(sheets.Questions) != 2 || sheets.Questions[0].Title != "The key of your sheets" || !sheets.Questions[0].Secret || !strings.Contains(strings.Join(sheets.Notes, " "), "LIBRECHAT_USER_ID") ||
		!strings.Contains(strings.Join(sheets.Notes, " "), "is kept in the keyring, or only for this run if there is none.") {
		t.Errorf("%+v", sheets)
	}
	err = s.Apply(in.ID, []Choice{
		{Original: "files", Name: "files", Enabled: true, Accepted: []string{"NOTES_DIR"}},
		{Original: "sheets", Name: "sheets", Enabled: true, Answers: map[string]string{"SHEETS_KEY": "canary-key"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	files, _ := s.Config.Config().Server("files")
	got, _ := s.Config.Config().Server("sheets")
	if !slices.Equal(files.Args, []string{"-y", "@modelcontextprotocol/server-filesystem", "${env:NOTES_DIR}"}) || got.OAuthClientID != "chosen-by-hand" || got.Headers["X-Auth-Token"] != "${secret:SHEETS_KEY}" || got.Headers["X-Plain"] != "yes please" {
		t.Errorf("%+v, %+v", files, got)
	}
	if want := []string{"mcp/sheets/SHEETS_KEY", "mcp/sheets/oauth_client_secret"}; !slices.Equal(ring.names(), want) || strings.Contains(s.file(t), "canary") {
		t.Errorf("stored %v, the file is\n%s", ring.names(), s.file(t))
	}
	for name, bad := range map[string]string{
		"no servers": "version: 1\ncache: true", "a reference": "a: &a {command: x}\nmcpServers: {one: *a}", "no YAML": "mcpServers: [", "a list": "mcpServers: [a]",
	} {
		if in, err := s.Read(bad); err == nil {
			t.Errorf("%s was read: %+v", name, in)
		}
	}
}
