package models

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/loopback"
	"contextinfinity/backend/llm"
)

// SourceServer is the source of limits that the model's server told.
const SourceServer = "server"

// SourceUnknown is the source of limits that nobody knows: the fallback is in force.
const SourceUnknown = "unknown window"

const (
	// learnTimeout bounds how long a message waits for what a server says of its model.
	learnTimeout = 3 * time.Second
	// A server of one's own can be started again with another window at any time; a service's
	// models change by the month.
	freshLocal  = 30 * time.Second
	freshRemote = 24 * time.Hour
	// retryAfter is when a server that did not answer is asked again.
	retryAfter = time.Minute
	// maxLearned bounds what is kept, in models.
	maxLearned = 500
)

// Memory keeps what servers said of their models from one run to the next; nil: nothing does.
type Memory interface {
	Load() []byte
	Save([]byte)
}

// learnt is what a server said of a model, and when.
type learnt struct {
	Card   llm.ModelCard
	At     time.Time
	Failed bool `json:"-"`
}

// cards are what servers said of models.
type cards struct {
	mu     sync.Mutex
	memory Memory
	loaded bool
	known  map[string]learnt
}

func cardKey(m config.Model) string { return m.Provider + " " + m.BaseURL + " " + m.ModelID }

func (k *cards) get(m config.Model) (learnt, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	l, ok := k.known[cardKey(m)]
	return l, ok
}

// load reads what was kept, once. It is called with mu held.
func (k *cards) load() {
	if k.loaded {
		return
	}
	k.loaded = true
	if k.known == nil {
		k.known = map[string]learnt{}
	}
	if k.memory == nil {
		return
	}
	var kept map[string]learnt
	if json.Unmarshal(k.memory.Load(), &kept) == nil {
		for key, l := range kept {
			if len(k.known) < maxLearned {
				k.known[key] = l
			}
		}
	}
}

// put keeps cards. A local server that has unloaded a model knows only its default: the window that
// the model had while it was loaded is the better guess.
func (k *cards) put(now time.Time, of ...learntModel) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	changed := false
	for _, o := range of {
		before, ok := k.known[cardKey(o.model)]
		switch {
		case o.failed:
			before.At, before.Failed = now, true
			k.known[cardKey(o.model)] = before
			continue
		case ok && before.Card.Window > o.card.Window && o.card.Window > 0 && o.card.Window < o.card.MaxWindow && before.Card.Window <= o.card.MaxWindow && isUnloaded(o.card):
			o.card.Window = before.Card.Window
		}
		// When it was asked matters for a day, so it is written by the hour.
		changed = changed || before.Card != o.card || now.Sub(before.At) > time.Hour
		k.known[cardKey(o.model)] = learnt{Card: o.card, At: now}
	}
	k.forget()
	if k.memory == nil || !changed {
		return
	}
	kept := map[string]learnt{}
	for key, l := range k.known {
		if l.Card.ID != "" {
			kept[key] = l
		}
	}
	if raw, err := json.Marshal(kept); err == nil {
		k.memory.Save(raw)
	}
}

// isUnloaded reports a window that is a local server's default and not what a model runs with.
func isUnloaded(c llm.ModelCard) bool { return c.Window == 4096 }

// forget drops the oldest over the bound.
func (k *cards) forget() {
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

// learntModel is a card of a model, or that its server did not answer.
type learntModel struct {
	model  config.Model
	card   llm.ModelCard
	failed bool
}

// Remember gives the catalog a place for what servers say. It is called once, before the first model
// is resolved.
func (c *Catalog) Remember(m Memory) {
	c.cards.mu.Lock()
	defer c.cards.mu.Unlock()
	c.cards.memory, c.cards.loaded = m, false
}

// learned is what is known of a model from its server.
func (c *Catalog) learned(m config.Model) (llm.ModelCard, bool) {
	l, ok := c.cards.get(m)
	return l.Card, ok && l.Card.ID != ""
}

// learn asks a model's server what it can do, where that decides something and is not known
// already. A server that does not answer costs the message nothing but the time.
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
		c.cards.put(c.now(), learntModel{model: m, failed: true})
		return
	}
	i := slices.IndexFunc(found, func(card llm.ModelCard) bool { return card.ID == m.ModelID })
	if i < 0 {
		c.cards.put(c.now(), learntModel{model: m, failed: true})
		return
	}
	c.cards.put(c.now(), learntModel{model: m, card: found[i]})
}

// needsLearning: the vendors' own windows are in the table, a configured one is the person's.
func (c *Catalog) needsLearning(m config.Model) bool {
	if m.Provider == config.ProviderRecall || m.BaseURL == "" || m.ContextLimit > 0 {
		return false
	}
	if ok, _ := m.Usable(c.have); !ok {
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
	u, err := parse(base)
	return err == nil && loopback.IsHost(u.Hostname())
}

// endpointOf is what a model's server is asked through: its address and key, and nothing else.
func (c *Catalog) endpointOf(m config.Model) llm.Endpoint {
	key, _ := c.d.Keys.Key(m.KeyName(), m.KeyEnv())
	return llm.Endpoint{Provider: m.Provider, ModelID: m.ModelID, BaseURL: m.BaseURL, Key: key, AllowPlainHTTP: m.AllowPlainHTTP}
}

// Abilities are what a model can do: as configured, else as its server says.
type Abilities struct{ Images, Tools, Reasoning llm.Ability }

// Abilities of a configured model.
func (c *Catalog) Abilities(m config.Model) Abilities {
	card, _ := c.learned(m)
	said := func(configured string, server llm.Ability) llm.Ability {
		if configured == "yes" || configured == "no" {
			return llm.Ability(configured)
		}
		return server
	}
	return Abilities{said(m.Images, card.Images), said(m.Tools, card.Tools), said(m.Reasoning, card.Reasoning)}
}
