package models

import (
	"net/url"
	"strings"

	"contextinfinity/backend/config"
)

// Preset is a popular service or server, with what a user would otherwise have to look up to add it. The window and
// the command line offer the same ones.
type Preset struct {
	ID       string `json:"id"` // as used on the command line
	Name     string `json:"name"`
	Protocol string `json:"protocol"` // config.Provider...
	// BaseURL contains RESOURCE where the name of the user's own resource belongs.
	BaseURL string `json:"baseUrl"`
	Env     string `json:"env"` // the usual variable of its key; empty: it needs no key
	// KeyPrefixes are prefixes that only its keys have.
	KeyPrefixes []string `json:"-"`
	Local       bool     `json:"local"` // listens on this machine
	// Note tells the user what else is needed.
	Note string `json:"note"`
}

// azureResource is the placeholder in an address for the name of the user's resource.
const azureResource = "RESOURCE"

// presets are in the order in which they are offered. The addresses are from the services' own documentation as of
// November 2026.
var presets = []Preset{
	{
		ID: "openrouter", Name: "OpenRouter", Protocol: config.ProviderChatCompletions, BaseURL: "https://openrouter.ai/api/v1", Env: "OPENROUTER_API_KEY",
		KeyPrefixes: []string{"sk-or-"}, Note: "Models of many providers with one key.",
	},
	{
		ID: "groq", Name: "Groq", Protocol: config.ProviderChatCompletions, BaseURL: "https://api.groq.com/openai/v1", Env: "GROQ_API_KEY",
		KeyPrefixes: []string{"gsk_"},
	},
	{ID: "mistral", Name: "Mistral", Protocol: config.ProviderChatCompletions, BaseURL: "https://api.mistral.ai/v1", Env: "MISTRAL_API_KEY"},
	{
		ID: "gemini", Name: "Google Gemini", Protocol: config.ProviderChatCompletions, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", Env: "GEMINI_API_KEY",
		KeyPrefixes: []string{"AIza"},
	},
	{ID: "deepseek", Name: "DeepSeek", Protocol: config.ProviderChatCompletions, BaseURL: "https://api.deepseek.com/v1", Env: "DEEPSEEK_API_KEY"},
	{
		ID: "xai", Name: "xAI", Protocol: config.ProviderChatCompletions, BaseURL: "https://api.x.ai/v1", Env: "XAI_API_KEY",
		KeyPrefixes: []string{"xai-"},
	},
	{
		ID: "azure", Name: "Azure OpenAI", Protocol: config.ProviderOpenAI, BaseURL: "https://" + azureResource + ".openai.azure.com/openai/v1", Env: "AZURE_OPENAI_API_KEY",
		Note: "Put the name of your resource in place of " + azureResource + ". The model is the name of your deployment.",
	},
	{
		ID: "together", Name: "Together", Protocol: config.ProviderChatCompletions, BaseURL: "https://api.together.xyz/v1", Env: "TOGETHER_API_KEY",
		KeyPrefixes: []string{"tgp_v1_"},
	},
	{ID: "ollama", Name: "Ollama", Protocol: config.ProviderChatCompletions, BaseURL: "http://127.0.0.1:11434/v1", Local: true},
	{ID: "lmstudio", Name: "LM Studio", Protocol: config.ProviderChatCompletions, BaseURL: "http://127.0.0.1:1234/v1", Local: true},
	{ID: "llamacpp", Name: "llama.cpp", Protocol: config.ProviderChatCompletions, BaseURL: "http://127.0.0.1:8080/v1", Local: true},
	{ID: "vllm", Name: "vLLM", Protocol: config.ProviderChatCompletions, BaseURL: "http://127.0.0.1:8000/v1", Local: true},
}

// Presets returns the services and servers that can be added by name.
func Presets() []Preset { return append([]Preset{}, presets...) }

// Host returns the preset's host, under which its key is stored.
func (p Preset) Host() string {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}

// NeedsAddress reports whether the user has to complete the address.
func (p Preset) NeedsAddress() bool { return strings.Contains(p.BaseURL, azureResource) }

// presetOf finds a preset by its id, its name or its host.
func presetOf(name string) (Preset, bool) {
	for _, p := range presets {
		if strings.EqualFold(p.ID, name) || strings.EqualFold(p.Name, name) || strings.EqualFold(p.Host(), name) {
			return p, true
		}
	}
	return Preset{}, false
}

// defaultAddresses are the default addresses of model servers on this machine.
var defaultAddresses = func() (out []LocalAddress) {
	for _, p := range presets {
		if p.Local {
			out = append(out, LocalAddress{Name: p.Name, BaseURL: p.BaseURL})
		}
	}
	return out
}()
