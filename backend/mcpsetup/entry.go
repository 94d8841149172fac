package mcpsetup

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/config"
)

// entry is a server in the configuration of another program.
type entry struct {
	Type        string          `json:"type"`
	Transport   string          `json:"transport"`
	Command     json.RawMessage `json:"command"` // a string, or an object in Zed
	Args        []any           `json:"args"`
	Env         map[string]any  `json:"env"`
	Cwd         string          `json:"cwd"`
	URL         string          `json:"url"`
	ServerURL   string          `json:"serverUrl"`
	HTTPURL     string          `json:"httpUrl"`
	Headers     map[string]any  `json:"headers"`
	HTTPHeaders map[string]any  `json:"http_headers"`
	EnvFile     string          `json:"envFile"`
	Disabled    bool            `json:"disabled"`
	Enabled     *bool           `json:"enabled"`

	// Fields of LibreChat.
	Variables map[string]struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	} `json:"customUserVars"`
	OAuth struct {
		ClientID string `json:"client_id"`
		Secret   string `json:"client_secret"`
	} `json:"oauth"`
	APIKey json.RawMessage `json:"apiKey"`
	OBO    json.RawMessage `json:"obo"`
}

// input is a value that VS Code asks for before it starts a server.
type input struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Default     string   `json:"default"`
	Password    bool     `json:"password"`
	Options     []string `json:"options"`
}

func readInputs(raw json.RawMessage) map[string]input {
	var list []input
	_ = json.Unmarshal(raw, &list) // on an error there are no inputs, and references to them are reported in a note
	out := map[string]input{}
	for _, in := range list {
		if keyPattern.MatchString(in.ID) {
			out[in.ID] = in
		}
	}
	return out
}

var (
	keyPattern         = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
	foreignPlaceholder = regexp.MustCompile(`\$\{([^{}]{1,200})\}`)
	bracedPlaceholder  = regexp.MustCompile(`\{\{([A-Za-z0-9_]{1,100})\}\}`) // LibreChat's
)

// converter converts one entry into a candidate.
type converter struct {
	c      Candidate
	inputs map[string]input
	braced map[string]Question
}

func readEntry(name string, raw json.RawMessage, inputs map[string]input) (Candidate, string) {
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return Candidate{}, "it is not a server, or one of its values has the wrong type."
	}
	r := &converter{c: Candidate{Original: name}, inputs: inputs, braced: map[string]Question{}}
	for key, v := range e.Variables {
		r.braced[key] = Question{Key: key, Title: firstOf(v.Title, key), Description: v.Description, Type: "string", Secret: true, Required: true}
	}
	address := firstOf(e.URL, e.ServerURL, e.HTTPURL)
	if t := strings.ToLower(firstOf(e.Type, e.Transport)); t == "sse" || t == "ws" || t == "websocket" {
		return Candidate{}, fmt.Sprintf("it uses the transport %s, which is not supported: a server with an address must use streamable HTTP.", quoted(t))
	}
	cfg := config.MCPServer{Name: usableName(name), Enabled: !e.Disabled && (e.Enabled == nil || *e.Enabled), Cwd: e.Cwd}
	if problem := r.command(&cfg, &e, address); problem != "" {
		return Candidate{}, problem
	}
	r.c.Settings.Env, r.c.Settings.Headers = []Value{}, []Value{}
	if address != "" {
		cfg.URL = r.address(address)
		r.c.Settings.Headers = r.values(e.Headers)
		r.c.Settings.Headers = append(r.c.Settings.Headers, r.values(e.HTTPHeaders)...)
		r.signIn(&cfg, &e)
		cfg.Cwd = ""
	} else {
		r.c.Settings.Env = r.values(e.Env)
		if cfg.Cwd = r.convert(cfg.Cwd); strings.Contains(cfg.Cwd, "${") {
			r.note("The folder it is started in is left out: it depends on an editor's workspace.")
			cfg.Cwd = ""
		}
	}
	if e.EnvFile != "" {
		r.note("It reads variables from the file %s, which is not supported here: enter them.", quoted(e.EnvFile))
	}
	r.c.Settings.MCPServer = cfg
	if _, _, err := r.c.Settings.server(); err != nil {
		return Candidate{}, "it cannot be used here: " + strings.Join(cfg.Faults(), "; ") + "."
	}
	return r.c, ""
}

// signIn converts LibreChat's settings for signing in to a server.
func (r *converter) signIn(cfg *config.MCPServer, e *entry) {
	cfg.OAuthClientID = e.OAuth.ClientID
	if e.OAuth.ClientID != "" && e.OAuth.Secret != "" {
		r.secret(clientSecret, e.OAuth.Secret, "the secret of the OAuth client")
	}
	if len(e.APIKey) > 0 || len(e.OBO) > 0 {
		r.note("Its sign-in settings (apiKey, obo) are left out: enter its key as a header.")
	}
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

func (r *converter) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(r.c.Notes, n) {
		r.c.Notes = append(r.c.Notes, n)
	}
}

func (r *converter) command(cfg *config.MCPServer, e *entry, address string) (problem string) {
	var command string
	if len(e.Command) > 0 && string(e.Command) != "null" && json.Unmarshal(e.Command, &command) != nil {
		var zed struct {
			Path string         `json:"path"`
			Args []any          `json:"args"`
			Env  map[string]any `json:"env"`
		}
		if json.Unmarshal(e.Command, &zed) != nil {
			return "its command is not a string."
		}
		command, e.Args, e.Env = zed.Path, zed.Args, zed.Env
	}
	command = strings.TrimSpace(command)
	switch {
	case command == "" && address == "":
		return "it has neither a command nor an address."
	case command != "" && address != "":
		return "it has both a command and an address."
	case command == "":
		return ""
	}
	if len(e.Args) == 0 && strings.ContainsRune(command, ' ') && !strings.ContainsAny(command, `/\"'`) {
		words := strings.Fields(command) // "npx -y x" is a command line, not a program name
		command = words[0]
		for _, w := range words[1:] {
			e.Args = append(e.Args, w)
		}
	}
	cfg.Command = r.convert(command)
	for i, raw := range e.Args {
		text, ok := plain(raw)
		if !ok {
			return "one of its arguments is not a string."
		}
		cfg.Args = append(cfg.Args, r.argument(cfg.Args, i, text))
	}
	return ""
}

func plain(raw any) (string, bool) {
	switch v := raw.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// argument keeps secrets in arguments out of the configuration.
func (r *converter) argument(previous []string, i int, text string) string {
	flag, value, ok := strings.Cut(text, "=")
	switch {
	case ok && strings.HasPrefix(flag, "-") && looksSecret(flag, value) && value != "":
		return flag + "=" + r.secret("arg"+strconv.Itoa(i+1), value, strings.TrimLeft(flag, "-"))
	case ok && variableName.MatchString(flag) && looksSecret(flag, value) && value != "": // docker run -e NAME=VALUE
		return flag + "=" + r.secret("arg"+strconv.Itoa(i+1), value, flag)
	case len(previous) > 0 && strings.HasPrefix(previous[len(previous)-1], "-") && !strings.Contains(previous[len(previous)-1], "=") && !strings.HasPrefix(text, "-") && looksSecret(previous[len(previous)-1], text):
		return r.secret("arg"+strconv.Itoa(i+1), text, strings.TrimLeft(previous[len(previous)-1], "-"))
	case looksSecret("", text):
		return r.secret("arg"+strconv.Itoa(i+1), text, "argument "+strconv.Itoa(i+1))
	}
	return r.convert(text)
}

// secret asks the user for a secret. If value is a real secret, it is the suggested answer.
func (r *converter) secret(key, value, title string) string {
	if converted := r.convert(value); converted != value {
		return converted
	}
	if !keyPattern.MatchString(key) {
		key = "secret" + strconv.Itoa(len(r.c.Questions)+1)
	}
	q := Question{Key: key, Title: title, Type: "string", Secret: true, Required: true}
	if !isBlank(value) {
		q.Default = value
		r.note("The value of %s is kept in the keyring, or only for this run if there is none. It is not written to the configuration.", title)
	}
	r.ask(q)
	return answerPlaceholder(key)
}

func (r *converter) ask(q Question) {
	if !slices.ContainsFunc(r.c.Questions, func(o Question) bool { return o.Key == q.Key }) {
		r.c.Questions = append(r.c.Questions, q)
	}
}

func (r *converter) values(m map[string]any) []Value {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	out := []Value{}
	for _, name := range names {
		text, ok := plain(m[name])
		switch {
		case !ok:
			r.note("%s is left out: it is not a string.", quoted(name))
		case looksSecret(name, text):
			out = append(out, Value{Name: name, Value: r.secret(name, text, name)})
		default:
			out = append(out, Value{Name: name, Value: r.convert(text)})
		}
	}
	return out
}

// address keeps secrets in a URL's query out of the configuration.
func (r *converter) address(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.RawQuery == "" {
		return r.convert(text)
	}
	var parts []string
	for _, part := range strings.Split(u.RawQuery, "&") {
		name, value, _ := strings.Cut(part, "=")
		if plainName, err := url.QueryUnescape(name); err == nil && value != "" && looksSecret(plainName, value) {
			part = name + "=" + r.secret(plainName, value, plainName)
		}
		parts = append(parts, part)
	}
	u.RawQuery = ""
	return r.convert(u.String()) + "?" + strings.Join(parts, "&")
}

// convert replaces the placeholders of other programs by those of this package.
func (r *converter) convert(text string) string {
	text = bracedPlaceholder.ReplaceAllStringFunc(text, func(found string) string {
		if q, ok := r.braced[found[2:len(found)-2]]; ok && keyPattern.MatchString(q.Key) {
			r.ask(q)
			return answerPlaceholder(q.Key)
		}
		if strings.HasPrefix(found, "{{LIBRECHAT_") {
			r.note("It contains %s, which only another program understands.", found)
		}
		return found
	})
	return foreignPlaceholder.ReplaceAllStringFunc(text, func(found string) string {
		inner := found[2 : len(found)-1]
		kind, name, ok := strings.Cut(inner, ":")
		switch {
		case ok && kind == "answer" && keyPattern.MatchString(name):
			return found
		case ok && kind == "secret" && keyPattern.MatchString(name):
			r.ask(Question{Key: name, Title: name, Type: "string", Secret: true, Required: true})
			return answerPlaceholder(name)
		case ok && kind == "env" && keyPattern.MatchString(name):
			r.note("%s is taken from the environment in which this program is started.", name)
			return found
		case ok && kind == "input" && keyPattern.MatchString(name):
			in := r.inputs[name]
			r.ask(Question{Key: name, Title: firstOf(in.Description, name), Type: "string", Required: true, Secret: in.Password || in.Type == "", Default: in.Default, Choices: in.Options})
			return answerPlaceholder(name)
		case inner == "userHome":
			home, _ := os.UserHomeDir()
			return home
		case inner == "pathSeparator" || inner == "/":
			return string(os.PathSeparator)
		}
		if name, _, _ := strings.Cut(inner, ":-"); keyPattern.MatchString(name) && strings.ToUpper(name) == name {
			r.note("%s is taken from the environment in which this program is started.", name)
			return "${env:" + name + "}"
		}
		r.note("It contains %s, which only another program understands.", found)
		return found
	})
}
