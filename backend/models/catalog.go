// Package models resolves the names of configured models to what is needed to call them: adapter, address, key and
// limits (SPEC 9, 16). It also tests keys and finds model servers on this machine.
//
// Keys are looked up for each call and never stored here.
package models

import (
	"cmp"
	"context"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// Deps are the dependencies of a Catalog.
type Deps struct {
	Config    func() *config.Config
	Keys      Keys
	Limits    func(modelID string, contextLimit, maxOutput int) Limits
	Providers []llm.Provider
	// Faulty reports whether the configuration could not be read, so that the intended models are unknown; nil: never.
	Faulty func() bool
	// Local are the addresses on this machine that are searched for model servers; nil: the default ones.
	Local []LocalAddress
	// Now is the clock for the age of what servers reported; nil: time.Now.
	Now func() time.Time
}

// Keys finds API keys by the name under which they are stored, or in the environment.
type Keys interface {
	Key(name, env string) (llm.Secret, bool)
}

// Limits are a model's resolved limits, in tokens.
type Limits struct {
	ContextLimit int
	MaxOutput    int
	Source       string // "configured", "server", "unknown window", or "table: " with the matched prefix
}

// Catalog knows all configured and built-in models.
type Catalog struct {
	d         Deps
	providers map[string]llm.Provider
	cards     cards
}

// New returns a catalog of models that the given adapters can call.
func New(d Deps) *Catalog {
	if d.Local == nil {
		d.Local = defaultAddresses
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

// Info describes a model for display.
type Info struct {
	config.Model
	Limits
	Ceiling        int // tokens of the working set
	Usable         bool
	UnusableReason chat.Phrase // reason, if it is not usable
	Default        bool
	Abilities      Abilities
	Price          Price
	Priced         bool
	Favourite      bool
	Local          bool // its server is on this machine
}

// Provider returns an adapter by name.
func (c *Catalog) Provider(name string) (llm.Provider, bool) {
	p, ok := c.providers[name]
	return p, ok
}

// hasKey implements config.HaveKey.
func (c *Catalog) hasKey(name, env string) bool {
	_, ok := c.d.Keys.Key(name, env)
	return ok
}

// List returns every model, the configured ones first.
func (c *Catalog) List() []Info {
	cfg := c.d.Config()
	def := cfg.DefaultModel(c.hasKey).Name
	var out []Info
	for _, m := range cfg.Models(c.hasKey) {
		info := Info{Model: m, Limits: c.limits(m), Default: m.Name == def}
		info.Usable, info.UnusableReason = m.Usable(c.hasKey)
		info.Abilities, info.Local = c.Abilities(m), isLocal(m.BaseURL)
		info.Favourite = slices.Contains(cfg.General.Favourites, m.Name)
		info.Price, info.Priced = c.Price(m)
		info.Ceiling = prompt.NewBudget(promptLimits(cfg, info.Limits), Policy(cfg), 1).Ceiling
		out = append(out, info)
	}
	return out
}

// Default returns the name of the model that is used when none is chosen.
func (c *Catalog) Default() string { return c.d.Config().DefaultModel(c.hasKey).Name }

func (c *Catalog) now() time.Time { return c.d.Now() }

// limits returns a model's limits: as configured, as its server reports them, from the table, or the fallback. The
// vendors' own services are not asked, because their models are in the table.
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
	output = cmp.Or(output, card.MaxOutput)
	limits := c.d.Limits(m.ModelID, card.Window, output)
	limits.Source = SourceServer
	return limits
}

// Resolve returns what is needed to call a model. An empty name means the default. A name that is not configured is
// an error.
func (c *Catalog) Resolve(ctx context.Context, name string) (turn.Model, error) {
	const op = "models.resolve"
	cfg := c.d.Config()
	m, ok := cfg.DefaultModel(c.hasKey), true
	if name != "" {
		m, ok = cfg.Model(name, c.hasKey)
	}
	if !ok {
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "There is no model named %q; nothing was sent.", name).
			WithHint("see contextinfinity models, or choose one in the window")
	}
	if c.d.Faulty != nil && c.d.Faulty() && m.Provider != config.ProviderRecall {
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "The configuration has an error, so the model and what must not be sent are unknown; nothing was sent.").
			WithHint("see contextinfinity config check; until then recall works")
	}
	usable, reason := m.Usable(c.hasKey)
	if m.Fault != "" || m.Exposes(c.hasKey) {
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "Model %q cannot be used; nothing was sent. %s", m.Name, reason).
			WithHint("contextinfinity config path names the file; the key is under [models.%s]", m.Name)
	}
	p, ok := c.providers[m.Provider]
	if !ok {
		return turn.Model{}, chat.Errorf(chat.CodeConfig, op, "Model %q names the protocol %q, which this program does not support.", m.Name, m.Provider)
	}
	if !usable {
		return turn.Model{}, chat.Errorf(chat.CodeAuth, op, "Model %q cannot be used; nothing was sent. %s", m.Name, reason).
			WithHint("contextinfinity keys set %s", m.KeyName())
	}
	c.learn(ctx, m)
	limits := c.limits(m)
	return turn.Model{
		Endpoint: c.endpoint(cfg, m, limits), Provider: p, Limits: promptLimits(cfg, limits), NoTools: c.Abilities(m).Tools == llm.AbilityNo,
		CalledTools: func() bool { return c.calledTools(m) },
		Cost:        func(u chat.Usage) chat.Cost { return c.costNow(m, u) },
		Refuses:     func(part string) { c.cards.recordRefused(m, part) },
	}, nil
}

func (c *Catalog) endpoint(cfg *config.Config, m config.Model, l Limits) llm.Endpoint {
	known, _ := c.cards.get(m)
	ep := c.endpointOf(m)
	ep.Name, ep.Options, ep.Stream, ep.Refused = m.Name, m.Options, m.Stream, known.Refused
	ep.ToolsMode, ep.MaxOutput, ep.MaxAnswerBytes = llm.ToolsMode(cfg.Tools.Mode), l.MaxOutput, cfg.Stream.MaxAnswerBytes
	ep.Truncation, ep.Store, ep.ParallelToolCalls = cfg.OpenAI.Truncation, cfg.OpenAI.Store, parallelCalls(cfg, m.Provider)
	ep.CanContinue = m.Provider == config.ProviderOpenAI
	return ep
}

// parallelCalls reports whether a provider's models may call several tools at once: a setting of the provider takes
// precedence over tools.allow_parallel (SRD 11.2, 11.3).
func parallelCalls(cfg *config.Config, provider string) bool {
	key, parallel := "openai.parallel_tool_calls", cfg.OpenAI.ParallelToolCalls
	if provider == config.ProviderAnthropic {
		key, parallel = "anthropic.disable_parallel_tool_use", !cfg.Anthropic.DisableParallelToolUse
	}
	if cfg.Origin(key) != config.OriginDefault {
		return parallel
	}
	return cfg.Tools.AllowParallel
}

// Policy returns how history is represented in requests, as configured (SPEC 6, 16).
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

// promptLimits returns the numbers of a budget. The reserve and the margin are used exactly as configured; their
// defaults are scaled to the window.
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

// KeySources lists all keys that models could use, those of the vendors first, and the secrets in headers last.
func (c *Catalog) KeySources() []KeySource {
	sources := []KeySource{
		{Name: config.ProviderAnthropic, Env: "ANTHROPIC_API_KEY", Needed: true},
		{Name: config.ProviderOpenAI, Env: "OPENAI_API_KEY", Needed: true},
	}
	for _, p := range presets {
		if p.Env != "" && !p.NeedsAddress() && c.hasKey(p.Host(), p.Env) {
			sources = append(sources, KeySource{Name: p.Host(), Env: p.Env, BaseURL: p.BaseURL, Needed: true})
		}
	}
	all := c.d.Config().Models(c.hasKey)
	for _, m := range all {
		name := m.KeyName()
		if name == "" {
			continue
		}
		i := slices.IndexFunc(sources, func(p KeySource) bool { return p.Name == name })
		if i < 0 {
			sources = append(sources, KeySource{Name: name})
			i = len(sources) - 1
		}
		if env := m.KeyEnv(); env != "" {
			sources[i].Env = env
		}
		sources[i].Needed = sources[i].Needed || m.NeedsKey()
		sources[i].BaseURL = m.BaseURL
		sources[i].Models = append(sources[i].Models, m.Name)
	}
	for _, m := range all {
		for _, secret := range m.HeaderSecrets() {
			name := config.HeaderSecret(secret)
			i := slices.IndexFunc(sources, func(p KeySource) bool { return p.Name == name })
			if i < 0 {
				sources = append(sources, KeySource{Name: name, Needed: true})
				i = len(sources) - 1
			}
			sources[i].Models = append(sources[i].Models, m.Name)
		}
	}
	return sources
}

// KeySource is a key: where it is found, and which models use it.
type KeySource struct {
	Name    string
	Env     string
	BaseURL string
	Models  []string
	Needed  bool // at least one of the models cannot be called without it
}
