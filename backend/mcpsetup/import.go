package mcpsetup

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/jsonc"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/secrets"
)

// Import is the content of another program's configuration, or of a bundle.
type Import struct {
	ID       string
	From     string
	Servers  []Candidate
	Problems []string
}

// Candidate is a server that can be added. The values of its secrets are not passed on to the window.
type Candidate struct {
	Settings  Settings
	Original  string
	About     string
	Notes     []string
	Questions []Question

	bundle *bundle
	keys   []string // variables that hold keys of this program
}

// Question is a value that a server needs from the user.
type Question struct {
	Key, Title, Description string
	Type                    string // "string", "number", "boolean", "directory", "file"
	Required, Secret        bool
	Multiple                bool
	Default                 string
	Choices                 []string
}

// Choice is the user's choice to add one server of an import.
type Choice struct {
	Original, Name   string
	Enabled, Replace bool
	Answers          map[string]string
	// Accepted are the names of the variables that the user agrees to (Exposure); Keys are those agreed to a second
	// time, because they hold a key or a password.
	Accepted, Keys []string
}

// Limits of what is read.
const (
	maxText    = 1 << 20
	maxEntries = 100
	maxImports = 8
)

const opImport = "mcp.import"

// Read reads what a person pasted: a configuration, another program's link for adding a server, or a server as its
// documentation gives it.
func (s *Setup) Read(text string) (*Import, error) { return s.read(text, fromLine) }

// ReadConfiguration is Read without the last: in a file, or what a program wrote, a line of text is not a command.
func (s *Setup) ReadConfiguration(text string) (*Import, error) { return s.read(text, nil) }

func (s *Setup) read(text string, line lineReader) (*Import, error) {
	in, err := parse(text, line)
	if err != nil {
		return nil, err
	}
	return s.remember(in), nil
}

// ReadFile reads a configuration or a bundle from a file.
func (s *Setup) ReadFile(path string) (*Import, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = p.Err
		}
		return nil, chat.WrapError(chat.CodeInvalid, opImport, err, "%s could not be read: %s; nothing was added.", filepath.Base(path), err)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 4)
	if n, _ := io.ReadFull(f, head); n == 4 && bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		in, err := readBundle(path)
		if err != nil {
			return nil, err
		}
		return s.remember(in), nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, chat.WrapError(chat.CodeInvalid, opImport, err, "The file could not be read; nothing was added.")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, chat.WrapError(chat.CodeInvalid, opImport, err, "The file could not be read; nothing was added.")
	}
	return s.ReadConfiguration(string(data))
}

func (s *Setup) remember(in *Import) *Import {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := keyVariables(s.Config.Config())
	for i := range in.Servers {
		in.Servers[i].keys = keys
	}
	s.next++
	in.ID = strconv.Itoa(s.next)
	s.imports = append(s.imports, in)
	if extra := len(s.imports) - maxImports; extra > 0 {
		s.imports = slices.Delete(s.imports, 0, extra)
	}
	return in
}

// Exists reports whether a server with this name is configured.
func (s *Setup) Exists(name string) bool {
	_, ok := s.Config.Config().Server(name)
	return ok
}

// Apply adds the chosen servers of an import, all of them or none.
func (s *Setup) Apply(id string, choices []Choice) error {
	s.mu.Lock()
	i := slices.IndexFunc(s.imports, func(in *Import) bool { return in.ID == id })
	var in *Import
	if i >= 0 {
		in = s.imports[i]
	}
	s.mu.Unlock()
	if in == nil {
		return chat.Errorf(chat.CodeNotFound, opImport, "This import is no longer available; nothing was added.").WithHint("read it again")
	}
	var servers []config.MCPServer
	secretValues := map[string]map[string]string{}
	changes := s.changeSecrets()
	var unpacked []string
	undo := func() {
		changes.undo()
		for _, dir := range unpacked {
			_ = os.RemoveAll(dir)
		}
	}
	for _, c := range choices {
		cfg, values, dir, err := s.chosen(in, c)
		if dir != "" {
			unpacked = append(unpacked, dir)
		}
		if err == nil && secretValues[cfg.Name] != nil {
			err = chat.Errorf(chat.CodeInvalid, opImport, "Two servers would be called %s; nothing was added.", cfg.Name)
		}
		if err != nil {
			undo()
			return err
		}
		servers, secretValues[cfg.Name] = append(servers, cfg), values
	}
	var replaced []config.MCPServer
	for _, cfg := range servers {
		if old, ok := s.Config.Config().Server(cfg.Name); ok {
			replaced = append(replaced, old)
		}
		for name, value := range secretValues[cfg.Name] {
			if err := changes.set(cfg.Name, name, value); err != nil {
				undo()
				return err
			}
		}
	}
	for _, cfg := range servers {
		if err := s.forgetTools(cfg.Name); err != nil {
			undo()
			return err
		}
	}
	if err := forgetReplaced(changes, replaced, secretValues); err != nil {
		undo()
		return err
	}
	if err := s.Config.SaveServers(servers); err != nil {
		undo()
		return err
	}
	for _, old := range replaced {
		s.dropBundle(old)
	}
	return nil
}

// forgetReplaced removes the secrets of the servers that are replaced, before the new servers of the same name are
// saved. A new server must only get the secrets of its own import.
func forgetReplaced(changes *secretChanges, replaced []config.MCPServer, secretValues map[string]map[string]string) error {
	for _, old := range replaced {
		current := slices.Collect(maps.Keys(secretValues[old.Name]))
		if err := changes.forget(old.Name, append(old.SecretNames(), oauthSecrets...), current); err != nil {
			return err
		}
	}
	return nil
}

// chosen returns the configuration and the secrets of one chosen server.
func (s *Setup) chosen(in *Import, c Choice) (cfg config.MCPServer, secretValues map[string]string, dir string, err error) {
	i := slices.IndexFunc(in.Servers, func(x Candidate) bool { return x.Original == c.Original })
	if i < 0 {
		return cfg, nil, "", chat.Errorf(chat.CodeNotFound, opImport, "The import has no server %s; nothing was added.", c.Original)
	}
	if s.Exists(c.Name) && !c.Replace {
		return cfg, nil, "", chat.Errorf(chat.CodeConflict, opImport, "There is already a server called %s; nothing was added.", c.Name).WithHint("choose another name, or replace it")
	}
	candidate := in.Servers[i]
	settings := candidate.Settings
	settings.Name, settings.Enabled = c.Name, c.Enabled
	for _, q := range candidate.Questions {
		if answer := c.Answers[q.Key]; answer == "" && q.Default == "" && q.Required && !q.Secret {
			return cfg, nil, "", chat.Errorf(chat.CodeInvalid, opImport, "%s needs values for: %s. Nothing was added.", c.Name, q.Title)
		}
	}
	if cfg, secretValues, err = settings.server(); err != nil {
		return cfg, nil, "", err
	}
	if candidate.bundle != nil {
		if dir, err = s.unpack(candidate.bundle, c.Name); err != nil {
			return cfg, nil, dir, err
		}
	}
	fill(&cfg, secretValues, candidate.Questions, c.Answers, dir)
	if faults := cfg.Faults(); len(faults) > 0 {
		return cfg, nil, dir, chat.Errorf(chat.CodeInvalid, opImport, "The server %s %s; nothing was added.", c.Name, strings.Join(faults, "; "))
	}
	// The final settings are checked, because answers may complete what the import began.
	return cfg, secretValues, dir, agreed(cfg, c, candidate.keys)
}

// fill replaces the placeholders ${answer:KEY} by the answers. Secret answers are added to secretValues instead.
func fill(cfg *config.MCPServer, secretValues map[string]string, asks []Question, answers map[string]string, dir string) {
	replacements := map[string]string{"${__dirname}": dir, "${/}": string(filepath.Separator), "${pathSeparator}": string(filepath.Separator)}
	lists := map[string][]string{}
	for _, q := range asks {
		answer := answers[q.Key]
		answer = cmp.Or(answer, q.Default)
		switch {
		case q.Secret:
			replacements[answerPlaceholder(q.Key)] = secretPlaceholder(q.Key)
			if answer != "" {
				secretValues[q.Key] = answer
			}
		case q.Multiple:
			lists[answerPlaceholder(q.Key)] = strings.FieldsFunc(answer, func(r rune) bool { return r == '\n' || r == '\r' })
			replacements[answerPlaceholder(q.Key)] = strings.Join(lists[answerPlaceholder(q.Key)], ",")
		default:
			replacements[answerPlaceholder(q.Key)] = answer
		}
	}
	var pairs []string
	for placeholder, value := range replacements {
		pairs = append(pairs, placeholder, value)
	}
	replace := strings.NewReplacer(pairs...).Replace
	var args []string
	for _, a := range cfg.Args {
		if list, ok := lists[a]; ok {
			args = append(args, list...)
			continue
		}
		args = append(args, replace(a))
	}
	cfg.Args, cfg.Command, cfg.URL = args, replace(cfg.Command), replace(cfg.URL)
	for _, m := range []map[string]string{cfg.Env, cfg.Headers} {
		for name, value := range m {
			m[name] = replace(value)
		}
	}
	cfg.Cwd = cmp.Or(dir, cfg.Cwd)
}

// answerPlaceholder returns the placeholder for an answer.
func answerPlaceholder(key string) string { return "${answer:" + key + "}" }

// lineReader reads a server from one line; nil: none is.
type lineReader func(text string) (servers map[string]json.RawMessage, ok bool)

// parse reads a link, a line, or a configuration.
func parse(text string, line lineReader) (*Import, error) {
	if len(text) > maxText {
		return nil, chat.Errorf(chat.CodeInvalid, opImport, "This is too large for a list of servers; nothing was added.")
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if in, ok, err := parseLink(text); ok {
		return in, err
	}
	if line != nil {
		if servers, ok := line(text); ok {
			return candidates("one server", servers, nil), nil
		}
		if missing := unfilled(text, line); missing != "" {
			return nil, chat.Errorf(chat.CodeInvalid, opImport, "%s stands for something that only you know; nothing was added.", missing).
				WithHint("replace it, with the angle brackets, by your own value, and paste the line again")
		}
	}
	return parseConfiguration(text)
}

// parseConfiguration reads the formats in which other programs configure their servers.
func parseConfiguration(text string) (*Import, error) {
	var doc map[string]json.RawMessage
	var from string
	var servers map[string]json.RawMessage
	if err := json.Unmarshal(jsonc.ToJSON([]byte(text)), &doc); err == nil {
		from, servers = findServers(doc)
	} else if found, ok := fromYAML(text); ok {
		from, servers = "the servers of LibreChat", found
	} else {
		return nil, chat.Errorf(chat.CodeInvalid, opImport, "This is neither a command, an address, nor JSON or YAML with servers; nothing was added.").
			WithHint(`paste a command such as npx -y PACKAGE, an address, {"mcpServers": {...}} as Claude Desktop, Cursor, LM Studio or VS Code have it, or mcpServers of librechat.yaml`)
	}
	if servers == nil {
		return nil, chat.Errorf(chat.CodeInvalid, opImport, "No servers were found in this; nothing was added.").
			WithHint(`it should have "mcpServers" or "servers"`)
	}
	return candidates(from, servers, readInputs(doc["inputs"])), nil
}

// candidates converts the entries that can be used; why the others cannot is in the problems.
func candidates(from string, servers map[string]json.RawMessage, inputs map[string]input) *Import {
	in := &Import{From: from}
	names := make([]string, 0, len(servers))
	for name := range servers {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > maxEntries {
		in.Problems = append(in.Problems, fmt.Sprintf("Only the first %d of %d servers were read.", maxEntries, len(names)))
		names = names[:maxEntries]
	}
	taken := map[string]bool{}
	for _, name := range names {
		c, problem := readEntry(name, servers[name], inputs)
		if problem != "" {
			in.Problems = append(in.Problems, fmt.Sprintf("%s: %s", quoted(name), problem))
			continue
		}
		c.Settings.Name = freeName(c.Settings.Name, taken)
		in.Servers = append(in.Servers, c)
	}
	return in
}

func quoted(name string) string {
	return strconv.Quote(strings.ToValidUTF8(name[:min(len(name), 60)], ""))
}

// findServers finds the servers in a configuration, and describes its format.
func findServers(doc map[string]json.RawMessage) (from string, servers map[string]json.RawMessage) {
	for _, form := range []struct{ key, description string }{
		{"mcpServers", "mcpServers JSON"}, {"servers", "the servers of VS Code"}, {"context_servers", "the context servers of Zed"},
	} {
		if raw, ok := doc[form.key]; ok && json.Unmarshal(raw, &servers) == nil {
			return form.description, servers
		}
	}
	var inner map[string]json.RawMessage
	if raw, ok := doc["mcp"]; ok && json.Unmarshal(raw, &inner) == nil {
		return findServers(inner)
	}
	if doc["command"] != nil || doc["url"] != nil {
		name := "server"
		_ = json.Unmarshal(doc["name"], &name)
		raw, _ := json.Marshal(doc)
		return "one server", map[string]json.RawMessage{name: raw}
	}
	for _, raw := range doc {
		var e struct {
			Command any `json:"command"`
			URL     any `json:"url"`
		}
		if json.Unmarshal(raw, &e) != nil || e.Command == nil && e.URL == nil {
			return "", nil
		}
	}
	if len(doc) == 0 {
		return "", nil
	}
	return "a list of servers", doc
}

// parseLink reads links with which other programs add a server.
func parseLink(text string) (in *Import, ok bool, err error) {
	u, perr := url.Parse(text)
	if perr != nil || !slices.Contains([]string{"lmstudio", "cursor", "vscode", "vscode-insiders"}, u.Scheme) {
		return nil, false, nil
	}
	refused := chat.Errorf(chat.CodeInvalid, opImport, "This link names no server that can be read; nothing was added.")
	name, body := u.Query().Get("name"), u.Query().Get("config")
	if strings.HasPrefix(u.Scheme, "vscode") {
		if body, perr = url.QueryUnescape(u.RawQuery); perr != nil {
			return nil, true, refused
		}
		in, err = parseConfiguration(body)
	} else {
		raw, derr := base64.StdEncoding.DecodeString(strings.ReplaceAll(body, " ", "+"))
		if derr != nil {
			if raw, derr = base64.RawURLEncoding.DecodeString(strings.TrimRight(body, "=")); derr != nil {
				return nil, true, refused
			}
		}
		entry, merr := json.Marshal(map[string]json.RawMessage{name: raw})
		if merr != nil || name == "" {
			return nil, true, refused
		}
		in, err = parseConfiguration(`{"mcpServers":` + string(entry) + `}`)
	}
	if err != nil {
		return nil, true, refused
	}
	in.From = "a link"
	return in, true, nil
}

var nameRunes = regexp.MustCompile(`[^a-z0-9]+`)

// usableName turns another program's name for a server into a valid one.
func usableName(name string) string {
	out := strings.Trim(nameRunes.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(out) > 32 {
		out = strings.TrimRight(out[:32], "-")
	}
	if out == "" || out == chat.ToolSourceBuiltin {
		return "server"
	}
	return out
}

func freeName(name string, taken map[string]bool) string {
	out := name
	for i := 2; taken[out]; i++ {
		suffix := "-" + strconv.Itoa(i)
		out = strings.TrimRight(name[:min(len(name), 32-len(suffix))], "-") + suffix
	}
	taken[out] = true
	return out
}

// looksSecret reports whether a value is a secret, judging by its name or its form.
func looksSecret(name, value string) bool {
	if strings.Contains(value, "${") {
		return false // refers to a value instead of containing it
	}
	upper := strings.ToUpper(name)
	for _, w := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTHORIZATION", "COOKIE"} {
		if strings.Contains(upper, w) && value != "true" && value != "false" {
			return true
		}
	}
	var forms *secrets.Redactor
	return forms.Redact(value) != value
}

// isBlank reports whether a value is only a placeholder, such as "<your token>".
func isBlank(value string) bool {
	v := strings.ToLower(strings.TrimSpace(value))
	return v == "" || strings.HasPrefix(v, "<") && strings.HasSuffix(v, ">") || strings.HasPrefix(v, "your") || strings.HasPrefix(v, "xxx") || v == "..." || v == "changeme"
}
