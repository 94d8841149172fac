package models

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
)

// TestResult is what trying a key or server showed.
type TestResult struct {
	OK       bool
	Elapsed  time.Duration
	Message  string
	Models   []string
	Provider string
	// Vendor and Server say whose key it is by its form, and the address such keys are used at, where that is
	// none of the vendors' own services that the program knows. Nothing was sent there.
	Vendor, Server string
}

// testTimeout bounds a test: somebody is looking at the button.
const testTimeout = 15 * time.Second

// maxListed bounds the models a test returns.
const maxListed = 200

// Test tries a key or a server by listing its models: nothing else is sent. Without
// a provider, the key goes to the vendor whose form it has; if it has none's, it is
// sent to nobody. An empty key means the stored one.
func (c *Catalog) Test(ctx context.Context, provider, key, baseURL string) TestResult {
	if provider == "" {
		f := formOf(key)
		if f.provider == "" || f.server != "" {
			return unplaced(key, f)
		}
		provider = f.provider
	}
	if provider == config.ProviderRecall {
		return TestResult{OK: true, Message: "Built in: recall needs no key and no network.", Provider: provider}
	}
	if _, adapter := c.providers[provider]; !adapter {
		if place, ok := c.placeOf(provider); ok && (baseURL == "" || baseURL == place.BaseURL) {
			r := c.Test(ctx, place.Provider, c.keyOr(key, place), place.BaseURL)
			r.Provider = place.KeyName() // what the key is kept under
			return r
		}
	}
	lister, ok := c.providers[provider].(llm.ModelLister)
	if !ok {
		return TestResult{Provider: provider, Message: fmt.Sprintf("The protocol %q is not known.", provider)}
	}
	m := config.Model{Provider: provider, BaseURL: baseURL}
	if why := Misplaced(m.KeyName(), key); why != "" {
		return TestResult{Provider: provider, Message: why}
	}
	secret := llm.Secret(strings.TrimSpace(key))
	if secret == "" {
		secret, _ = c.d.Keys.Key(m.KeyName(), m.KeyEnv())
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	begun := time.Now()
	ids, err := lister.ListModels(ctx, llm.Endpoint{
		Provider: provider, BaseURL: baseURL, Key: secret, AllowPlainHTTP: c.allowsPlain(m.KeyName()),
	})
	return verdict(provider, ids, err, time.Since(begun), secret != "")
}

// placeOf finds a model by the name its key is kept under, when that is not the
// name of a protocol: a compatible server's host.
func (c *Catalog) placeOf(name string) (config.Model, bool) {
	for _, m := range c.d.Config().Models(c.have) {
		if m.KeyName() == name {
			return m, true
		}
	}
	if p, ok := presetOf(name); ok && !p.Local {
		return config.Model{Provider: p.Protocol, BaseURL: p.BaseURL, APIKeyEnv: p.Env}, true
	}
	return config.Model{}, false
}

// allowsPlain reports that the key of a name may cross the network unencrypted, as it
// was allowed to for a model of the same server.
func (c *Catalog) allowsPlain(keyName string) bool {
	return slices.ContainsFunc(c.d.Config().Models(c.have), func(m config.Model) bool { return m.AllowPlainHTTP && m.KeyName() == keyName })
}

// keyOr is the key to try, or the one that is kept for the place.
func (c *Catalog) keyOr(key string, m config.Model) string {
	if key != "" {
		return key
	}
	kept, _ := c.d.Keys.Key(m.KeyName(), m.KeyEnv())
	return kept.Reveal()
}

func verdict(provider string, ids []string, err error, took time.Duration, keyed bool) TestResult {
	r := TestResult{Provider: provider, Elapsed: took}
	if err != nil {
		e := chat.CodeProvider
		if le, ok := err.(*llm.Error); ok { //nolint:errorlint // adapters return it unwrapped
			e = le.Code
		}
		r.Message = err.Error()
		switch {
		case e == chat.CodeAuth && keyed:
			r.Message = "The key was refused: " + err.Error()
		case e == chat.CodeAuth:
			r.Message = "It asks for a key: " + err.Error()
		}
		return r
	}
	r.OK, r.Models = true, ids[:min(len(ids), maxListed)]
	r.Message = fmt.Sprintf("Works, %d models", len(ids))
	if len(ids) == 1 {
		r.Message = "Works, 1 model"
	}
	return r
}

// LocalServer is a model server that answered on this machine.
type LocalServer struct {
	Name    string
	BaseURL string
	Models  []string
}

// LocalAddress is where a kind of model server listens.
type LocalAddress struct{ Name, BaseURL string }

// localTimeout bounds what holds a port and says nothing: an absent server
// refuses at once. A busy machine may need seconds for its answer.
const localTimeout = 5 * time.Second

// LocalServers asks the addresses of this machine, all at once.
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

// NewHTTPClient is the client of every adapter: no overall time limit, since
// answers stream for minutes, but limits on each part before the first byte.
func NewHTTPClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 0 // the turn's idle timeout is the one that counts
	t.TLSHandshakeTimeout = 15 * time.Second
	t.IdleConnTimeout = 60 * time.Second
	t.MaxIdleConnsPerHost = 8
	return &http.Client{Transport: t}
}
