package mcpsetup

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/secrets"
)

// Secrets are those of servers, in the system's keyring. None is ever shown.
type Secrets struct{ Store *secrets.Store }

// account is the name under which the keyring has a secret of a server.
func account(server, name string) string { return "mcp/" + server + "/" + name }

// Get finds a secret. It is known to the redaction of logs from then on.
func (s Secrets) Get(server, name string) (string, bool) {
	key, _ := s.Store.Get(account(server, name), "")
	if key.IsZero() {
		return "", false
	}
	// As text: a keyring takes no spaces and line breaks from us, and a secret may have some.
	raw, err := base64.StdEncoding.DecodeString(key.Reveal())
	if err != nil || len(raw) == 0 {
		return "", false
	}
	s.Store.Redactor().Add(string(raw))
	return string(raw), true
}

// maxSecret bounds a secret, in bytes.
const maxSecret = 11 << 10

// Set keeps a secret; an empty one is removed.
func (s Secrets) Set(server, name, value string) error {
	if value == "" {
		return s.Store.Remove(account(server, name))
	}
	if len(value) > maxSecret || strings.ContainsRune(value, 0) {
		return chat.Errorf(chat.CodeInvalid, "mcp.secret", "This is too long for a secret, or not text; nothing was changed.")
	}
	s.Store.Redactor().Add(value)
	_, err := s.Store.Set(account(server, name), base64.StdEncoding.EncodeToString([]byte(value)))
	return err
}

// Where says where a secret is kept: "keyring", "this run", or nothing.
func (s Secrets) Where(server, name string) string {
	return string(s.Store.Source(account(server, name), ""))
}

// Setup edits the configured servers. Its methods may be called by several goroutines.
type Setup struct {
	Config  *config.Store
	Secrets Secrets
	// Bundles is the folder into which bundles are unpacked, one each.
	Bundles string
	// ForgetTools takes back what people decided about the tools of a server, where another takes
	// its name; nil: nothing is kept.
	ForgetTools func(server string) error

	mu      sync.Mutex
	next    int
	imports []*Import
}

// Value is a variable or a header as a person enters it. A secret one goes to the keyring under
// its name; an empty secret leaves what is kept.
type Value struct {
	Name, Value string
	Secret      bool
}

// Settings are a server as a person enters it.
type Settings struct {
	config.MCPServer // without Env and Headers
	Env, Headers     []Value
}

// SettingsOf are the settings of a configured server, as they can be entered again.
func SettingsOf(s config.MCPServer) Settings {
	return Settings{MCPServer: s, Env: valuesOf(s.Env), Headers: valuesOf(s.Headers)}
}

func valuesOf(m map[string]string) []Value {
	out := []Value{}
	for name, value := range m {
		if value == place(name) {
			out = append(out, Value{Name: name, Secret: true})
		} else {
			out = append(out, Value{Name: name, Value: value})
		}
	}
	slices.SortFunc(out, func(a, b Value) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// place is what is in the configuration for a secret.
func place(name string) string { return "${secret:" + name + "}" }

// Add configures a new server.
func (s *Setup) Add(in Settings) error {
	if _, taken := s.Config.Config().Server(in.Name); taken {
		return chat.Errorf(chat.CodeConflict, "mcp.add", "There is already a server of that name; nothing was changed.").WithHint("choose another name")
	}
	return s.save(in)
}

// Update changes a server, which may get another name: its secrets go with it.
func (s *Setup) Update(name string, in Settings) error {
	const op = "mcp.update"
	old, ok := s.Config.Config().Server(name)
	if !ok {
		return chat.Errorf(chat.CodeNotFound, op, "No MCP server of that name is configured; nothing was changed.")
	}
	if in.Name == name {
		if err := s.save(in); err != nil {
			return err
		}
		now, _ := s.Config.Config().Server(name)
		return s.forget(name, SecretNames(old), SecretNames(now))
	}
	if _, taken := s.Config.Config().Server(in.Name); taken {
		return chat.Errorf(chat.CodeConflict, op, "There is already a server of that name; nothing was changed.").WithHint("choose another name")
	}
	for _, secret := range SecretNames(old) {
		if value, ok := s.Secrets.Get(name, secret); ok {
			if err := s.Secrets.Set(in.Name, secret, value); err != nil {
				return err
			}
		}
	}
	if err := s.save(in); err != nil {
		return err
	}
	return s.Remove(name)
}

// forgetTools is called before another server has the name.
func (s *Setup) forgetTools(name string) error {
	if s.ForgetTools == nil {
		return nil
	}
	return s.ForgetTools(name)
}

// another reports settings with which something else runs under the name of a server.
func another(old, now config.MCPServer) bool {
	return old.Command != now.Command || old.URL != now.URL || !slices.Equal(old.Args, now.Args) || old.Cwd != now.Cwd
}

func (s *Setup) save(in Settings) error {
	cfg, kept, err := in.server()
	if err != nil {
		return err
	}
	if old, ok := s.Config.Config().Server(cfg.Name); !ok || another(old, cfg) {
		if err := s.forgetTools(cfg.Name); err != nil {
			return err
		}
	}
	for name, value := range kept {
		if err := s.Secrets.Set(cfg.Name, name, value); err != nil {
			return err
		}
	}
	return s.Config.SaveServer(cfg)
}

// server is what is written, and the secrets that go to the keyring.
func (in Settings) server() (config.MCPServer, map[string]string, error) {
	cfg := in.MCPServer
	kept := map[string]string{}
	var err error
	if cfg.Env, err = taken(in.Env, kept); err != nil {
		return cfg, nil, err
	}
	if cfg.Headers, err = taken(in.Headers, kept); err != nil {
		return cfg, nil, err
	}
	if problem := config.CheckServerName(cfg.Name); problem != "" {
		return cfg, nil, chat.Errorf(chat.CodeInvalid, "mcp.save", "The name %s; nothing was changed.", problem)
	}
	if faults := cfg.Faults(); len(faults) > 0 {
		return cfg, nil, chat.Errorf(chat.CodeInvalid, "mcp.save", "The server %s; nothing was changed.", strings.Join(faults, "; "))
	}
	return cfg, kept, nil
}

func taken(values []Value, kept map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range values {
		name := strings.TrimSpace(v.Name)
		if _, twice := out[name]; twice {
			return nil, chat.Errorf(chat.CodeInvalid, "mcp.save", "%s is given twice; nothing was changed.", name)
		}
		out[name] = v.Value
		if v.Secret {
			out[name] = place(name)
			if v.Value != "" {
				kept[name] = v.Value
			}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// Enable switches a server on or off.
func (s *Setup) Enable(name string, on bool) error {
	cfg, ok := s.Config.Config().Server(name)
	if !ok {
		return chat.Errorf(chat.CodeNotFound, "mcp.enable", "No MCP server of that name is configured; nothing was changed.")
	}
	cfg.Enabled = on
	return s.Config.SaveServer(cfg)
}

// clientSecret is the secret of a program that was registered by hand with a server.
const clientSecret = "oauth_client_secret" //nolint:gosec // its name, not the secret

// ownSecrets are those of every server that may have some beside what its settings name.
var ownSecrets = []string{"oauth", clientSecret}

// Remove takes a server out of the configuration, with its secrets, its sign-in, and the folder of
// its bundle.
func (s *Setup) Remove(name string) error {
	cfg, ok := s.Config.Config().Server(name)
	if !ok {
		return chat.Errorf(chat.CodeNotFound, "mcp.remove", "No MCP server of that name is configured; nothing was changed.")
	}
	if err := s.forgetTools(name); err != nil {
		return err
	}
	if err := s.Config.RemoveServer(name); err != nil {
		return err
	}
	s.dropBundle(cfg)
	return s.forget(name, append(cfg.SecretNames(), ownSecrets...), nil)
}

// forget removes secrets that no setting names any more.
func (s *Setup) forget(server string, before, now []string) error {
	for _, name := range before {
		if slices.Contains(now, name) || s.Secrets.Where(server, name) == "" {
			continue
		}
		if err := s.Secrets.Set(server, name, ""); err != nil {
			return err
		}
	}
	return nil
}

// SetSecret keeps a secret that the settings of a server name.
func (s *Setup) SetSecret(server, name, value string) error {
	cfg, ok := s.Config.Config().Server(server)
	if !ok {
		return chat.Errorf(chat.CodeNotFound, "mcp.secret", "No MCP server of that name is configured; nothing was changed.")
	}
	if !slices.Contains(SecretNames(cfg), name) {
		return chat.Errorf(chat.CodeInvalid, "mcp.secret", "The settings of %s name no secret of that name; nothing was changed.", server).
			WithHint("write ${secret:NAME} where it belongs")
	}
	return s.Secrets.Set(server, name, value)
}

// SecretNames are the secrets that a server's settings name.
func SecretNames(cfg config.MCPServer) []string {
	names := cfg.SecretNames()
	if cfg.OAuthClientID != "" && !slices.Contains(names, clientSecret) {
		names = append(names, clientSecret)
	}
	return names
}

// dropBundle removes the folder of a bundle that no server uses any more.
func (s *Setup) dropBundle(cfg config.MCPServer) {
	dir := s.bundleOf(cfg)
	if dir == "" {
		return
	}
	for _, other := range s.Config.Config().Servers {
		if s.bundleOf(other) == dir {
			return
		}
	}
	_ = os.RemoveAll(dir) // what cannot be removed does no harm
}

// bundleOf is the folder of the bundle that a server was unpacked into, if it came from one.
func (s *Setup) bundleOf(cfg config.MCPServer) string {
	if s.Bundles == "" || cfg.Cwd == "" {
		return ""
	}
	rel, err := filepath.Rel(s.Bundles, cfg.Cwd)
	if err != nil || !filepath.IsLocal(rel) || rel == "." || strings.ContainsAny(rel, `/\`) {
		return ""
	}
	return cfg.Cwd
}
