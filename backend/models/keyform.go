package models

import (
	"slices"
	"strings"

	"contextinfinity/backend/config"
)

// keyForm is the beginning of a provider's keys.
type keyForm struct {
	prefix   string
	provider string // what it is stored under if the program knows the vendor, else the name of the form
	name     string
	server   string // where such keys are used, if that is not a vendor's own service
}

// keyForms are beginnings that belong to one provider, longer ones first. A bare sk-
// belongs to nobody: OpenAI's oldest keys have it, and those of many others.
var keyForms = append([]keyForm{
	{"sk-ant-", config.ProviderAnthropic, "Anthropic", ""},
	{"sk-proj-", config.ProviderOpenAI, "OpenAI", ""},
	{"sk-svcacct-", config.ProviderOpenAI, "OpenAI", ""},
	{"sk-admin-", config.ProviderOpenAI, "OpenAI", ""},
	{"pplx-", "perplexity", "Perplexity", "https://api.perplexity.ai"},
	{"csk-", "cerebras", "Cerebras", "https://api.cerebras.ai/v1"},
	{"hf_", "huggingface", "Hugging Face", "https://router.huggingface.co/v1"},
	{"nvapi-", "nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1"},
	{"fw_", "fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1"},
	{"github_pat_", "github", "GitHub", "https://models.github.ai/inference"},
	{"ghp_", "github", "GitHub", "https://models.github.ai/inference"},
}, presetForms()...)

// presetForms are the forms of the keys that the presets know.
func presetForms() (out []keyForm) {
	for _, p := range presets {
		for _, prefix := range p.KeyPrefixes {
			out = append(out, keyForm{prefix, p.ID, p.Name, p.BaseURL})
		}
	}
	return out
}

// openAIMark is in the middle of OpenAI's older keys, and in no other's.
const openAIMark = "T3BlbkFJ"

// formOf is whose key it is by its form alone, empty if that does not tell.
func formOf(key string) keyForm {
	key = strings.TrimSpace(key)
	for _, f := range keyForms {
		if strings.HasPrefix(key, f.prefix) {
			return f
		}
	}
	if strings.HasPrefix(key, "sk-") && strings.Contains(key, openAIMark) {
		return keyForm{"sk-", config.ProviderOpenAI, "OpenAI", ""}
	}
	return keyForm{}
}

// unplaced is the answer where no provider was named and the key's form names none of
// the vendors: nothing is sent anywhere. An empty Provider asks the person to choose.
func unplaced(key string, f keyForm) TestResult {
	if strings.TrimSpace(key) == "" {
		return TestResult{Message: "There is no key to test."}
	}
	if f.server == "" {
		return TestResult{Message: "The form of this key does not show its provider. Choose the provider; until then it is not sent anywhere."}
	}
	return TestResult{
		Provider: f.provider, Vendor: f.name, Server: f.server,
		Message: "This looks like a key for " + f.name + ". It was not sent anywhere. To use it, add " + f.server + " as a server under Settings, Providers.",
	}
}

// Misplaced says why a key must not go where keys of a name go, as it is another provider's by its form; "" if it
// may. A server that is none of the known services issues keys of any form.
func Misplaced(keyName, key string) string {
	f := formOf(key)
	if f.provider == "" || f.home() == keyName {
		return ""
	}
	known := keyName == config.ProviderAnthropic || keyName == config.ProviderOpenAI ||
		slices.ContainsFunc(presets, func(p Preset) bool { return !p.Local && p.Host() == keyName }) ||
		slices.ContainsFunc(keyForms, func(o keyForm) bool { return o.home() == keyName })
	if !known {
		return ""
	}
	return "This is a key for " + f.name + " by its form. It was not sent anywhere and not stored. Add it under " + f.name + "."
}

// home is the name that keys of the form are kept under.
func (f keyForm) home() string {
	if f.server == "" {
		return f.provider
	}
	return config.Model{BaseURL: f.server}.KeyName()
}
