package models

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
)

// TestResult is the outcome of testing a key or a server.
type TestResult struct {
	OK       bool
	Elapsed  time.Duration
	Message  chat.Phrase
	Models   []string
	Provider string
	// Vendor and Server are set if the key's form belongs to a provider that is not one of the vendors: its
	// name, and the address where such keys are used. Nothing was sent there.
	Vendor, Server string
}

// testTimeout limits a test, because a user is waiting for it.
const testTimeout = 15 * time.Second

// maxListed limits how many models a test returns.
const maxListed = 200

// Test tests a key or a server by listing its models; nothing else is sent. Without a provider, the key is sent to
// the vendor that its form belongs to, or to none if the form does not show it. An empty key means the stored one.
func (c *Catalog) Test(ctx context.Context, provider, key, baseURL string) TestResult {
	if provider == "" {
		f := formOf(key)
		if f.provider == "" || f.server != "" {
			return unplaced(key, f)
		}
		provider = f.provider
	}
	if provider == config.ProviderRecall {
		return TestResult{OK: true, Message: chat.Say("Built in: recall needs no key and no network."), Provider: provider}
	}
	if config.IsHeaderSecret(provider) {
		return TestResult{OK: true, Message: chat.Say("It is part of a header, so it was not tried."), Provider: provider}
	}
	if _, adapter := c.providers[provider]; !adapter {
		if place, ok := c.placeOf(provider); ok && (baseURL == "" || baseURL == place.BaseURL) {
			r := c.Test(ctx, place.Provider, c.keyOr(key, place), place.BaseURL)
			r.Provider = place.KeyName() // the name under which the key is stored
			return r
		}
	}
	lister, ok := c.providers[provider].(llm.ModelLister)
	if !ok {
		return TestResult{Provider: provider, Message: chat.Say("The protocol %q is not known.", provider)}
	}
	m := c.like(config.Model{Provider: provider, BaseURL: baseURL})
	if reason := Misplaced(m.KeyName(), key); !reason.IsZero() {
		return TestResult{Provider: provider, Message: reason}
	}
	ep := c.endpointOf(m)
	if typed := llm.Secret(strings.TrimSpace(key)); typed != "" {
		ep.Key = typed
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	started := time.Now()
	ids, err := lister.ListModels(ctx, ep)
	return verdict(provider, ids, err, time.Since(started), ep.Key != "")
}

// placeOf finds a model by the name of its key, if that is the host of a compatible server instead of a protocol.
func (c *Catalog) placeOf(name string) (config.Model, bool) {
	for _, m := range c.d.Config().Models(c.hasKey) {
		if m.KeyName() == name {
			return m, true
		}
	}
	if p, ok := presetOf(name); ok && !p.Local {
		return config.Model{Provider: p.Protocol, BaseURL: p.BaseURL, APIKeyEnv: p.Env}, true
	}
	return config.Model{}, false
}

// like returns a model with what the configured models of the same server say about reaching it: where its key belongs,
// which headers it needs, and whether a key may be sent unencrypted.
func (c *Catalog) like(m config.Model) config.Model {
	for _, other := range c.d.Config().Models(c.hasKey) {
		if m.KeyName() == "" || other.KeyName() != m.KeyName() || other.Fault != "" {
			continue
		}
		m.AllowPlainHTTP = m.AllowPlainHTTP || other.AllowPlainHTTP
		m.KeyHeader = cmp.Or(m.KeyHeader, other.KeyHeader)
		if m.Headers == nil {
			m.Headers = other.Headers
		}
	}
	return m
}

// keyOr returns the key to test, or the stored one if it is empty.
func (c *Catalog) keyOr(key string, m config.Model) string {
	if key != "" {
		return key
	}
	stored, _ := c.d.Keys.Key(m.KeyName(), m.KeyEnv())
	return stored.Reveal()
}

func verdict(provider string, ids []string, err error, elapsed time.Duration, hasKey bool) TestResult {
	r := TestResult{Provider: provider, Elapsed: elapsed}
	if err != nil {
		code := chat.CodeProvider
		if le, ok := err.(*llm.Error); ok { //nolint:errorlint // adapters return it unwrapped
			code = le.Code
		}
		r.Message = chat.Say("%s", err)
		switch {
		case code == chat.CodeAuth && hasKey:
			r.Message = chat.Say("The key was refused: %s", err)
		case code == chat.CodeAuth:
			r.Message = chat.Say("It asks for a key: %s", err)
		}
		return r
	}
	r.OK, r.Models = true, ids[:min(len(ids), maxListed)]
	r.Message = chat.Say("Works, %d models", len(ids))
	if len(ids) == 1 {
		r.Message = chat.Say("Works, 1 model")
	}
	return r
}

// LocalServer is a model server that answered on this machine.
type LocalServer struct {
	Name    string   `json:"name"` // "Ollama", "LM Studio", "a local server"
	BaseURL string   `json:"baseUrl"`
	Models  []string `json:"models"`
}

// LocalAddress is the default address of a kind of model server.
type LocalAddress struct{ Name, BaseURL string }

// localTimeout limits the wait for ports that accept a connection but do not answer; without a server, the connection
// is refused at once. A busy machine may need seconds to answer.
const localTimeout = 5 * time.Second

// LocalServers returns the model servers that answer at the addresses of Deps.Local. It asks all of them at once.
func (c *Catalog) LocalServers(ctx context.Context) []LocalServer {
	lister, ok := c.providers[config.ProviderChatCompletions].(llm.ModelLister)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	found := make([]*LocalServer, len(c.d.Local))
	var wg sync.WaitGroup
	for i, p := range c.d.Local {
		wg.Go(func() {
			ids, err := lister.ListModels(ctx, llm.Endpoint{Provider: config.ProviderChatCompletions, BaseURL: p.BaseURL})
			if err == nil && len(ids) > 0 {
				found[i] = &LocalServer{Name: p.Name, BaseURL: p.BaseURL, Models: ids[:min(len(ids), maxListed)]}
			}
		})
	}
	wg.Wait()
	var out []LocalServer
	for _, s := range found {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}
