package mcpsetup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/secrets"
)

// Secrets stores the secrets of servers in the system's keyring. They are never shown.
type Secrets struct{ Store *secrets.Store }

// account returns the name of a server's secret in the keyring.
func account(server, name string) string { return "mcp/" + server + "/" + name }

// Get returns a secret, and adds it to the texts that are redacted from logs.
func (s Secrets) Get(server, name string) (string, bool) { return s.Store.Text(account(server, name)) }

// Set stores a secret; an empty value removes it.
func (s Secrets) Set(server, name, value string) error {
	if value == "" {
		return s.Store.Remove(account(server, name))
	}
	_, err := s.Store.SetText(account(server, name), value)
	return err
}

// Where returns where a secret is stored: "keyring", "this run" or "".
func (s Secrets) Where(server, name string) string {
	return string(s.Store.Source(account(server, name), ""))
}

// Setup edits the configured servers. Its methods are safe for concurrent use.
type Setup struct {
	Config  *config.Store
	Secrets Secrets
	// Bundles is the folder that holds one folder for each unpacked bundle.
	Bundles string
	// ForgetTools discards the user's decisions about a server's tools. It is called before the name of the server
	// refers to another server or program; nil: there are no decisions.
	ForgetTools func(server string) error

	mu      sync.Mutex
	next    int
	imports []*Import
}

// Value is a variable or a header as the user enters it. A secret value is stored in the keyring under its name; if
// it is empty, the stored value is kept.
type Value struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Secret bool   `json:"secret"`
}

// Settings are a server's settings as the user enters them.
type Settings struct {
	config.MCPServer         // its Env and Headers are ignored: the fields below replace them
	Env              []Value `json:"env"`
	Headers          []Value `json:"headers"`
}

// SettingsOf returns the settings of a configured server in the form in which they are entered.
func SettingsOf(s config.MCPServer) Settings {
	return Settings{MCPServer: s, Env: valuesOf(s.Env), Headers: valuesOf(s.Headers)}
}

func valuesOf(m map[string]string) []Value {
	out := []Value{}
	for name, value := range m {
		if value == secretPlaceholder(name) {
			out = append(out, Value{Name: name, Secret: true})
		} else {
			out = append(out, Value{Name: name, Value: value})
		}
	}
	slices.SortFunc(out, func(a, b Value) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// secretPlaceholder returns the placeholder for a secret in the configuration.
func secretPlaceholder(name string) string { return "${secret:" + name + "}" }

// Add adds a server to the configuration.
func (s *Setup) Add(in Settings) error {
	if _, taken := s.Config.Config().Server(in.Name); taken {
		return chat.Errorf(chat.CodeConflict, "mcp.add", "There is already a server of that name; nothing was changed.").WithHint("choose another name")
	}
	return s.save(in)
}

// Update changes a server. If it is renamed, its secrets move with it.
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
		updated, _ := s.Config.Config().Server(name)
		return s.changeSecrets().forget(name, SecretNames(old), SecretNames(updated))
	}
	if _, taken := s.Config.Config().Server(in.Name); taken {
		return chat.Errorf(chat.CodeConflict, op, "There is already a server of that name; nothing was changed.").WithHint("choose another name")
	}
	changes := s.changeSecrets()
	for _, secret := range SecretNames(old) {
		if value, ok := s.Secrets.Get(name, secret); ok {
			if err := changes.set(in.Name, secret, value); err != nil {
				changes.undo()
				return err
			}
		}
	}
	if err := s.save(in); err != nil {
		changes.undo()
		return err
	}
	return s.Remove(name)
}

// forgetTools calls ForgetTools, if it is set.
func (s *Setup) forgetTools(name string) error {
	if s.ForgetTools == nil {
		return nil
	}
	return s.ForgetTools(name)
}

// targetChanged reports whether the updated settings of a server start another program or call another address.
func targetChanged(old, updated config.MCPServer) bool {
	return old.Command != updated.Command || old.URL != updated.URL || !slices.Equal(old.Args, updated.Args) || old.Cwd != updated.Cwd
}

func (s *Setup) save(in Settings) error {
	cfg, secretValues, err := in.server()
	if err != nil {
		return err
	}
	if old, ok := s.Config.Config().Server(cfg.Name); !ok || targetChanged(old, cfg) {
		if err := s.forgetTools(cfg.Name); err != nil {
			return err
		}
	}
	changes := s.changeSecrets()
	for name, value := range secretValues {
		if err == nil {
			err = changes.set(cfg.Name, name, value)
		}
	}
	if err == nil {
		err = s.Config.SaveServer(cfg)
	}
	if err != nil {
		changes.undo()
	}
	return err
}

// server returns the configuration to save, and the secrets to store in the keyring.
func (in Settings) server() (config.MCPServer, map[string]string, error) {
	cfg := in.MCPServer
	secretValues := map[string]string{}
	var err error
	if cfg.Env, err = collectValues(in.Env, secretValues); err != nil {
		return cfg, nil, err
	}
	if cfg.Headers, err = collectValues(in.Headers, secretValues); err != nil {
		return cfg, nil, err
	}
	if problem := config.CheckServerName(cfg.Name); problem != "" {
		return cfg, nil, chat.Errorf(chat.CodeInvalid, "mcp.save", "The name %s; nothing was changed.", problem)
	}
	if faults := cfg.Faults(); len(faults) > 0 {
		return cfg, nil, chat.Errorf(chat.CodeInvalid, "mcp.save", "The settings of the server are invalid: %s; nothing was changed.", strings.Join(faults, "; "))
	}
	return cfg, secretValues, nil
}

// collectValues returns values as they are saved in the configuration, and adds those of secrets to secretValues.
func collectValues(values []Value, secretValues map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range values {
		name := strings.TrimSpace(v.Name)
		if _, duplicate := out[name]; duplicate {
			return nil, chat.Errorf(chat.CodeInvalid, "mcp.save", "%s is given twice; nothing was changed.", name)
		}
		out[name] = v.Value
		if v.Secret {
			out[name] = secretPlaceholder(name)
			if v.Value != "" {
				secretValues[name] = v.Value
			}
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// Enable switches a server on or off.
func (s *Setup) Enable(name string, enabled bool) error {
	cfg, ok := s.Config.Config().Server(name)
	if !ok {
		return chat.Errorf(chat.CodeNotFound, "mcp.enable", "No MCP server of that name is configured; nothing was changed.")
	}
	if cfg.Fault != "" {
		return chat.Errorf(chat.CodeConfig, "mcp.enable", "Its configuration has an error: %s; nothing was changed.", cfg.Fault)
	}
	cfg.Enabled = enabled
	return s.Config.SaveServer(cfg)
}

// clientSecret is the name of the secret of an OAuth client that was registered by hand.
const clientSecret = "oauth_client_secret" //nolint:gosec // its name, not the secret

// oauthSecrets are the names of the secrets for OAuth: the tokens of a sign-in, and clientSecret. The settings of a
// server do not mention them as ${secret:NAME}.
var oauthSecrets = []string{"oauth", clientSecret}

// Remove removes a server from the configuration, with its secrets, its sign-in, the decisions about its tools, and the
// folder of its bundle, unless another server uses it.
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
	return s.changeSecrets().forget(name, append(cfg.SecretNames(), oauthSecrets...), nil)
}

// secretChanges changes stored secrets, and can restore what was stored before if the servers cannot be saved.
type secretChanges struct {
	secrets  Secrets
	previous []storedSecret // in the order of the changes
}

type storedSecret struct{ server, name, value string } // value is empty if none was stored

func (s *Setup) changeSecrets() *secretChanges { return &secretChanges{secrets: s.Secrets} }

// set stores a secret; an empty value removes it.
func (c *secretChanges) set(server, name, value string) error {
	previous, _ := c.secrets.Get(server, name)
	if err := c.secrets.Set(server, name, value); err != nil {
		return err
	}
	c.previous = append(c.previous, storedSecret{server, name, previous})
	return nil
}

// forget removes the stored secrets of a server that are in old and not in current.
func (c *secretChanges) forget(server string, old, current []string) error {
	for _, name := range old {
		if slices.Contains(current, name) || c.secrets.Where(server, name) == "" {
			continue
		}
		if err := c.set(server, name, ""); err != nil {
			return err
		}
	}
	return nil
}

// undo restores the previous secrets. A secret that cannot be restored is missing, and the server then asks for it.
func (c *secretChanges) undo() {
	for _, x := range slices.Backward(c.previous) {
		_ = c.secrets.Set(x.server, x.name, x.value)
	}
}

// SetSecret stores a secret that the settings of a server require.
func (s *Setup) SetSecret(server, name, value string) error {
	cfg, ok := s.Config.Config().Server(server)
	if !ok {
		return chat.Errorf(chat.CodeNotFound, "mcp.secret", "No MCP server of that name is configured; nothing was changed.")
	}
	if !slices.Contains(SecretNames(cfg), name) {
		return chat.Errorf(chat.CodeInvalid, "mcp.secret", "The settings of %s do not mention this secret; nothing was changed.", server).
			WithHint("refer to it in the configuration as ${secret:NAME}")
	}
	return s.Secrets.Set(server, name, value)
}

// SecretNames returns the names of the secrets that a server's settings require.
func SecretNames(cfg config.MCPServer) []string {
	names := cfg.SecretNames()
	if cfg.OAuthClientID != "" && !slices.Contains(names, clientSecret) {
		names = append(names, clientSecret)
	}
	return names
}

// dropBundle removes the folder of the bundle that a removed or replaced server came from, unless another server uses it.
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
	_ = os.RemoveAll(dir) // a folder that cannot be removed does no harm
}

// bundleOf returns the folder of the bundle that a server came from; empty if it did not come from one.
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
