package models

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/loopback"
	"contextinfinity/backend/llm"
)

// SourceServer is the source of limits that the model's server reported.
const SourceServer = "server"

// SourceUnknown is the source of the fallback limits, used if the limits are not known.
const SourceUnknown = "unknown window"

const (
	// learnTimeout is how long a message waits for the server's description of its model.
	learnTimeout = 3 * time.Second
	// freshLocal and freshRemote are how long a description is considered fresh. A local server can be restarted with
	// another window at any time; the models of a service change over months.
	freshLocal  = 30 * time.Second
	freshRemote = 24 * time.Hour
	// retryAfter is the pause before a server that did not answer is asked again.
	retryAfter = time.Minute
	// maxLearned limits how many descriptions are kept.
	maxLearned = 500
)

// Memory stores the servers' descriptions of their models between runs; nil: they are not stored.
type Memory interface {
	Load() []byte
	Save([]byte)
}

// description is a server's description of a model, and when it was fetched.
type description struct {
	Card   llm.ModelCard
	At     time.Time
	Failed bool `json:"-"`
	// CalledTools: the model called tools, so it can, whatever the server reports.
	CalledTools bool `json:",omitempty"`
	// Refused are the parts of requests that the server does not accept (llm.Error.Refused).
	Refused []string `json:",omitempty"`
}

// cards are the servers' descriptions of models.
type cards struct {
	mu     sync.Mutex
	memory Memory
	loaded bool
	known  map[string]description
}

func cardKey(m config.Model) string { return m.Provider + " " + m.BaseURL + " " + m.ModelID }

func (k *cards) get(m config.Model) (description, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	l, ok := k.known[cardKey(m)]
	return l, ok
}

// load reads the stored descriptions, once. mu must be held.
func (k *cards) load() {
	if k.loaded {
		return
	}
	k.loaded = true
	if k.known == nil {
		k.known = map[string]description{}
	}
	if k.memory == nil {
		return
	}
	var stored map[string]description
	if json.Unmarshal(k.memory.Load(), &stored) == nil {
		for key, l := range stored {
			if len(k.known) < maxLearned {
				k.known[key] = l
			}
		}
	}
}

// put stores descriptions. A local server that has unloaded a model reports only its default window; the window that
// the model had while it was loaded is the better guess, so it is kept.
func (k *cards) put(now time.Time, updates ...cardUpdate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	changed := false
	for _, u := range updates {
		previous, ok := k.known[cardKey(u.model)]
		switch {
		case u.failed:
			previous.At, previous.Failed = now, true
			k.known[cardKey(u.model)] = previous
			continue
		case ok && previous.Card.Window > u.card.Window && u.card.Window > 0 && u.card.Window < u.card.MaxWindow && previous.Card.Window <= u.card.MaxWindow && isUnloaded(u.card):
			u.card.Window = previous.Card.Window
		}
		// An hour's precision is enough, because a description stays fresh for a day.
		changed = changed || previous.Card != u.card || now.Sub(previous.At) > time.Hour
		k.known[cardKey(u.model)] = description{Card: u.card, At: now, CalledTools: previous.CalledTools, Refused: previous.Refused}
	}
	k.prune()
	if changed {
		k.save()
	}
}

// save stores the descriptions. mu must be held.
func (k *cards) save() {
	if k.memory == nil {
		return
	}
	stored := map[string]description{}
	for key, l := range k.known {
		if l.Card.ID != "" || l.CalledTools || len(l.Refused) > 0 {
			stored[key] = l
		}
	}
	if raw, err := json.Marshal(stored); err == nil {
		k.memory.Save(raw)
	}
}

// record changes what is known of a model, and stores it.
func (k *cards) record(m config.Model, change func(*description)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	l := k.known[cardKey(m)]
	change(&l)
	k.known[cardKey(m)] = l
	k.prune()
	k.save()
}

// recordToolCall records that a model called tools.
func (k *cards) recordToolCall(m config.Model) {
	k.record(m, func(d *description) { d.CalledTools = true })
}

// maxRefused limits what is remembered of one model.
const maxRefused = 20

// recordRefused records a part of requests that a model's server does not accept.
func (k *cards) recordRefused(m config.Model, part string) {
	k.record(m, func(d *description) {
		if !slices.Contains(d.Refused, part) && len(d.Refused) < maxRefused {
			d.Refused = append(slices.Clone(d.Refused), part)
		}
	})
}

// isUnloaded reports whether the window is a local server's default, not that of a running model.
func isUnloaded(c llm.ModelCard) bool { return c.Window == 4096 }

// prune drops the oldest descriptions over the limit.
func (k *cards) prune() {
	if len(k.known) <= maxLearned {
		return
	}
	keys := make([]string, 0, len(k.known))
	for key := range k.known {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return k.known[a].At.Compare(k.known[b].At) })
	for _, key := range keys[:len(keys)-maxLearned] {
		delete(k.known, key)
	}
}

// cardUpdate is a new description of a model, or the fact that its server did not answer.
type cardUpdate struct {
	model  config.Model
	card   llm.ModelCard
	failed bool
}

// Remember sets where descriptions are stored. It must be called before the first model is resolved.
func (c *Catalog) Remember(m Memory) {
	c.cards.mu.Lock()
	defer c.cards.mu.Unlock()
	c.cards.memory, c.cards.loaded = m, false
}

// learned returns the stored description of a model.
func (c *Catalog) learned(m config.Model) (llm.ModelCard, bool) {
	l, ok := c.cards.get(m)
	return l.Card, ok && l.Card.ID != ""
}

// learn asks a model's server for its description, if that matters and is not known yet. If the server does not
// answer, the message is only delayed.
func (c *Catalog) learn(ctx context.Context, m config.Model) {
	if !c.needsLearning(m) {
		return
	}
	describer, ok := c.providers[m.Provider].(llm.ModelDescriber)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, learnTimeout)
	defer cancel()
	ep := c.endpointOf(m)
	found, err := describer.DescribeModels(ctx, ep)
	if err != nil {
		c.cards.put(c.now(), cardUpdate{model: m, failed: true})
		return
	}
	i := slices.IndexFunc(found, func(card llm.ModelCard) bool { return card.ID == m.ModelID })
	if i < 0 {
		c.cards.put(c.now(), cardUpdate{model: m, failed: true})
		return
	}
	c.cards.put(c.now(), cardUpdate{model: m, card: found[i]})
}

// Learn asks the server of a configured model for its description, if that is unknown or outdated. It waits a few
// seconds at most.
func (c *Catalog) Learn(ctx context.Context, name string) {
	if m, ok := c.Configured(name); ok {
		c.learn(ctx, m)
	}
}

// Refresh asks the servers of all configured models for descriptions that are unknown or outdated. A server that does
// not answer only delays it.
func (c *Catalog) Refresh(ctx context.Context) {
	var wg sync.WaitGroup
	for _, m := range c.d.Config().Models(c.hasKey) {
		wg.Go(func() { c.learn(ctx, m) })
	}
	wg.Wait()
}

// needsLearning reports whether the server has to be asked. The vendors' windows are in the table, and a configured
// window takes precedence.
func (c *Catalog) needsLearning(m config.Model) bool {
	if m.Provider == config.ProviderRecall || m.BaseURL == "" || m.ContextLimit > 0 {
		return false
	}
	if ok, _ := m.Usable(c.hasKey); !ok {
		return false
	}
	l, ok := c.cards.get(m)
	fresh := freshRemote
	switch {
	case l.Failed:
		fresh = retryAfter
	case isLocal(m.BaseURL):
		fresh = freshLocal
	}
	return !ok || c.now().Sub(l.At) > fresh
}

func isLocal(base string) bool {
	u, err := url.Parse(base)
	return err == nil && loopback.IsHost(u.Hostname())
}

// endpointOf returns the endpoint for describing models: the address, the key and the headers.
func (c *Catalog) endpointOf(m config.Model) llm.Endpoint {
	key, _ := c.d.Keys.Key(m.KeyName(), m.KeyEnv())
	ep := llm.Endpoint{
		Provider:       m.Provider,
		ModelID:        m.ModelID,
		BaseURL:        m.BaseURL,
		Key:            key,
		KeyHeader:      m.KeyHeader,
		AllowPlainHTTP: m.AllowPlainHTTP,
	}
	hidden := func(name, env string) (string, error) {
		secret, _ := c.d.Keys.Key(name, env)
		ep.Hidden = append(ep.Hidden, secret)
		return secret.Reveal(), nil
	}
	for _, header := range m.Headers {
		name, value := config.Header(header)
		value, _ = config.Fill(value,
			func(name string) (string, error) { return hidden(config.HeaderSecret(name), "") },
			func(env string) (string, error) { return hidden("", env) })
		if ep.Headers == nil {
			ep.Headers = map[string]llm.Secret{}
		}
		ep.Headers[name] = llm.Secret(value)
	}
	return ep
}

// calledTools records that a model called tools; it reports whether that was not known.
func (c *Catalog) calledTools(m config.Model) bool {
	if c.Abilities(m).Tools == llm.AbilityYes {
		return false
	}
	c.cards.recordToolCall(m)
	return c.Abilities(m).Tools == llm.AbilityYes
}

// Abilities are what a model supports: as configured, as its calls proved, or as its server reports.
type Abilities struct{ Images, Tools, Reasoning llm.Ability }

// Abilities returns the abilities of a configured model.
func (c *Catalog) Abilities(m config.Model) Abilities {
	l, _ := c.cards.get(m)
	card := l.Card
	if l.CalledTools {
		card.Tools = llm.AbilityYes
	}
	resolve := func(configured string, server llm.Ability) llm.Ability {
		if configured == "yes" || configured == "no" {
			return llm.Ability(configured)
		}
		return server
	}
	return Abilities{resolve(m.Images, card.Images), resolve(m.Tools, card.Tools), resolve(m.Reasoning, card.Reasoning)}
}
