package app

import (
	"context"
	"log/slog"
	"math"
	"os"
	"time"

	answers "contextinfinity/backend/answers"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/models"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/store"
)

// commandLine returns the dependencies of the command line.
func commandLine() cli.App {
	keys := secrets.New()
	return cli.App{
		Version: version, Commit: commit, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Redact: keys.Redactor().Redact,
		MemoryTools: memoryTools(), Documents: documentReader(), HandOver: handOver, OpenCopies: openCopies,
		Open: func(ctx context.Context, o cli.OpenOptions) (*cli.Services, error) {
			return openForVerb(ctx, o, keys)
		},
		OpenBench: func(ctx context.Context, o cli.OpenOptions) (*evaluation.Bench, error) {
			return openBench(ctx, o, keys)
		},
		OpenSetup: func(_ context.Context, o cli.OpenOptions) (*cli.Setup, error) {
			s := openSetup(o, keys)
			return &cli.Setup{Config: s.config, Keys: verbKeys{s}, Models: verbModels{s.catalog}, CheckForUpdates: s.updates().Check}, nil
		},
	}
}

func openForVerb(ctx context.Context, o cli.OpenOptions, keys *secrets.Store) (*cli.Services, error) {
	a, err := openApp(ctx, o, keys)
	if err != nil {
		return nil, err
	}
	if o.Serve {
		a.serve(nil, nil)
		a.watchConfig()
	}
	s := a.services()
	s.Recovery, s.Close = a.reconciler.Report(), func() error { return a.closeVerb(o) }
	return s, nil
}

// services returns the app's services for the verbs.
func (a *app) services() *cli.Services {
	return &cli.Services{
		Sessions: a.sessions, Pins: a.pins, Deletion: a.deletion(), History: a.store, Files: a.store, Chunks: a.store,
		Queue: a.jobList(), Figures: a.store, Waiting: a.store, Inspecting: inspecting.New(a.store, a.turns),
		Turns: a.turns, Jobs: a.jobs, Reconciler: a.reconciler, Branches: a.branches, Models: verbModels{a.catalog},
		Answers: answers.New(a.store, a.turns, a.branches),
		Tools:   a.tools, ToolsMode: func() string { return a.config.Config().Tools.Mode },
		Counter: counter{}, Memory: a.engine, Imports: a.imports, Exports: a.exporter(), Library: a.library,
		Programs: a.programs(), Projects: a.projects, Servers: a.verbServers(),
		ConfigFault: a.config.Err(), RetiredSettings: a.config.Config().Retired,
		AfterSend: func() time.Duration { return a.config.Config().Librarian.AfterSend() }, Note: a.store.Note(), Stats: a.stats,
	}
}

// stats returns the figures that `contextinfinity stats` shows.
func (a *app) stats(ctx context.Context) ([]cli.Stat, error) {
	st, err := a.store.Stats(ctx)
	if err != nil {
		return nil, err
	}
	out := []cli.Stat{
		{Name: "sessions", Value: st.Sessions}, {Name: "branches", Value: st.Branches}, {Name: "turns", Value: st.Turns},
		{Name: "pending", Value: st.Pending}, {Name: "states", Value: st.States}, {Name: "pins", Value: st.Pins},
		{Name: "chunks", Value: st.Chunks}, {Name: "units", Value: st.Units},
		{Name: "vectors", Value: st.Vectors}, {Name: "namespaces", Value: st.Spaces}, {Name: "events", Value: st.Events},
		{Name: "jobs", Value: st.Jobs}, {Name: "dead_jobs", Value: st.FailedJobs}, {Name: "schema", Value: st.Schema},
		{Name: "bytes", Value: st.Bytes},
	}
	now := time.Now()
	month := chat.UsageQuery{Since: time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())}
	used, err := a.store.UsageByModel(ctx, month)
	if err != nil {
		return nil, err
	}
	inBackground, err := a.store.BackgroundUsage(ctx, month)
	background := a.catalog.SpentInBackground(inBackground)
	turns := a.catalog.Spent(used)
	spent := turns.Plus(background)
	return append(out,
		cli.Stat{Name: "cost_this_month", Value: math.Round(spent.Amount*1e4) / 1e4}, cli.Stat{Name: "cost_is_estimate", Value: spent.Estimate},
		cli.Stat{Name: "background_cost_this_month", Value: math.Round(background.Amount*1e4) / 1e4},
		cli.Stat{Name: "turns_without_price", Value: turns.Unpriced}), err
}

// modelMemory stores what servers report about their models as a setting.
type modelMemory struct {
	store *store.Store
	log   *slog.Logger
}

// learnedModels is the key of the setting for modelMemory.
const learnedModels = "models.learned"

// Load implements models.Memory.
func (m modelMemory) Load() []byte {
	text, _, err := m.store.Setting(context.Background(), learnedModels)
	if err != nil {
		m.log.Warn("the model information reported by servers could not be read", "err", err)
	}
	return []byte(text)
}

// Save implements models.Memory. An error is only logged, because the servers can be asked again.
func (m modelMemory) Save(raw []byte) {
	if err := m.store.PutSetting(context.Background(), learnedModels, string(raw)); err != nil {
		m.log.Warn("the model information reported by servers could not be stored", "err", err)
	}
}

// verbModels is the catalog as the command line uses it.
type verbModels struct{ *models.Catalog }

// List asks the servers first, so that it shows the same limits and abilities as the window and
// `models list --provider`.
func (m verbModels) List(ctx context.Context) ([]cli.ModelInfo, error) {
	m.Catalog.Refresh(ctx)
	var out []cli.ModelInfo
	for _, in := range m.Catalog.List() {
		out = append(out, cli.ModelInfo{
			Name: in.Name, Provider: in.Provider, ModelID: in.ModelID, BaseURL: in.BaseURL, Window: in.Limits.ContextLimit,
			Output: in.Limits.MaxOutput, Source: in.Source, Ceiling: in.Ceiling, Stream: in.Stream, Usable: in.Usable,
			Why: in.UnusableReason.String(), Default: in.Default, BuiltIn: in.BuiltIn,
			Images: string(in.Abilities.Images), Tools: string(in.Abilities.Tools), Reasoning: string(in.Abilities.Reasoning), Favourite: in.Favourite, Price: cli.PriceInfo(in.Price, in.Priced),
		})
	}
	return out, nil
}

func (m verbModels) Test(ctx context.Context, provider, key string) (string, error) {
	r := m.Catalog.Test(ctx, provider, key, "")
	if !r.OK {
		return "", chat.Errorf(chat.CodeAuth, "keys.test", "%s", r.Message)
	}
	return r.Message.String(), nil
}

// verbKeys is the keyring as the command line uses it.
type verbKeys struct{ setup }

func (k verbKeys) List(context.Context) ([]cli.KeyInfo, error) {
	var out []cli.KeyInfo
	for _, p := range k.catalog.KeySources() {
		out = append(out, cli.KeyInfo{Provider: p.Name, Env: p.Env, Source: k.keys.Where(p.Name, p.Env), Models: p.Models})
	}
	return out, nil
}

func (k verbKeys) Set(_ context.Context, provider, key string) error {
	if !k.keys.KeyringOK() {
		return chat.Errorf(chat.CodeUnavailable, "keys.set", "No keyring is available on this system, so the key was not stored.").
			WithHint("set it in the environment instead: %s", k.envOf(provider))
	}
	if _, err := k.keys.SetKey(provider, key); err != nil {
		return err
	}
	return k.catalog.RequireKey(k.config, provider, true)
}

func (k verbKeys) envOf(provider string) string {
	for _, p := range k.catalog.KeySources() {
		if p.Name == provider && p.Env != "" {
			return p.Env
		}
	}
	return "the variable that the model's api_key_env names"
}

func (k verbKeys) Remove(_ context.Context, provider string) error {
	if err := k.keys.RemoveKey(provider); err != nil {
		return err
	}
	return k.catalog.RequireKey(k.config, provider, false)
}
