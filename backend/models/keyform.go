package models

import (
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
)

// keyForm is a prefix of a provider's keys.
type keyForm struct {
	prefix   string
	provider string // name under which such keys are stored if the vendor is known, otherwise the name of the form
	name     string
	server   string // address where such keys are used, unless it is a vendor's own service
}

// keyForms are prefixes that only one provider uses, longer ones first. The prefix sk- alone is not among them:
// OpenAI's oldest keys have it, but so do those of many others.
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

// presetForms returns the prefixes of the presets' keys.
func presetForms() (out []keyForm) {
	for _, p := range presets {
		for _, prefix := range p.KeyPrefixes {
			out = append(out, keyForm{prefix, p.ID, p.Name, p.BaseURL})
		}
	}
	return out
}

// openAIMark is in the middle of OpenAI's older keys, and of no other provider's.
const openAIMark = "T3BlbkFJ"

// formOf returns the form of a key; empty if it does not show the provider.
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

// unplaced returns the result for a key without a provider whose form does not match one of the vendors. The key is not
// sent anywhere. With an empty Provider, the user is asked to choose one.
func unplaced(key string, f keyForm) TestResult {
	if strings.TrimSpace(key) == "" {
		return TestResult{Message: chat.Say("There is no key to test.")}
	}
	if f.server == "" {
		return TestResult{Message: chat.Say("The provider cannot be determined from this key. Choose the provider below. Until then, the key is not sent anywhere.")}
	}
	return TestResult{
		Provider: f.provider, Vendor: f.name, Server: f.server,
		Message: chat.Say(
			"This looks like a key for %s. It was not sent anywhere. To use it, add %s as a server under Settings, Providers.",
			f.name, f.server),
	}
}

// Misplaced returns why a key must not be stored under keyName: by its form, it belongs to another provider. A zero one
// means it may be. The keys of servers that are not known services can have any form.
func Misplaced(keyName, key string) chat.Phrase {
	f := formOf(key)
	if f.provider == "" || f.home() == keyName {
		return chat.Phrase{}
	}
	known := keyName == config.ProviderAnthropic || keyName == config.ProviderOpenAI ||
		slices.ContainsFunc(presets, func(p Preset) bool { return !p.Local && p.Host() == keyName }) ||
		slices.ContainsFunc(keyForms, func(o keyForm) bool { return o.home() == keyName })
	if !known {
		return chat.Phrase{}
	}
	return chat.Say(
		"This is a key for %s by its form. It was not sent anywhere and not stored. Add it under %s.", f.name, f.name)
}

// home returns the name under which keys of the form are stored.
func (f keyForm) home() string {
	if f.server == "" {
		return f.provider
	}
	return config.Model{BaseURL: f.server}.KeyName()
}
