package mcpsetup

import (
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/childenv"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/lists"
)

// ExposureKind is what an imported server would get of the person's, or take over.
type ExposureKind string

const (
	// ExposesVariable: it receives a variable of this program's environment.
	ExposesVariable ExposureKind = "variable"
	// ExposesKey: it receives a variable that holds a key or a password.
	ExposesKey ExposureKind = "key"
	// ChangesProgram: it sets a variable that decides which program or library is run.
	ChangesProgram ExposureKind = "program"
)

// Exposure is something that a person must agree to before a server is added. Nothing else of the person's environment
// reaches it than the variables that every external program gets (package childenv).
type Exposure struct {
	Kind  ExposureKind `json:"kind"`
	Name  string       `json:"name"`  // of the variable
	Value string       `json:"value"` // that the server sets, for "program"
}

// loaders are variables that make a program run something else than its command line says, and prefixes of such.
var (
	loaders = lexical.Set("PATH PATHEXT COMSPEC SHELL ENV BASH_ENV ZDOTDIR IFS " +
		"NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS ELECTRON_RUN_AS_NODE " +
		"PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PERL5LIB PERL5OPT RUBYLIB RUBYOPT " +
		"JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS " +
		"GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GCONV_PATH HOSTALIASES " +
		"HTTP_PROXY HTTPS_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL")
	loaderPrefixes = []string{"LD_", "DYLD_", "NPM_CONFIG_", "PIP_", "GIT_CONFIG"}
)

// keyVariables returns the variables from which this program itself takes keys, whatever their names.
func keyVariables(cfg *config.Config) []string {
	names := []string{cfg.Retrieval.EmbeddingAPIKeyEnv, cfg.Retrieval.RerankerAPIKeyEnv}
	for _, m := range cfg.Configured {
		names = append(append(names, m.KeyEnv()), m.HeaderVariables()...)
	}
	return names
}

// exposuresOf returns what a server's settings expose, in a stable order. keys are variables that hold keys.
func exposuresOf(cfg config.MCPServer, keys []string) []Exposure {
	out := []Exposure{}
	for _, name := range cfg.EnvNames() {
		if childenv.IsTool(name) { // such as HOME
			continue
		}
		kind := ExposesVariable
		if looksSecret(name, "x") || slices.Contains(keys, name) {
			kind = ExposesKey
		}
		out = append(out, Exposure{Kind: kind, Name: name})
	}
	for _, v := range valuesOf(cfg.Env) {
		upper := strings.ToUpper(v.Name)
		if loaders[upper] || slices.ContainsFunc(loaderPrefixes, func(p string) bool { return strings.HasPrefix(upper, p) }) {
			out = append(out, Exposure{Kind: ChangesProgram, Name: v.Name, Value: v.Value})
		}
	}
	return out
}

// AgreedBy reports whether a choice agrees to an exposure. A key needs a second agreement.
func (e Exposure) AgreedBy(c Choice) bool {
	return slices.Contains(c.Accepted, e.Name) && (e.Kind != ExposesKey || slices.Contains(c.Keys, e.Name))
}

// agreed returns an error that names what a server exposes and the person has not agreed to.
func agreed(cfg config.MCPServer, c Choice, keys []string) error {
	missing := slices.DeleteFunc(exposuresOf(cfg, keys), func(e Exposure) bool { return e.AgreedBy(c) })
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(lists.Map(missing, func(e Exposure) string { return e.Name }), ", ")
	return chat.Errorf(chat.CodeInvalid, opImport, "The server %s would get or set %s; nothing was added.", cfg.Name, names).
		WithHint("agree to each one by its name, if you trust this server with it")
}

// Preview returns what would be run with these answers, by their keys, and what that exposes. In it the placeholders of
// secrets and of the environment stay, and ${__dirname} is the folder of its own that a bundle gets.
func (c Candidate) Preview(answers map[string]string) (config.MCPServer, []Exposure) {
	cfg, _, err := c.Settings.server()
	if err != nil { // it is not offered: reading checked it
		return config.MCPServer{}, nil
	}
	dir := ""
	if c.bundle != nil {
		dir = "${__dirname}"
	}
	fill(&cfg, map[string]string{}, c.Questions, answers, dir)
	return cfg, exposuresOf(cfg, c.keys)
}

// String describes an exposure for people.
func (e Exposure) String() string {
	switch e.Kind {
	case ExposesKey:
		return fmt.Sprintf("It gets %s, a key or password, from the environment of this program.", e.Name)
	case ChangesProgram:
		return fmt.Sprintf("It sets %s=%s, which can decide which program is run.", e.Name, e.Value)
	}
	return fmt.Sprintf("It gets %s from the environment of this program.", e.Name)
}
