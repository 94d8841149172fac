// Package models resolves configured model names to something that can be
// called: adapter, address, key, limits (SPEC 9, 16). It also tries keys and
// finds model servers on this machine.
//
// A key is looked up for each call and never kept here.
package models

import (
	"context"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// Deps are what a Catalog is built from.
type Deps struct {
	Config    func() *config.Config
	Keys      Keys
	Limits    func(modelID string, contextLimit, maxOutput int) Limits
	Providers []llm.Provider
	// Faulty reports that the configuration could not be read at all, so that the
	// models meant are unknown; nil: never.
	Faulty func() bool
	// Local are the addresses at which model servers are looked for on this machine; nil: the usual ones.
	Local []LocalAddress
	// Now is the time by which what servers said grows old; nil: the clock's.
	Now func() time.Time
}

// Keys finds API keys by the name they are kept under, or in the environment.
type Keys interface {
	Key(name, env string) (llm.Secret, bool)
}

// Limits are a model's resolved limits, in tokens.
type Limits struct {
	ContextLimit int
	MaxOutput    int
	Source       string // "configured", "table: " and the matched prefix, "server", "unknown window"
}

// Catalog knows every model that is configured or built in.
type Catalog struct {
	d         Deps
	providers map[string]llm.Provider
	cards     cards
}

// New returns a catalog over the given adapters.
func New(d Deps) *Catalog {
	if d.Local == nil {
		d.Local = usualAddresses
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	c := &Catalog{d: d, providers: map[string]llm.Provider{}}
	for _, p := range d.Providers {
		c.providers[p.Name()] = p
	}
	return c
}

// Info is a model as it is shown to people.
type Info struct {
	config.Model
	Limits
	Ceiling   int // working set it gets, in tokens
	Usable    bool
	Why       string // if not usable
	Default   bool
	Can       Abilities
	Price     Price
	Priced    bool
	Favourite bool
}

// Provider returns an adapter by name.
func (c *Catalog) Provider(name string) (llm.Provider, bool) {
	p, ok := c.providers[name]
	return p, ok
}

func (c *Catalog) have(name, env string) bool {
	_, ok := c.d.Keys.Key(name, env)
	return ok
}

// List returns every model, the configured ones first.
func (c *Catalog) List() []Info {
	cfg := c.d.Config()
	def := cfg.DefaultModel(c.have).Name
	var out []Info
	for _, m := range cfg.Models(c.have) {
		info := Info{Model: m, Limits: c.limits(m), Default: m.Name == def}
		info.Usable, info.Why = m.Usable(c.have)
		info.Can = c.Abilities(m)
		info.Favourite = slices.Contains(cfg.General.Favourites, m.Name)
		info.Price, info.Priced = c.Price(m)
		info.Ceiling = prompt.NewBudget(promptLimits(cfg, info.Limits), Policy(cfg), 1).Ceiling
		out = append(out, info)
	}
	return out
}

// Default is the name of the model that messages go to when none is chosen.
func (c *Catalog) Default() string { return c.d.Config().DefaultModel(c.have).Name }

func (c *Catalog) now() time.Time { return c.d.Now() }

// limits are a model's: as configured, else as its server says, else the table's, else the fallback. The
// vendors' own services do not say it everywhere, and are in the table.
func (c *Catalog) limits(m config.Model) Limits {
	l := c.d.Limits(m.ModelID, m.ContextLimit, m.MaxOutput)
	if m.ContextLimit > 0 || m.BaseURL == "" {
		return l
	}
	card, ok := c.learned(m)
	if !ok || card.Window == 0 {
		return l
	}
	output := m.MaxOutput
	if output == 0 {
		output = card.MaxOutput
	}
	told := c.d.Limits(m.ModelID, card.Window, output)
	told.Source = SourceServer
	return told
}

// Resolve makes a model ready to be called. An empty name is the default; a name
// that is no longer configured is an error that says which there are.
func (c *Catalog) Resolve(ctx context.Context, name string) (turn.Model, error) {
	const op = "models.resolve"
	cfg := c.d.Config()
	m, ok := cfg.DefaultModel(c.have), true
	if name != "" {
		m, ok = cfg.Model(name, c.have)
	}
	if !ok {
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "There is no model named %q; nothing was sent.", name).
			WithHint("see contextinfinity models, or choose one in the window")
	}
	if c.d.Faulty != nil && c.d.Faulty() && m.Provider != config.ProviderRecall {
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "The configuration has an error, so the model and what must not be sent are unknown; nothing was sent.").
			WithHint("see contextinfinity config check; until then recall works")
	}
	p, ok := c.providers[m.Provider]
	if !ok {
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "Model %q names the protocol %q, which this program does not support.", m.Name, m.Provider)
	}
	if m.ExposesKey() && c.have(m.KeyName(), m.KeyEnv()) {
		_, why := m.Usable(c.have)
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "Model %q cannot be used; nothing was sent. %s", m.Name, why).
			WithHint("contextinfinity config path names the file; the key is under [models.%s]", m.Name)
	}
	if usable, why := m.Usable(c.have); !usable {
		return turn.Model{}, chat.Errorf(chat.CodeAuth, op, "Model %q cannot be used; nothing was sent. %s", m.Name, why).
			WithHint("contextinfinity keys set %s", m.KeyName())
	}
	c.learn(ctx, m)
	limits := c.limits(m)
	return turn.Model{
		Endpoint: c.endpoint(cfg, m, limits), Provider: p, Limits: promptLimits(cfg, limits), NoTools: c.Abilities(m).Tools == llm.AbilityNo,
	}, nil
}

func (c *Catalog) endpoint(cfg *config.Config, m config.Model, l Limits) llm.Endpoint {
	key, _ := c.d.Keys.Key(m.KeyName(), m.KeyEnv())
	parallel := cfg.OpenAI.ParallelToolCalls
	if m.Provider == config.ProviderAnthropic {
		parallel = !cfg.Anthropic.DisableParallelToolUse
	}
	parallel = parallel || cfg.Tools.AllowParallel
	return llm.Endpoint{
		Name: m.Name, Provider: m.Provider, ModelID: m.ModelID, BaseURL: m.BaseURL, Key: key, AllowPlainHTTP: m.AllowPlainHTTP, Options: m.Options,
		Stream: m.Stream, ToolsMode: llm.ToolsMode(cfg.Tools.Mode), MaxOutput: l.MaxOutput, MaxAnswerBytes: cfg.Stream.MaxAnswerBytes,
		Truncation: cfg.OpenAI.Truncation, Store: cfg.OpenAI.Store, ParallelToolCalls: parallel,
	}
}

// Policy is how history is represented, as configured (SPEC 6, 16).
func Policy(cfg *config.Config) prompt.Policy {
	p := prompt.Policy{
		History: prompt.History(cfg.Context.History), CompactAt: cfg.Budget.CompactAt, CompactTo: cfg.Budget.CompactTo,
		SummariesShare: cfg.Budget.SummariesShare, PreserveRecent: cfg.Summary.PreserveRecent,
		SummaryRatio: cfg.Summary.TargetRatio, SummaryMin: cfg.Summary.Min, SummaryMax: cfg.Summary.Max,
		MinKeep: cfg.Retrieval.MinKeep,
	}
	if !cfg.Context.Infinity {
		p.History = prompt.HistoryOff
	}
	return p
}

// promptLimits are the numbers of a budget. The reserve and the margin hold exactly
// where somebody set them; their defaults are scaled to the window.
func promptLimits(cfg *config.Config, l Limits) prompt.Limits {
	isSet := func(key string) bool { return cfg.Origin(key) != config.OriginDefault }
	out := prompt.Limits{
		ContextLimit: l.ContextLimit, MaxOutput: l.MaxOutput,
		ResponseReserve: cfg.Budget.ResponseReserveTokens, ExactReserve: isSet("budget.response_reserve_tokens"),
		SafetyMargin: cfg.Budget.SafetyMarginTokens, ExactMargin: isSet("budget.safety_margin_tokens"),
		WorkingSet: cfg.Budget.WorkingSetTokens, StateTarget: cfg.Librarian.TargetTokens,
		Retrieval: cfg.Budget.MaxRetrievalTokens,
	}
	if cfg.Budget.ReserveMaxOutput {
		out.ResponseReserve, out.ExactReserve = l.MaxOutput, true
	}
	return out
}

// KeyPlaces lists every key that some model could use: the vendors' own first.
func (c *Catalog) KeyPlaces() []KeyPlace {
	places := []KeyPlace{
		{Name: config.ProviderAnthropic, Env: "ANTHROPIC_API_KEY", Needed: true},
		{Name: config.ProviderOpenAI, Env: "OPENAI_API_KEY", Needed: true},
	}
	for _, p := range presets {
		if p.Env != "" && !p.NeedsAddress() && c.have(p.Host(), p.Env) {
			places = append(places, KeyPlace{Name: p.Host(), Env: p.Env, BaseURL: p.BaseURL, Needed: true})
		}
	}
	for _, m := range c.d.Config().Models(c.have) {
		name := m.KeyName()
		if name == "" {
			continue
		}
		i := slices.IndexFunc(places, func(p KeyPlace) bool { return p.Name == name })
		if i < 0 {
			places = append(places, KeyPlace{Name: name})
			i = len(places) - 1
		}
		if env := m.KeyEnv(); env != "" {
			places[i].Env = env
		}
		places[i].Needed = places[i].Needed || m.NeedsKey()
		places[i].BaseURL = m.BaseURL
		places[i].Models = append(places[i].Models, m.Name)
	}
	return places
}

// KeyPlace is where a key is looked for and who uses it.
type KeyPlace struct {
	Name    string
	Env     string
	BaseURL string
	Models  []string
	Needed  bool // some of them cannot be called without it
}
