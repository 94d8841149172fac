// Package app is the composition root: it chooses the adapters, builds every service once, and starts and stops them
// in order. With a verb it runs the command line, without one the window.
package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/ipc"
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

	store           *store.Store
	turns           *turn.Engine
	jobs            *jobs.Runner
	reconciler      *jobs.Reconciler
	branches        *branches.Service
	imports         *importing.Service
	library         *library.Library
	sessions        *sessions.Service
	pins            *pins.Service
	projects        *projects.Service
	tools           *tools.Registry
	servers         *servers
	fanout          *fanout
	server          *ipc.Server     // nil: other programs are not served
	http            *mcpserver.HTTP // nil: no window, so other programs are not served
	unsubscribeHTTP func()
	tasks           *tasks.Manager // nil: no window, so there are no tasks
	memoryParts
	backups  backupNotice
	readOnly bool

	lifetime       context.Context // ends with close
	cancelLifetime context.CancelFunc
	background     sync.WaitGroup
	once           sync.Once
}

// setup has the parts that work without a database.
type setup struct {
	flags    cli.OpenOptions
	outbound *outbound
	config   *config.Store
	keys     models.Keyring
	catalog  *models.Catalog
	memory   *memory
	log      *slog.Logger
}

// closeTimeout limits how long the calls of other processes, tasks and running answers may take to end.
var closeTimeout = 5 * time.Second // tests on a busy machine wait longer

// indexTimeout limits how long recall waits for an embedding server before it searches what is already indexed.
var indexTimeout = 5 * time.Second // tests do not wait

// manyJobs is the number of jobs from which recall waits no longer than indexTimeout, because indexing an imported
// history takes minutes.
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

// openApp opens the data directory. A writer first recovers from a crash. o.Publish receives all events.
func openApp(ctx context.Context, o cli.OpenOptions, keys *secrets.Store) (*app, error) {
	a := &app{setup: openSetup(o, keys), fanout: &fanout{main: o.Publish}, readOnly: o.ReadOnly}
	a.lifetime, a.cancelLifetime = context.WithCancel(context.WithoutCancel(ctx))
	o.Publish = a.fanout
	cfg := a.config.Config()
	var err error
	a.store, err = openStore(ctx, store.Options{DataDir: cfg.DataDir, Address: a.address(o), Config: a.config.Path(), ReadOnly: o.ReadOnly, Logger: a.log, Version: version}, o)
	if err != nil {
		return nil, err
	}
	a.memory.store = a.store
	if !o.ReadOnly {
		a.catalog.Remember(modelMemory{a.store, a.log})
	}
	a.memoryParts = newMemoryParts(memoryDeps{
		store: a.store, config: a.config.Config, keys: a.keys, redact: a.redactText, publish: reindexProgress(o.Publish.Change), log: a.log,
	})
	journals := journal.New(journalOptions(cfg))
	a.config.Subscribe(func(c *config.Config) { journals.Configure(journalOptions(c)) })
	a.jobs = jobs.NewRunner(jobs.Deps{
		Queue: a.store, Store: a.store, Publish: o.Publish, Counter: counter{}, Log: a.log,
		TargetTokens: func() int { return a.config.Config().Librarian.TargetTokens },
		Timeout:      func() time.Duration { return a.config.Config().Librarian.Timeout() },
		Commit:       a.commitPolicy, Summarize: a.librarian, Plan: a.planRanges, PlanAll: a.planAll, Vectors: a.vectors,
		SummaryStyle: func() string { return a.config.Config().Summary.Style },
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
	a.reconciler = jobs.NewReconciler(jobs.ReconcilerDeps{
		Turns: a.turns, Store: a.store, Runner: a.jobs, Publish: o.Publish, Daily: a.backUp, Log: a.log,
	})
	a.imports = a.newImporting(o.Publish)
	a.projects = a.newProjects(o.Publish)
	a.memory.prepare, a.memory.engine = a.indexDue, a.engine
	a.config.Subscribe(func(*config.Config) { a.jobs.WakeVectors() })
	a.reconciler.RestorePause(ctx)
	if o.ReadOnly {
		return a, nil
	}
	exporting.Sweep(cfg.DataDir)
	if _, err := a.reconciler.Reconcile(ctx); err != nil {
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

// chosenScope returns retrieval.scope if the user has set it, otherwise empty.
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

// librarian returns the model that summarizes a turn's conversation; nil if there is none. With memory off it is nil,
// because the summaries would never be sent.
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

// indexDue does the background work that is due before recall searches, because on the command line it may not have
// been done yet. Recall does not wait for work that needs a chat model; for an embedding server, and for many jobs at
// once, it waits a limited time. The remaining work continues after the answer until close, because an interrupted job
// would keep its lease. Nothing is done while background work is paused.
func (a *app) indexDue(ctx context.Context) error {
	if a.reconciler.Paused() || a.librarian(ctx, chat.Turn{Model: a.catalog.Default()}) != nil {
		return nil
	}
	var timeout <-chan time.Time
	queued, _, _, err := a.store.JobCounts(ctx)
	if err != nil {
		return err
	}
	if a.config.Config().Retrieval.Embedder != config.EmbedderLocal || queued > manyJobs {
		timeout = time.After(indexTimeout)
	}
	if a.lifetime.Err() != nil {
		return chat.Errorf(chat.CodeCancelled, "memory.index", "The program is closing.")
	}
	done := make(chan error, 1)
	a.background.Go(func() {
		_, err := a.jobs.Drain(a.lifetime)
		done <- err
	})
	select {
	case err := <-done:
		return err
	case <-timeout:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends requests of other processes, then tasks, then running answers (text that has arrived is kept), then
// background work, then the database. It may be called twice.
func (a *app) close() error {
	var err error
	a.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		a.stopServing(ctx)
		a.stopHTTP()
		a.stopTasks(ctx)
		err = errors.Join(a.turns.Close(ctx), a.stopServers(), a.stopBackground(), a.stopJobs(), a.closeIndex(), a.store.Close())
	})
	return err
}

func (a *app) stopServers() error    { a.servers.stop(); return nil }
func (a *app) stopBackground() error { a.cancelLifetime(); a.background.Wait(); return nil }
func (a *app) stopJobs() error       { a.reconciler.Stop(); a.jobs.Stop(); return nil }
func (a *app) closeIndex() error     { a.index.Close(); return nil }

// counter counts tokens with the tokenizer of each model.
type counter struct{}

func (counter) Count(modelID, text string) int { return tokens.ForModel(modelID).CountText(text) }
func (counter) Encoding(modelID string) string { return tokens.ForModel(modelID).Encoding() }
