package app

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	several "contextinfinity/backend/answers"
	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/handover"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/library"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/anthropic"
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/llm/openai"
	"contextinfinity/backend/llm/recall"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/models"
	"contextinfinity/backend/pins"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/redact"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/tokens"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// app is the composition root: every service of one open data directory, created once, started and stopped in order.
// It has no business logic.
type app struct {
	setup

	store     *store.Store
	turns     *turn.Engine
	jobs      *jobs.Runner
	upkeep    *jobs.Reconciler
	branches  *branches.Service
	imports   *importing.Service
	library   *library.Library
	sessions  *sessions.Service
	pins      *pins.Service
	projects  *projects.Service
	tools     *tools.Registry
	servers   *servers
	fanout    *fanout
	server    *handover.Server // nil: other programs are not served
	http      *mcpserver.HTTP  // nil: no window, so other programs are not served
	leaveHTTP func()
	tasks     *tasks.Manager // nil: no window, so there are no tasks
	memoryParts
	backups  backupNotice
	readOnly bool

	life   context.Context // ends with close: for work that continues after an answer
	finish context.CancelFunc
	behind sync.WaitGroup
	once   sync.Once
}

// setup is what works without a database.
type setup struct {
	flags    cli.OpenOptions
	outbound *outbound
	config   *config.Store
	keys     models.Keyring
	catalog  *models.Catalog
	memory   *memory
	log      *slog.Logger
}

// closeTimeout limits how long running answers may take to be saved.
var closeTimeout = 5 * time.Second // tests on a busy machine wait longer

// indexPatience limits how long recall waits for an embedding server before it uses what is indexed.
var indexPatience = 5 * time.Second // tests do not wait

// manyJobs is the number of jobs from which the wait is limited in the same way: indexing an imported history takes
// minutes.
const manyJobs = 500

// openSetup opens configuration, keys and models. An error in the file is not an error here: defaults are used, and
// config.Err describes the error.
func openSetup(o cli.OpenOptions, keys *secrets.Store) setup {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	s := setup{
		flags: o, config: cfg, keys: models.Keyring{Store: keys}, memory: &memory{},
		log: slog.New(keys.Redactor().Handler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: logLevel()}))),
	}
	s.outbound = &outbound{}
	patterns := func(c *config.Config) {
		keys.Redactor().SetPatterns(c.Redaction.Patterns)
		s.outbound.configure(c.Redaction)
	}
	patterns(cfg.Config())
	cfg.Subscribe(patterns)
	client := models.NewHTTPClient()
	s.catalog = models.New(models.Deps{
		Config: cfg.Config, Faulty: cfg.Defaults, Keys: s.keys, Limits: limitsOf(cfg),
		Providers: []llm.Provider{
			openai.New(client), anthropic.New(client), chatcompletions.New(client), recall.New(s.memory, nil, func() string { return desktop.Language(cfg.Config().UI.Language) }),
		},
	})
	return s
}

func logLevel() slog.Level {
	if os.Getenv("CONTEXTINFINITY_DEBUG") != "" {
		return slog.LevelDebug
	}
	return slog.LevelError
}

func limitsOf(cfg *config.Store) func(string, int, int) models.Limits {
	return func(modelID string, contextLimit, maxOutput int) models.Limits {
		b := cfg.Config().Budget
		r := tokens.Limits(modelID, contextLimit, maxOutput, tokens.Fallback{ContextLimit: b.FallbackContextLimit, MaxOutput: b.FallbackMaxOutput})
		return models.Limits{ContextLimit: r.ContextLimit, MaxOutput: r.MaxOutput, Source: r.Source}
	}
}

// openApp opens the data directory. As the writer it first recovers from a crash; publish receives all events from
// then on.
func openApp(ctx context.Context, o cli.OpenOptions, keys *secrets.Store) (*app, error) {
	a := &app{setup: openSetup(o, keys), fanout: &fanout{main: o.Publish}, readOnly: o.ReadOnly}
	a.life, a.finish = context.WithCancel(context.WithoutCancel(ctx))
	o.Publish = a.fanout
	cfg := a.config.Config()
	var err error
	a.store, err = openStore(ctx, store.Options{DataDir: cfg.DataDir, Address: a.address(o), Config: a.config.Path(), ReadOnly: o.ReadOnly, Logger: a.log, Version: version}, o)
	if err != nil {
		return nil, err
	}
	a.memory.store = a.store
	if !o.ReadOnly {
		a.catalog.Remember(cardMemory{a.store, a.log})
	}
	a.memoryParts = newMemoryParts(memoryDeps{
		store: a.store, config: a.config.Config, keys: a.keys, redact: a.redactText, publish: reindexing(o.Publish.Change), log: a.log,
	})
	journals := journal.New(journalOptions(cfg))
	a.config.Subscribe(func(c *config.Config) { journals.Configure(journalOptions(c)) })
	a.jobs = jobs.NewRunner(jobs.Deps{
		Queue: a.store, Store: a.store, Publish: o.Publish, Counter: counter{}, Log: a.log,
		TargetTokens: func() int { return a.config.Config().Librarian.TargetTokens },
		Timeout:      func() time.Duration { return a.config.Config().Librarian.Timeout() },
		Commit:       a.commitPolicy, Summarize: a.librarian, Plan: a.planRanges, PlanAll: a.planAll, Vectors: a.vectors,
		SummaryStyle: func() string { return a.config.Config().Summary.Style },
		Chunking:     func() chunking.Options { return chunkSizes(a.config.Config()) },
		RangeTarget:  func(ctx context.Context, b chat.BranchID, n int) int { return a.turns.RangeTarget(ctx, b, n) },
	})
	a.branches = branches.New(a.store, a.jobs, o.Publish)
	a.tools = a.newTools(o.Publish)
	a.servers = a.newServers(o.Publish)
	a.turns = turn.NewEngine(turn.Deps{
		Turns: a.store, History: a.store, Contexts: a.store, Drafts: a.store, Calls: a.store, Journals: journals, Models: a.catalog, Branches: a.branches, Publish: o.Publish,
		Counter: counter{}, Settings: a.turnSettings, Log: a.log, ReadOnly: o.ReadOnly,
		Redact: a.redact, Shrink: a.jobs.Shrink, Memory: a.engine, Tools: a.tools,
	})
	a.library = library.New(a.store, a.turns, a.fanout.Change)
	a.sessions = sessions.New(sessions.Deps{Store: a.store, History: a.store, Limits: a.turns, Publish: a.fanout.Change, Wake: a.jobs.Wake})
	a.pins = pins.New(pins.Deps{Store: a.store, Limits: a.turns, Count: func(text string) int { return counter{}.Count("", text) }, Publish: a.fanout.Change})
	a.upkeep = jobs.NewReconciler(jobs.ReconcilerDeps{
		Turns: a.turns, Store: a.store, Runner: a.jobs, Publish: o.Publish, Daily: a.backUp, Log: a.log,
	})
	a.imports = a.newImporting(o.Publish)
	a.projects = a.newProjects(o.Publish)
	a.memory.prepare, a.memory.engine = a.indexDue, a.engine
	a.config.Subscribe(func(*config.Config) { a.jobs.WakeVectors() })
	a.upkeep.RecallPause(ctx)
	if o.ReadOnly {
		return a, nil
	}
	exporting.Sweep(cfg.DataDir)
	if _, err := a.upkeep.Reconcile(ctx); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

func journalOptions(c *config.Config) journal.Options {
	return journal.Options{
		Dir: filepath.Join(c.DataDir, "streams"), Durability: journal.Durability(c.Stream.Durability),
		FlushMs: c.Stream.FlushMs, FlushBytes: c.Stream.FlushBytes, FsyncMs: c.Stream.FsyncMs,
	}
}

func (a *app) turnSettings() turn.Settings {
	c := a.config.Config()
	return turn.Settings{
		IdleTimeout: c.Stream.IdleTimeout(), FrameEvery: 16 * time.Millisecond, Backoff: turn.DefaultBackoff,
		ToolsMode: llm.ToolsMode(c.Tools.Mode), MaxSteps: c.Tools.MaxSteps, ResultMaxBytes: c.Tools.ResultMaxBytes,
		CallTimeout: time.Duration(c.Tools.CallTimeoutS) * time.Second, AllowParallel: c.Tools.AllowParallel, Continuity: c.Tools.ProviderContinuity,
		Policy: models.Policy(c), RedactionRules: a.outbound.rules(),
		MaxAnswerBytes: c.Stream.MaxAnswerBytes, MaxAnswerTokens: c.Stream.MaxAnswerTokens,
		Scope: chosenScope(c), EmbedsRemotely: c.Retrieval.Embedder != config.EmbedderLocal,
	}
}

// chosenScope is retrieval.scope if the user has set it, otherwise empty.
func chosenScope(c *config.Config) chat.Scope {
	if c.Origin("retrieval.scope") == config.OriginDefault {
		return ""
	}
	return chat.Scope(c.Retrieval.Scope)
}

func (a *app) commitPolicy() jobs.CommitPolicy {
	c := a.config.Config()
	return jobs.CommitPolicy{
		Lazy: c.Librarian.Commit == "lazy", PendingTokens: c.Budget.PendingWindowTokens, MinTurns: c.Librarian.MinTurns,
	}
}

// librarian is the model that summarises a turn's conversation, nil if none. With memory off no model is used for
// summaries that would never be sent.
func (a *app) librarian(_ context.Context, t chat.Turn) librarian.Model {
	if !a.config.Config().Context.Infinity {
		return nil
	}
	c, ok := a.catalog.Librarian(t.Model, counter{}.Count, a.redact)
	if !ok {
		return nil
	}
	return c
}

// planRanges queues the range summaries that a branch will need.
func (a *app) planRanges(ctx context.Context, branch chat.BranchID) {
	a.plan(ctx, branch, a.turns.EnqueueRanges)
}

// planAll queues summaries of all turns except the newest.
func (a *app) planAll(ctx context.Context, branch chat.BranchID) {
	a.plan(ctx, branch, a.turns.EnqueueAll)
}

func (a *app) plan(ctx context.Context, branch chat.BranchID, enqueue func(context.Context, chat.BranchID) (int, error)) {
	n, err := enqueue(ctx, branch)
	if err != nil {
		a.log.Warn("range summaries could not be planned", "branch", branch, "err", err)
	}
	if n > 0 {
		a.jobs.Wake()
	}
}

// redactText is redact without the list of replacements.
func (s setup) redactText(text string) string {
	clean, _ := s.outbound.redact(text)
	return clean
}

func (a *app) redact(s string) (string, []prompt.Redaction) { return a.outbound.redact(s) }

// indexDue does the background work that is due before recall searches: on the command line no other process may have
// done it. Recall does not wait for work that needs a chat model; for an embedding server, and for many jobs at once,
// it waits a limited time. The rest continues after the answer until close, because an interrupted job would keep its
// lease. Nothing is done while background work is paused.
func (a *app) indexDue(ctx context.Context) error {
	if a.upkeep.Paused() || a.librarian(ctx, chat.Turn{Model: a.catalog.Default()}) != nil {
		return nil
	}
	var late <-chan time.Time
	queued, _, _, err := a.store.JobCounts(ctx)
	if err != nil {
		return err
	}
	if a.config.Config().Retrieval.Embedder != config.EmbedderLocal || queued > manyJobs {
		late = time.After(indexPatience)
	}
	if a.life.Err() != nil {
		return chat.Errorf(chat.CodeCancelled, "memory.index", "The program is closing.")
	}
	done := make(chan error, 1)
	a.behind.Go(func() {
		_, err := a.jobs.Drain(a.life)
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-late:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends requests of other processes, then tasks, then running answers (what arrived is kept), then background
// work, then the database. It may be called twice.
func (a *app) close() error {
	var err error
	a.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		a.stopServing(ctx)
		a.stopHTTP()
		a.stopTasks(ctx)
		err = errors.Join(a.turns.Close(ctx), a.stopServers(), a.endBehind(), a.stopJobs(), a.closeIndex(), a.store.Close())
	})
	return err
}

func (a *app) stopServers() error { a.servers.stop(); return nil }
func (a *app) endBehind() error   { a.finish(); a.behind.Wait(); return nil }
func (a *app) stopJobs() error    { a.upkeep.Stop(); a.jobs.Stop(); return nil }
func (a *app) closeIndex() error  { a.index.Close(); return nil }

// outbound removes secrets from what is sent, by the current rules.
type outbound struct {
	mu  sync.RWMutex
	now *redact.Redactor
	id  string
}

func (o *outbound) configure(c config.Redaction) {
	r, err := redact.New(c.Outbound, c.Patterns)
	if err != nil { // the configuration was checked; if a pattern is still invalid, the current rules stay
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = r
	o.id = r.Rules()
}

func (o *outbound) redact(s string) (string, []prompt.Redaction) {
	o.mu.RLock()
	r := o.now
	o.mu.RUnlock()
	if r == nil {
		return s, nil
	}
	return r.Redact(s)
}

func (o *outbound) rules() string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.id
}

// counter counts tokens like each model.
type counter struct{}

func (counter) Count(modelID, text string) int { return tokens.ForModel(modelID).CountText(text) }
func (counter) Encoding(modelID string) string { return tokens.ForModel(modelID).Encoding() }

// commandLine is the program's interface for the verbs.
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
	s.Recovery, s.Close = a.upkeep.Report(), func() error { return a.closeVerb(o) }
	return s, nil
}

// services are the app's services for the verbs.
func (a *app) services() *cli.Services {
	return &cli.Services{
		Sessions: a.sessions, Pins: a.pins, Erasing: a.erasing(), History: a.store, Drafts: a.store, Chunks: a.store,
		Queue: a.jobList(), Figures: a.store, Waiting: a.store, Inspecting: inspecting.New(a.store, a.turns),
		Turns: a.turns, Jobs: a.jobs, Upkeep: a.upkeep, Branches: a.branches, Models: verbModels{a.catalog},
		Answers: several.New(a.store, a.turns, a.branches),
		Tools:   a.tools, ToolsMode: func() string { return a.config.Config().Tools.Mode },
		Counter: counter{}, Memory: a.engine, Imports: a.imports, Exports: a.exporter(), Library: a.library, Programs: a.programs(), Projects: a.projects, Servers: a.verbServers(), ConfigFault: a.config.Err(),
		AfterSend: func() time.Duration { return a.config.Config().Librarian.AfterSend() }, Note: a.store.Note(), Stats: a.stats,
	}
}

// stats are the figures of `stats`.
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
		{Name: "jobs", Value: st.Jobs}, {Name: "dead_jobs", Value: st.DeadJobs}, {Name: "schema", Value: st.Schema},
		{Name: "bytes", Value: st.Bytes},
	}
	now := time.Now()
	used, err := a.store.UsageByModel(ctx, chat.UsageQuery{Since: time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())})
	spent := a.catalog.Spent(used)
	return append(out,
		cli.Stat{Name: "cost_this_month", Value: math.Round(spent.Amount*1e4) / 1e4}, cli.Stat{Name: "cost_is_estimate", Value: spent.Estimate},
		cli.Stat{Name: "turns_without_price", Value: spent.Unpriced}), err
}

// cardMemory stores what servers say about their models in the store's settings.
type cardMemory struct {
	store *store.Store
	log   *slog.Logger
}

// learnedModels is the key of that setting.
const learnedModels = "models.learned"

// Load implements models.Memory.
func (m cardMemory) Load() []byte {
	text, _, err := m.store.Setting(context.Background(), learnedModels)
	if err != nil {
		m.log.Warn("what servers said of their models could not be read", "err", err)
	}
	return []byte(text)
}

// Save implements models.Memory. Losing it costs one request to the server.
func (m cardMemory) Save(raw []byte) {
	if err := m.store.PutSetting(context.Background(), learnedModels, string(raw)); err != nil {
		m.log.Warn("what servers say of their models was not kept", "err", err)
	}
}

// verbModels is the catalog as used by the command line.
type verbModels struct{ *models.Catalog }

// List shows the same limits and abilities as the window and `models list --provider`, so it asks the servers first.
func (m verbModels) List(ctx context.Context) ([]cli.ModelInfo, error) {
	m.Catalog.Refresh(ctx)
	var out []cli.ModelInfo
	for _, in := range m.Catalog.List() {
		out = append(out, cli.ModelInfo{
			Name: in.Name, Provider: in.Provider, ModelID: in.ModelID, BaseURL: in.BaseURL, Window: in.Limits.ContextLimit,
			Output: in.Limits.MaxOutput, Source: in.Source, Ceiling: in.Ceiling, Stream: in.Stream, Usable: in.Usable,
			Why: in.Why, Default: in.Default, BuiltIn: in.BuiltIn,
			Images: string(in.Can.Images), Tools: string(in.Can.Tools), Reasoning: string(in.Can.Reasoning), Favourite: in.Favourite, Price: cli.PriceInfo(in.Price, in.Priced),
		})
	}
	return out, nil
}

func (m verbModels) Test(ctx context.Context, provider, key string) (string, error) {
	r := m.Catalog.Test(ctx, provider, key, "")
	if !r.OK {
		return "", chat.Errorf(chat.CodeAuth, "keys.test", "%s", r.Message)
	}
	return r.Message, nil
}

// verbKeys is the keyring as used by the command line.
type verbKeys struct{ setup }

func (k verbKeys) List(context.Context) ([]cli.KeyInfo, error) {
	var out []cli.KeyInfo
	for _, p := range k.catalog.KeyPlaces() {
		out = append(out, cli.KeyInfo{Provider: p.Name, Env: p.Env, Source: k.keys.Where(p.Name, p.Env), Models: p.Models})
	}
	return out, nil
}

func (k verbKeys) Set(_ context.Context, provider, key string) error {
	if !k.keys.KeyringOK() {
		return chat.Errorf(chat.CodeUnavailable, "keys.set", "No keyring is available on this system, so the key was not stored.").
			WithHint("set it in the environment instead: %s", k.envOf(provider))
	}
	_, err := k.keys.SetKey(provider, key)
	return err
}

func (k verbKeys) envOf(provider string) string {
	for _, p := range k.catalog.KeyPlaces() {
		if p.Name == provider && p.Env != "" {
			return p.Env
		}
	}
	return "the variable that the model's api_key_env names"
}

func (k verbKeys) Remove(_ context.Context, provider string) error { return k.keys.RemoveKey(provider) }
