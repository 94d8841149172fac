// Package app is the composition root: it chooses the adapters, builds every service once, and starts and stops them
// in order. With a verb it runs the command line, without one the window.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/atrest"
	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/internal/seal"
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
	"contextinfinity/backend/services"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tokens"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/updates"
	"contextinfinity/backend/vault"
	"contextinfinity/backend/vectorindex"
)

// app is the services of one open data directory with what only the composition root uses.
type app struct {
	services.Set
	flags    cli.OpenOptions
	client   *http.Client
	outbound *outbound
	fanout   *fanout
	index    *vectorindex.Index
	http     *mcpserver.HTTP // nil: no window, so other programs are not served
	backups  backupNotice
	readOnly bool

	lifetime   context.Context // ends with close
	background sync.WaitGroup  // what run has started
	closers    []func(context.Context) error
	once       sync.Once
}

// setup has the parts that work without a database.
type setup struct {
	services.Setup
	client   *http.Client // to models and to the vault
	outbound *outbound
	memory   *memory
}

// onClose adds a step of close. The steps run in reverse order, so that what was opened last is closed first.
func (a *app) onClose(step func(context.Context) error) { a.closers = append(a.closers, step) }

// run does something in the background until close.
func (a *app) run(do func(context.Context)) { a.background.Go(func() { do(a.lifetime) }) }

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
	redactor := keys.Redactor()
	s := setup{outbound: &outbound{}, memory: &memory{}}
	s.Config, s.Keys = cfg, models.Keyring{Store: keys}
	s.Log = slog.New(redactor.Handler(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: logLevel()})))
	patterns := func(c *config.Config) {
		redactor.SetPatterns(c.Redaction.Patterns)
		s.outbound.configure(c.Redaction)
	}
	patterns(cfg.Config())
	cfg.Subscribe(patterns)
	s.client = models.NewHTTPClient(func() string { return cfg.Config().Providers.CAFile })
	language := func() string { return desktop.Language(cfg.Config().UI.Language) }
	s.Models = models.New(models.Deps{
		Config: cfg.Config,
		Faulty: cfg.Defaults,
		Keys:   s.Keys,
		Limits: limitsOf(cfg),
		Providers: []llm.Provider{
			openai.New(s.client),
			anthropic.New(s.client),
			chatcompletions.New(s.client),
			recall.New(s.memory, nil, language),
		},
	})
	s.Updates = &updates.Checker{
		Feed:    func() string { return cfg.Config().Updates.URL },
		Daily:   func() bool { return cfg.Config().Updates.Daily },
		Running: version,
		Client:  updates.NewClient(),
		Now:     time.Now,
	}
	s.FindVault = vault.New(vault.Deps{Secrets: keys, Now: time.Now, Place: vault.Places{Client: s.client}.Open}).Find
	return s
}

// unlock opens a sealed data directory, if the start has its passphrase, or the keyring its key.
func unlock(dir string, o cli.OpenOptions, keys *secrets.Store) error {
	if o.Passphrase != "" {
		seal.Offer(o.Passphrase)
	}
	return store.Unlock(dir, keys.DataKey)
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
		fallback := tokens.Fallback{ContextLimit: b.FallbackContextLimit, MaxOutput: b.FallbackMaxOutput}
		r := tokens.Limits(modelID, contextLimit, maxOutput, fallback)
		return models.Limits{ContextLimit: r.ContextLimit, MaxOutput: r.MaxOutput, Source: r.Source}
	}
}

// openApp opens the data directory. A writer first recovers from a crash. o.Publish receives all events.
func openApp(ctx context.Context, o cli.OpenOptions, keys *secrets.Store) (*app, error) {
	s := openSetup(o, keys)
	a := &app{
		Set:    services.Set{Setup: s.Setup, Counter: counter{}},
		flags:  o,
		client: s.client, outbound: s.outbound,
		fanout:   &fanout{main: o.Publish},
		readOnly: o.ReadOnly,
	}
	var end context.CancelFunc
	a.lifetime, end = context.WithCancel(context.WithoutCancel(ctx))
	cfg := a.Config.Config()
	err := unlock(cfg.DataDir, o, keys)
	if err != nil {
		end()
		return nil, err
	}
	a.Store, err = openStore(ctx, store.Options{
		DataDir:  cfg.DataDir,
		Address:  a.address(o),
		Config:   a.Config.Path(),
		Keyring:  a.Keys,
		ReadOnly: o.ReadOnly,
		Logger:   a.Log,
		Version:  version,
	}, o)
	if err != nil {
		end()
		return nil, err
	}
	a.onClose(func(context.Context) error { return a.Store.Close() })
	if !o.ReadOnly {
		a.Models.Remember(modelMemory{a.Store, a.Log})
	}
	a.openMemory()
	a.openJobs()
	a.onClose(func(context.Context) error { end(); a.background.Wait(); return nil })
	a.openServices()
	*s.memory = memory{store: a.Store, engine: a.Memory, prepare: a.indexDue}
	a.Reconciler.RestorePause(ctx)
	if o.ReadOnly {
		return a, nil
	}
	atrest.SweepStart(cfg.DataDir)
	a.run(func(context.Context) { _ = a.Store.TidyKeyring() }) // a locked keyring must not delay the start
	if _, err := a.Reconciler.Reconcile(ctx); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// openMemory creates what searches need: complete vectors, and an index over them that is rebuilt from the store.
func (a *app) openMemory() {
	r := newMemoryParts(memoryDeps{
		store:   a.Store,
		setup:   a.Setup,
		redact:  a.outbound.text,
		publish: reindexProgress(a.fanout.Change),
	})
	a.Vectors, a.Memory, a.Embedder, a.index = r.vectors, r.engine, r.connect, r.index
	a.onClose(func(context.Context) error { a.index.Close(); return nil })
}

// openJobs creates the background work on the durable queue, which calls the other services.
func (a *app) openJobs() {
	a.Jobs = jobs.NewRunner(jobs.Deps{
		Queue:        a.Store,
		Store:        a.Store,
		Publish:      a.fanout,
		Counter:      a.Counter,
		Log:          a.Log,
		TargetTokens: func() int { return a.Config.Config().Librarian.TargetTokens },
		Timeout:      func() time.Duration { return a.Config.Config().Librarian.Timeout() },
		Commit:       a.commitPolicy,
		Summarize:    a.librarian,
		Chunks:       jobs.Chunks{Store: a.Store, Policy: a.chunkPolicy, Model: a.chunkModel},
		Plan:         a.planRanges,
		PlanAll:      a.planAll,
		Vectors:      a.Vectors,
		SummaryStyle: func() string { return a.Config.Config().Summary.Style },
		RangeTarget:  func(ctx context.Context, b chat.BranchID, n int) int { return a.Turns.RangeTarget(ctx, b, n) },
		PendingLimit: func(ctx context.Context, b chat.BranchID) int { return a.Turns.PendingLimit(ctx, b) },
	})
	a.Queue = jobs.NewList(a.Store, a.Jobs, a.fanout)
	a.onClose(func(context.Context) error { a.Reconciler.Stop(); a.Jobs.Stop(); return nil })
	a.Config.Subscribe(func(*config.Config) { a.Jobs.WakeVectors(); a.Jobs.WakeChunks() })
}

// openServices creates what the window and the command line call.
func (a *app) openServices() {
	count := func(text string) int { return a.Counter.Count("", text) }
	publish := a.fanout.Change
	a.Branches = branches.New(a.Store, a.Jobs, a.fanout)
	a.Tools = a.newTools()
	a.openServers()
	journals := journal.New(journalOptions(a.Config.Config()))
	a.Config.Subscribe(func(c *config.Config) { journals.Configure(journalOptions(c)) })
	a.Turns = turn.NewEngine(turn.Deps{
		Turns:    a.Store,
		History:  a.Store,
		Contexts: a.Store,
		Drafts:   a.Store,
		Calls:    a.Store,
		Journals: journals,
		Models:   a.Models,
		Branches: a.Branches,
		Publish:  a.fanout,
		Counter:  a.Counter,
		Settings: a.turnSettings,
		Log:      a.Log,
		ReadOnly: a.readOnly,
		Redact:   a.outbound.redact,
		Shrink:   a.Jobs.Shrink,
		Memory:   a.Memory,
		Tools:    a.Tools,
	})
	a.onClose(a.Turns.Close)
	a.Reconciler = jobs.NewReconciler(jobs.ReconcilerDeps{
		Turns:   a.Turns,
		Store:   a.Store,
		Runner:  a.Jobs,
		Publish: a.fanout,
		Daily:   a.backUp,
		Log:     a.Log,
	})
	a.Answers = answers.New(a.Store, a.Turns, a.Branches)
	a.Inspecting = inspecting.New(a.Store, a.Turns)
	a.Library = library.New(a.Store, a.Turns, publish)
	a.Sessions = sessions.New(sessions.Deps{
		Store:   a.Store,
		History: a.Store,
		Limits:  a.Turns,
		Publish: publish,
		Wake:    a.Jobs.Wake,
	})
	a.Pins = pins.New(pins.Deps{Store: a.Store, Limits: a.Turns, Own: a.Branches.Own, Count: count, Publish: publish})
	a.Deletion = deletion.New(deletion.Deps{Store: a.Store, Publish: publish})
	a.Projects = projects.New(projects.Deps{
		Store:     a.Store,
		Documents: documentReader(),
		Count:     count,
		Protected: a.ownDirs,
		Log:       a.Log,
		Changed:   func() { a.indexed(chat.ChangeProjects) },
	})
	a.openTransfers(count)
	a.Programs = &mcpserver.Gateway{
		Store:   a.Store,
		Reader:  newMemoryReader(a),
		Changed: func() { publish(chat.Change{Kind: chat.ChangePrograms}) },
	}
}

// openTransfers creates what brings sessions in and takes them elsewhere.
func (a *app) openTransfers(count func(string) int) {
	a.Imports = importing.New(importing.Deps{
		Store:    a.Store,
		Target:   func() int { return a.Config.Config().Librarian.TargetTokens },
		Count:    count,
		Model:    a.modelOf,
		Caps:     a.Turns.CheckCaps,
		Document: documentText,
		Changed:  func() { a.indexed(chat.ChangeSessions) },
	})
	a.Exports = exporting.New(exporting.Deps{
		Store:   a.Store,
		Bundles: a.Store,
		Answers: a.Turns,
		DataDir: a.Config.Config().DataDir,
		Now:     time.Now,
		Format:  func() exporting.Format { return exporting.Format(a.Config.Config().Export.Format) },
		Folder:  a.exportFolder,
		Used:    a.exportedTo,
	})
	a.Vault = vault.New(vault.Deps{
		Store:   a.Store,
		Records: a.Store,
		Secrets: a.Keys.Store,
		Now:     time.Now,
		Place:   vault.Places{Client: a.client}.Open,
		Changed: a.received,
		Delete: func(ctx context.Context, session chat.SessionID, seen map[string]int64) (chat.Receipt, error) {
			return a.Deletion.DeleteAsSeen(ctx, session, seen)
		},
		Deletable: a.Store.Deletable, Undeleted: a.Store.Undeleted, Uncertified: a.Store.Uncertified,
		DeleteTurn: a.Deletion.DeleteTurnAs,
		Valued:     func() { a.fanout.Change(chat.Change{Kind: chat.ChangeLibrary}) },
		Noted:      func() { a.fanout.Change(chat.Change{Kind: chat.ChangeVault}) },
	})
	a.VaultSchedule = vault.NewSchedule(vault.ScheduleDeps{
		Exchange: func(ctx context.Context) (bool, error) {
			_, err := a.Vault.Sync(ctx)
			now, readErr := a.Vault.Latest(ctx)
			return now.Connected || readErr != nil, err
		},
		Automatic: func() bool { return a.Config.Config().Sync.Automatic && !a.Reconciler.Paused() },
		Answering: func() bool { return len(a.Turns.Running()) > 0 },
		Log:       a.Log,
	})
	a.fanout.schedule = a.VaultSchedule
	a.Config.Subscribe(func(*config.Config) { a.VaultSchedule.Changed() })
	a.onClose(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, closeTimeout/taskShare)
		defer cancel()
		a.VaultSchedule.Stop(ctx)
		return nil
	})
}

// received notifies the window about sessions that got text from another device, and starts to index it.
func (a *app) received(sessions []chat.SessionID) {
	for _, id := range sessions {
		a.fanout.Change(chat.Change{Kind: chat.ChangeSession, ID: string(id), Session: id})
	}
	a.indexed(chat.ChangeSessions)
}

// documentText is the text of a document that came with an import.
func documentText(ctx context.Context, name string, data []byte) (string, error) {
	d, err := documentReader().Read(ctx, name, data)
	return d.Text, err
}

// indexed notifies the window about new text of a kind, and starts to index it in the background.
func (a *app) indexed(kind chat.ChangeKind) {
	a.fanout.Change(chat.Change{Kind: kind})
	a.fanout.Change(chat.Change{Kind: chat.ChangeJobs})
	a.Jobs.Wake()
}

// modelOf returns the name of a usable configured model that matches the model of an imported history.
func (a *app) modelOf(_, model string) string {
	for _, m := range a.Models.List() {
		if m.Usable && strings.EqualFold(m.ModelID, model) {
			return m.Name
		}
	}
	return ""
}

func journalOptions(c *config.Config) journal.Options {
	return journal.Options{
		Dir:        filepath.Join(c.DataDir, "streams"),
		Durability: journal.Durability(c.Stream.Durability),
		FlushMs:    c.Stream.FlushMs,
		FlushBytes: c.Stream.FlushBytes,
		FsyncMs:    c.Stream.FsyncMs,
	}
}

func (a *app) turnSettings() turn.Settings {
	c := a.Config.Config()
	return turn.Settings{
		IdleTimeout:     c.Stream.IdleTimeout(),
		FrameEvery:      16 * time.Millisecond,
		Backoff:         turn.DefaultBackoff,
		ToolsMode:       llm.ToolsMode(c.Tools.Mode),
		MaxSteps:        c.Tools.MaxSteps,
		ResultMaxBytes:  c.Tools.ResultMaxBytes,
		CallTimeout:     time.Duration(c.Tools.CallTimeoutS) * time.Second,
		AllowParallel:   c.Tools.AllowParallel,
		Continuity:      c.Tools.ProviderContinuity,
		StoreRefused:    !c.OpenAI.Store && c.Origin("openai.store") != config.OriginDefault,
		Policy:          models.Policy(c),
		Instructions:    c.General.Instructions,
		RedactionRules:  a.outbound.rules(),
		MaxAnswerBytes:  c.Stream.MaxAnswerBytes,
		MaxAnswerTokens: c.Stream.MaxAnswerTokens,
		Scope:           chosenScope(c),
		EmbedsRemotely:  !config.BuiltIn(c.Retrieval.Embedder),
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
	c := a.Config.Config()
	return jobs.CommitPolicy{
		Lazy:          c.Librarian.Commit == "lazy",
		PendingTokens: c.Budget.PendingWindowTokens,
		MinTurns:      c.Librarian.MinTurns,
	}
}

// librarian returns the model that summarizes a turn's conversation; nil if there is none. With memory off it is nil,
// because the summaries would never be sent.
func (a *app) librarian(_ context.Context, t chat.Turn) librarian.Model {
	if !a.Config.Config().Context.Infinity {
		return nil
	}
	c, ok := a.Models.Librarian(t.Model, a.Counter.Count, a.outbound.redact)
	if !ok {
		return nil
	}
	return c
}

func (a *app) chunkPolicy() jobs.ChunkPolicy {
	c := a.Config.Config().Librarian
	return jobs.ChunkPolicy{On: c.ChunkSummaries, DailyTokens: c.ChunkSummariesDailyTokens}
}

// chunkModel returns the model that summarizes the long chunks of a turn. Unlike the librarian of a new turn it is never
// one of another provider, unless librarian.model names it.
func (a *app) chunkModel(ctx context.Context, t chat.Turn) librarian.Model {
	m, ok := a.Models.Configured(t.Model)
	if (!ok || m.Provider != t.Provider) && a.Config.Config().Librarian.Model == config.AutoModel {
		return nil
	}
	return a.librarian(ctx, t)
}

// planRanges queues the range summaries that a branch will need.
func (a *app) planRanges(ctx context.Context, branch chat.BranchID) {
	a.plan(ctx, branch, a.Turns.EnqueueRanges)
}

// planAll queues summaries of all turns except the newest.
func (a *app) planAll(ctx context.Context, branch chat.BranchID) {
	a.plan(ctx, branch, a.Turns.EnqueueAll)
}

func (a *app) plan(ctx context.Context, branch chat.BranchID, enqueue func(context.Context, chat.BranchID) (int, error)) {
	n, err := enqueue(ctx, branch)
	if err != nil {
		a.Log.Warn("range summaries could not be planned", "branch", branch, "err", err)
	}
	if n > 0 {
		a.Jobs.Wake()
	}
}

// indexDue does the background work that is due before recall searches, because on the command line it may not have
// been done yet. Recall does not wait for work that needs a chat model; for an embedding server, and for many jobs at
// once, it waits a limited time. The remaining work continues after the answer until close, because an interrupted job
// would keep its lease. Nothing is done while background work is paused.
func (a *app) indexDue(ctx context.Context) error {
	if a.Reconciler.Paused() || a.librarian(ctx, chat.Turn{Model: a.Models.Default()}) != nil {
		return nil
	}
	var timeout <-chan time.Time
	queued, _, _, err := a.Store.JobCounts(ctx)
	if err != nil {
		return err
	}
	if !config.BuiltIn(a.Config.Config().Retrieval.Embedder) || queued > manyJobs {
		timeout = time.After(indexTimeout)
	}
	if a.lifetime.Err() != nil {
		return chat.Errorf(chat.CodeCancelled, "memory.index", "The program is closing.")
	}
	done := make(chan error, 1)
	a.background.Go(func() {
		_, err := a.Jobs.Drain(a.lifetime)
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
		for _, step := range slices.Backward(a.closers) {
			err = errors.Join(err, step(ctx))
		}
	})
	return err
}

// counter counts tokens with the tokenizer of each model.
type counter struct{}

func (counter) Count(modelID, text string) int { return tokens.ForModel(modelID).CountText(text) }
func (counter) Encoding(modelID string) string { return tokens.ForModel(modelID).Encoding() }
