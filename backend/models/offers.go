package models

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/llm"
)

// Place is a provider or server whose models can be listed.
type Place struct {
	ID       string `json:"id"` // the value of --provider: "anthropic", a preset's id, or the host of a server
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	BaseURL  string `json:"baseUrl"` // empty: the vendor's own
	Env      string `json:"env"`     // the usual variable of its key
	Local    bool   `json:"local"`
}

// Offer is a model that a provider or server offers.
type Offer struct {
	llm.ModelCard
	Place      Place
	Price      Price
	Priced     bool
	Configured string // name of the configured model for it; empty: not configured
}

// Places returns the providers and servers that can be asked now: those of the configured models, vendors and presets
// with a key, and the servers that answer on this machine.
func (c *Catalog) Places(ctx context.Context) []Place {
	var out []Place
	add := func(p Place) {
		same := func(o Place) bool { return o.ID == p.ID || p.BaseURL != "" && o.BaseURL == p.BaseURL }
		if !slices.ContainsFunc(out, same) {
			out = append(out, p)
		}
	}
	for _, v := range []Place{
		{ID: config.ProviderAnthropic, Name: "Anthropic", Protocol: config.ProviderAnthropic, Env: "ANTHROPIC_API_KEY"},
		{ID: config.ProviderOpenAI, Name: "OpenAI", Protocol: config.ProviderOpenAI, Env: "OPENAI_API_KEY"},
	} {
		if c.hasKey(v.ID, v.Env) {
			add(v)
		}
	}
	for _, p := range presets {
		if p.Env != "" && !p.NeedsAddress() && c.hasKey(p.Host(), p.Env) {
			add(p.place())
		}
	}
	for _, m := range c.d.Config().Configured {
		if usable, _ := m.Usable(c.hasKey); usable && m.Provider != config.ProviderRecall && m.BaseURL != "" {
			add(placeOfModel(m))
		}
	}
	for _, s := range c.LocalServers(ctx) {
		add(Place{ID: idOf(s.Name, s.BaseURL), Name: s.Name, Protocol: config.ProviderChatCompletions, BaseURL: s.BaseURL, Local: true})
	}
	return out
}

func (p Preset) place() Place {
	return Place{ID: p.ID, Name: p.Name, Protocol: p.Protocol, BaseURL: p.BaseURL, Env: p.Env, Local: p.Local}
}

func placeOfModel(m config.Model) Place {
	name := m.KeyName()
	p := Place{ID: name, Name: name, Protocol: m.Provider, BaseURL: m.BaseURL, Env: m.KeyEnv(), Local: isLocal(m.BaseURL)}
	if preset, ok := presetOf(name); ok && preset.BaseURL == m.BaseURL {
		p.ID, p.Name = preset.ID, preset.Name
	}
	return p
}

func idOf(name, base string) string {
	if p, ok := presetOf(name); ok {
		return p.ID
	}
	u, err := url.Parse(base)
	if err != nil {
		return name
	}
	return u.Host
}

// place finds a place by id or name, or a vendor or preset that has no key.
func (c *Catalog) place(ctx context.Context, name string) (Place, bool) {
	all := c.Places(ctx)
	i := slices.IndexFunc(all, func(p Place) bool { return strings.EqualFold(p.ID, name) || strings.EqualFold(p.Name, name) })
	if i >= 0 {
		return all[i], true
	}
	switch p, ok := presetOf(name); {
	case ok:
		return p.place(), true
	case name == config.ProviderAnthropic || name == config.ProviderOpenAI:
		return Place{ID: name, Name: name, Protocol: name}, true
	}
	return Place{}, false
}

// offersTimeout limits a listing with the details of each model.
const offersTimeout = 20 * time.Second

// Offers lists the models of a place, given its name, id or host. It asks the place, using only the key stored for
// it, and remembers the descriptions.
func (c *Catalog) Offers(ctx context.Context, name string) ([]Offer, error) {
	const op = "models.list"
	p, ok := c.place(ctx, name)
	if !ok {
		return nil, chat.Errorf(chat.CodeNotFound, op, "There is no provider or server %q.", name).WithHint("contextinfinity models providers lists them")
	}
	if strings.Contains(p.BaseURL, azureResource) {
		return nil, chat.Errorf(chat.CodeInvalid, op, "The address of %s depends on your resource, so its models cannot be listed.", p.Name).WithHint("add a model at https://NAME.openai.azure.com/openai/v1")
	}
	describer, ok := c.providers[p.Protocol].(llm.ModelDescriber)
	if !ok {
		return nil, chat.Errorf(chat.CodeConfig, op, "The protocol %q cannot list models.", p.Protocol)
	}
	ep := c.endpointOf(c.like(config.Model{Provider: p.Protocol, BaseURL: p.BaseURL, APIKeyEnv: p.Env}))
	ctx, cancel := context.WithTimeout(ctx, offersTimeout)
	defer cancel()
	found, err := describer.DescribeModels(ctx, ep)
	if err != nil {
		return nil, listingError(op, p, err)
	}
	var out []Offer
	updates := make([]cardUpdate, 0, len(found))
	for _, card := range found {
		if card.Embeds || embedding.IsEmbeddingModel(card.ID) {
			continue
		}
		out = append(out, c.offer(p, card))
		if len(updates) < maxLearned/2 && (card.Window > 0 || card.Priced) {
			updates = append(updates, cardUpdate{model: config.Model{Provider: p.Protocol, BaseURL: p.BaseURL, ModelID: card.ID}, card: card})
		}
	}
	c.cards.put(c.now(), updates...)
	slices.SortStableFunc(out, func(a, b Offer) int { return cmp.Compare(strings.ToLower(a.ID), strings.ToLower(b.ID)) })
	return out, nil
}

func listingError(op string, p Place, err error) error {
	code := chat.CodeProvider
	if le, ok := err.(*llm.Error); ok { //nolint:errorlint // adapters return it unwrapped
		code = le.Code
	}
	e := chat.Errorf(code, op, "The models of %s could not be listed: %s", p.Name, err.Error())
	if code == chat.CodeAuth {
		return e.WithHint("add a key for %s in the settings, or contextinfinity keys set %s", p.Name, p.ID)
	}
	return e
}

func (c *Catalog) offer(p Place, card llm.ModelCard) Offer {
	m := config.Model{Provider: p.Protocol, BaseURL: p.BaseURL, ModelID: card.ID}
	o := Offer{ModelCard: card, Place: p}
	for _, known := range c.d.Config().Models(c.hasKey) {
		if known.ModelID == card.ID && known.Provider == p.Protocol && known.BaseURL == p.BaseURL {
			o.Configured = known.Name
		}
	}
	if o.Window == 0 {
		if l := c.d.Limits(card.ID, 0, 0); l.Source != SourceUnknown {
			o.Window, o.MaxOutput = l.ContextLimit, l.MaxOutput
		}
	}
	if card.Priced { // a server on this machine may be a gateway to a service
		o.Price, o.Priced = serverPrice(card), true
	} else {
		o.Price, o.Priced = listPrice(serviceOf(m), card.ID)
	}
	return o
}
