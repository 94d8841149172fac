package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/loopback"
)

// Adapter names a model's provider may have.
const (
	ProviderOpenAI          = "openai"
	ProviderAnthropic       = "anthropic"
	ProviderChatCompletions = "chatcompletions"
	ProviderRecall          = "recall"
)

// Recall is the name of the built-in model that needs no key and no network.
const Recall = "recall"

// AutoModel as librarian.model means the cheap model of the turn's provider.
const AutoModel = "auto"

// Model is one [models.NAME] table, or a built-in model.
type Model struct {
	Name         string
	Provider     string
	ModelID      string
	BaseURL      string // empty: the vendor's own
	APIKeyEnv    string // empty: the vendor's usual variable, or none for another server
	ContextLimit int    // tokens; 0: not configured
	MaxOutput    int    // tokens; 0: not configured
	Stream       bool
	// KeyHeader is the header that carries the key; empty: the protocol's own. Authorization carries "Bearer KEY", any
	// other the key unchanged.
	KeyHeader string
	// Headers are sent with every request, each as "NAME: value". A value may contain ${env:NAME} and ${secret:NAME}.
	Headers []string
	// AllowPlainHTTP allows sending the key to another machine over plain http.
	AllowPlainHTTP bool
	// KeyRequired: a key was stored for the server, so nothing is sent to it without one.
	KeyRequired bool
	// Prices are per million tokens, in any one currency; 0: not configured.
	PriceInput  float64
	PriceCached float64
	PriceOutput float64
	// Options are merged into the request body last. A nil value removes a member; in the file such names are in
	// omit, because TOML has no null.
	Options map[string]any
	// Images, Tools and Reasoning are what the model supports: "yes", "no", or AbilityAuto to use the server's
	// information.
	Images, Tools, Reasoning string
	BuiltIn                  bool
	// Fault is what is wrong with the model in the configuration, which makes it unusable; empty: nothing.
	Fault string

	omit []string
}

// AbilityAuto uses the server's information about a model's abilities.
const AbilityAuto = ""

var abilityChoices = []string{AbilityAuto, "yes", "no"}

// modelKey is a key inside [models.NAME].
type modelKey = row[Model]

const (
	optionsKey = "provider_options"
	omitKey    = "omit"
)

// modelTable has every key of a model except provider_options, which may contain anything.
var modelTable = []modelKey{
	{spec{
		name: "provider", label: "Protocol", def: "",
		choices: []string{ProviderOpenAI, ProviderAnthropic, ProviderChatCompletions, ProviderRecall},
		help:    "openai is the Responses API, anthropic the Messages API, chatcompletions any other compatible server.",
	}, func(m *Model) any { return &m.Provider }},
	{spec{name: "model_id", label: "Model id", def: "", help: "The provider's name for the model."},
		func(m *Model) any { return &m.ModelID }},
	{spec{name: "base_url", label: "Address", def: "", check: checkBaseURL, help: "Empty: the provider's own address."},
		func(m *Model) any { return &m.BaseURL }},
	{spec{name: "api_key_env", label: "Key variable", def: "", check: checkEnvName, help: "The environment variable that contains the key."},
		func(m *Model) any { return &m.APIKeyEnv }},
	{spec{
		name: "key_header", label: "Key header", def: "", check: checkKeyHeader,
		help: "The header that carries the key, for gateways: Authorization (as Bearer), x-api-key, api-key. Empty: as the protocol requires.",
	}, func(m *Model) any { return &m.KeyHeader }},
	{spec{
		name: "headers", label: "Headers", def: []string{}, check: checkHeader,
		help: `Sent with every request, each as "NAME: value". ${env:NAME} is a variable of the environment, ${secret:NAME} a secret in the keyring.`,
	}, func(m *Model) any { return &m.Headers }},
	{spec{name: "context_limit", label: "Window", unit: "tokens", def: 0, min: 256, max: maxTokens, help: "The model's context window, from which the token budget is computed."},
		func(m *Model) any { return &m.ContextLimit }},
	{spec{name: "max_output", label: "Longest answer", unit: "tokens", def: 0, min: 1, max: maxTokens, help: "The model's own output limit."},
		func(m *Model) any { return &m.MaxOutput }},
	{spec{name: "price_input", label: "Price of input", unit: "per million tokens", def: 0.0, min: 0, max: 1e6, help: "The price of a million input tokens. If it is not set, the price that the server reports or the price list applies."},
		func(m *Model) any { return &m.PriceInput }},
	{spec{name: "price_cached", label: "Price of cached input", unit: "per million tokens", def: 0.0, min: 0, max: 1e6, help: "The price of a million input tokens read from the provider's cache."},
		func(m *Model) any { return &m.PriceCached }},
	{spec{name: "price_output", label: "Price of output", unit: "per million tokens", def: 0.0, min: 0, max: 1e6, help: "The price of a million output tokens. If it is not set, the price that the server reports or the price list applies."},
		func(m *Model) any { return &m.PriceOutput }},
	{spec{name: "stream", label: "Stream", def: true, help: "Turn off for servers that do not stream well: answers then appear when they are complete."},
		func(m *Model) any { return &m.Stream }},
	{spec{name: "allow_plain_http", label: "Key over plain http", def: false, help: "Send the key to another computer over plain http, where others can read it. For networks that you trust."},
		func(m *Model) any { return &m.AllowPlainHTTP }},
	{spec{name: "key_required", label: "Key required", def: false, help: "Nothing is sent without a key. It is set when a key is stored for the server."},
		func(m *Model) any { return &m.KeyRequired }},
	{spec{name: "images", label: "Images", def: AbilityAuto, choices: abilityChoices, help: "Whether the model accepts images. Empty: as its server reports."},
		func(m *Model) any { return &m.Images }},
	{spec{name: "tools", label: "Tools", def: AbilityAuto, choices: abilityChoices, help: "Whether the model can call tools. Empty: as its server reports."},
		func(m *Model) any { return &m.Tools }},
	{spec{name: "reasoning", label: "Reasoning", def: AbilityAuto, choices: abilityChoices, help: "Whether the model reasons before it answers. Empty: as its server reports."},
		func(m *Model) any { return &m.Reasoning }},
	{spec{name: omitKey, label: "Omit", def: []string{}, help: "Names to leave out of the request body."},
		func(m *Model) any { return &m.omit }},
}

func newModel(name string) Model {
	m := Model{Name: name}
	fillDefaults(modelTable, &m)
	return m
}

// vendors are the providers whose own service needs a key, with their built-in models. gpt is SRD 18's; the sonnet
// named there was retired in June 2026, so its successor is used.
var vendors = []struct {
	provider, host, env string
	chat, cheap         Model
}{
	{
		ProviderAnthropic, "api.anthropic.com", "ANTHROPIC_API_KEY",
		Model{Name: "sonnet", Provider: ProviderAnthropic, ModelID: "claude-sonnet-5-5", Stream: true, BuiltIn: true},
		Model{Name: "haiku", Provider: ProviderAnthropic, ModelID: "claude-haiku-5-5", Stream: true, BuiltIn: true},
	},
	{
		ProviderOpenAI, "api.openai.com", "OPENAI_API_KEY",
		Model{Name: "gpt", Provider: ProviderOpenAI, ModelID: "gpt-5.2", Stream: true, BuiltIn: true},
		Model{Name: "mini", Provider: ProviderOpenAI, ModelID: "gpt-5.4-mini", Stream: true, BuiltIn: true},
	},
}

var recallModel = Model{Name: Recall, Provider: ProviderRecall, ModelID: Recall, Stream: true, BuiltIn: true}

// host returns the server's name and port in lower case, or "" for the vendor's own.
func (m Model) host() string {
	u, err := url.Parse(m.BaseURL)
	if err != nil || m.BaseURL == "" {
		return ""
	}
	return strings.ToLower(u.Host)
}

// vendor returns the index in vendors of the model's service, or -1 for any other server.
func (m Model) vendor() int {
	for i, v := range vendors {
		host := m.host()
		if host == v.host || host == "" && m.Provider == v.provider {
			return i
		}
	}
	return -1
}

// KeyName returns the name under which its key is stored: "openai" or "anthropic" for the vendors' own services, the
// server's host for any other, so that a vendor's stored key is never sent to another server. Empty for recall.
func (m Model) KeyName() string {
	if m.Provider == ProviderRecall {
		return ""
	}
	if i := m.vendor(); i >= 0 {
		return vendors[i].provider
	}
	return m.host()
}

// KeyEnv returns the environment variable of its key: api_key_env, otherwise the vendor's usual one, otherwise none.
func (m Model) KeyEnv() string {
	if m.APIKeyEnv != "" {
		return m.APIKeyEnv
	}
	if i := m.vendor(); i >= 0 {
		return vendors[i].env
	}
	return ""
}

// HeaderSecret returns the name under which ${secret:NAME} of a header is stored in the keyring.
func HeaderSecret(name string) string { return headerSecrets + name }

// IsHeaderSecret reports whether a key's name is that of a secret in headers.
func IsHeaderSecret(keyName string) bool { return strings.HasPrefix(keyName, headerSecrets) }

const headerSecrets = "header/"

// HeaderSecrets returns the names in ${secret:NAME} of its headers, without duplicates.
func (m Model) HeaderSecrets() []string { return placeholders(m.Headers, "secret") }

// HeaderVariables returns the names in ${env:NAME} of its headers, without duplicates.
func (m Model) HeaderVariables() []string { return placeholders(m.Headers, "env") }

// Header returns the name and the value of one of Headers.
func Header(header string) (name, value string) {
	name, value, _ = strings.Cut(header, ":")
	return http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
}

// NeedsKey reports whether the model cannot be called without a key: a vendor's own service, or a server with
// api_key_env or key_required.
func (m Model) NeedsKey() bool {
	return m.Provider != ProviderRecall && (m.vendor() >= 0 || m.APIKeyEnv != "" || m.KeyRequired)
}

// HaveKey reports whether a key is stored under name or in the environment variable env. nil: there are none.
type HaveKey func(name, env string) bool

// Usable reports whether the model can be called now, and if not, why.
func (m Model) Usable(have HaveKey) (ok bool, reason chat.Phrase) {
	if m.Fault != "" {
		return false, chat.Say("Its configuration has an error: %s", m.Fault)
	}
	hasKey := have != nil && have(m.KeyName(), m.KeyEnv())
	if m.Exposes(have) {
		return false, chat.Say("Its address is plain http, so its key could be read on the way. Use an https address, or allow it for this model (allow_plain_http = true).")
	}
	for _, name := range m.HeaderSecrets() {
		if have == nil || !have(HeaderSecret(name), "") {
			return false, chat.Say("Its headers need the secret %s: store it with contextinfinity keys set %s.", name, HeaderSecret(name))
		}
	}
	for _, name := range m.HeaderVariables() {
		if have == nil || !have("", name) {
			return false, chat.Say("Its headers need the variable %s, which is not set.", name)
		}
	}
	if !m.NeedsKey() || hasKey {
		return true, chat.Phrase{}
	}
	if env := m.KeyEnv(); env != "" {
		return false, chat.Say("No key: paste one in the settings or set %s.", env)
	}
	return false, chat.Say("No key: paste one in the settings, or set key_required = false for this model if its server needs none.")
}

// Exposes reports whether a key or secret would be sent to another machine over plain http without permission.
func (m Model) Exposes(have HaveKey) bool {
	secret := strings.Contains(strings.Join(m.Headers, ""), "${") || have != nil && have(m.KeyName(), m.KeyEnv())
	return secret && !m.AllowPlainHTTP && loopback.Exposes(m.BaseURL)
}

// Models returns the configured models, then the built-in ones of each vendor that has a key but no configured model,
// then recall. The values are copies.
func (c *Config) Models(have HaveKey) []Model {
	out := slices.Clone(c.Configured)
	for i, v := range vendors {
		if have == nil || !have(v.provider, v.env) || slices.ContainsFunc(c.Configured, func(m Model) bool { return m.vendor() == i }) {
			continue
		}
		for _, m := range []Model{v.chat, v.cheap} {
			if !slices.ContainsFunc(out, func(o Model) bool { return o.Name == m.Name }) {
				out = append(out, m)
			}
		}
	}
	return append(out, recallModel)
}

// Model finds a model by name.
func (c *Config) Model(name string, have HaveKey) (Model, bool) {
	for _, m := range c.Models(have) {
		if m.Name == name {
			return m, true
		}
	}
	return Model{}, false
}

// DefaultModel returns general.default_model if it exists, otherwise the first usable model, and finally recall (SPEC
// 16). If a configured model has a fault and no other one is usable, it is that one: text that was meant for it must not
// go to a built-in model of another company.
func (c *Config) DefaultModel(have HaveKey) Model {
	if m, ok := c.Model(c.General.DefaultModel, have); ok {
		return m
	}
	faulty := slices.IndexFunc(c.Configured, func(m Model) bool { return m.Fault != "" })
	for _, m := range c.Models(have) {
		if m.BuiltIn && faulty >= 0 {
			return c.Configured[faulty]
		}
		if ok, _ := m.Usable(have); ok {
			return m
		}
	}
	return recallModel
}

// LibrarianModel returns the model that summarizes the turns of a model: the one named by librarian.model, or with auto
// the cheap one of the same service with the same key; a model on another server summarizes its own turns. False means
// that there is none, and only the deterministic fallback is used.
func (c *Config) LibrarianModel(turn Model, have HaveKey) (Model, bool) {
	var m Model
	switch name := c.Librarian.Model; name {
	case "":
		return Model{}, false
	case AutoModel:
		m = cheap(turn)
	default:
		var found bool
		if m, found = c.Model(name, have); !found {
			return Model{}, false
		}
	}
	ok, _ := m.Usable(have)
	return m, ok && m.Provider != ProviderRecall
}

func cheap(m Model) Model {
	i := m.vendor()
	if i < 0 || vendors[i].provider != m.Provider {
		return m
	}
	c := vendors[i].cheap
	c.BaseURL, c.APIKeyEnv, c.AllowPlainHTTP = m.BaseURL, m.APIKeyEnv, m.AllowPlainHTTP
	c.KeyHeader, c.Headers = m.KeyHeader, m.Headers
	return c
}

// knownName reports whether a model with that name is configured or could be built in.
func (c *Config) knownName(name string) bool {
	if name == Recall || slices.ContainsFunc(c.Configured, func(m Model) bool { return m.Name == name }) {
		return true
	}
	for _, v := range vendors {
		if name == v.chat.Name || name == v.cheap.Name {
			return true
		}
	}
	return false
}
