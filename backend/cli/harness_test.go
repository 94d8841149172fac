package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/library"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/models"
	"contextinfinity/backend/pins"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/services"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/transfer"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/updates"
	"contextinfinity/backend/vault"
	"contextinfinity/backend/vectorindex"
	"contextinfinity/test/testtier"
)

func TestMain(m *testing.M) {
	seal.Work = 10 // what a passphrase seals is cheap to open
	goleak.VerifyTestMain(m)
}

// home is a user's data directory and configuration, with a scripted provider.
type home struct {
	t        *testing.T
	dir      string
	config   string
	provider *scripted
	keyring  *keyring
	signals  chan os.Signal
	sources  []tools.Source // MCP servers
	// opened is called with the services that a command opened.
	opened func(*cli.Services)
	// readOnlyDisk refuses the data to writers.
	readOnlyDisk bool
	// working is called when background work summarizes a turn.
	working func()
	// importing is called before each conversation is imported.
	importing func(context.Context)
	// feed answers the check for updates, by a program of version running.
	feed    func(*http.Request) (*http.Response, error)
	running string
}

// configText defines the model "test", which the scripted provider answers.
const configText = `[general]
default_model = "test"

[librarian]
after_send_s = 0

[models.test]
provider = "chatcompletions"
base_url = "http://127.0.0.1:1/v1"
model_id = "test-1"
context_limit = 32000
max_output = 1000
`

func newHome(t *testing.T) *home {
	t.Helper()
	root := testtier.Memory(t)
	h := &home{
		t: t, dir: filepath.Join(root, "data"), config: filepath.Join(root, "config.toml"),
		provider: &scripted{}, keyring: &keyring{stored: map[string]string{}}, signals: make(chan os.Signal, 4),
	}
	h.configure(configText)
	return h
}

func (h *home) configure(text string) {
	h.t.Helper()
	if err := os.WriteFile(h.config, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// result is the result of a command line.
type result struct {
	t    *testing.T
	code int
	out  string
	err  string
}

// run runs a command with empty stdin.
func (h *home) run(args ...string) result { return h.runWith(strings.NewReader(""), args...) }

func (h *home) runWith(in io.Reader, args ...string) result {
	h.t.Helper()
	var out, errs bytes.Buffer
	code := h.runTo(in, &out, &errs, args...)
	return result{h.t, code, out.String(), errs.String()}
}

func (h *home) runTo(in io.Reader, out, errs io.Writer, args ...string) int {
	app := h.app()
	app.In, app.Out, app.Err = in, out, errs
	args = append([]string{"--data-dir", h.dir, "--config", h.config}, args...)
	return cli.Run(context.Background(), app, args)
}

func (h *home) app() cli.App {
	return cli.App{
		Version: "1.2.3", Commit: "abc", Signals: h.signals,
		Redact: func(s string) string { return strings.ReplaceAll(s, canary, "[redacted]") },
		Open:   h.open, MemoryTools: readers,
		OpenSetup: func(_ context.Context, o cli.OpenOptions) (*services.Setup, error) {
			s := h.setup(o)
			return &s, nil
		},
	}
}

// setup opens the configuration, and a keyring in memory.
func (h *home) setup(o cli.OpenOptions) services.Setup {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	keys := models.Keyring{Store: secrets.NewWith(secrets.Options{Keyring: h.keyring})}
	return services.Setup{
		Config: cfg,
		Keys:   keys,
		Models: h.catalog(cfg, keys),
		Log:    slog.New(slog.DiscardHandler),
		Updates: &updates.Checker{
			Feed:    func() string { return cfg.Config().Updates.URL },
			Running: h.running,
			Client:  &http.Client{Transport: roundTrip(h.feed)},
			Now:     time.Now,
		},
		FindVault: vault.New(vault.Deps{Place: vault.Places{}.Open}).Find,
	}
}

// roundTrip answers requests.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// canary is a key that a provider sends back.
const canary = "sk-canary-0123456789"

// describing is a scripted provider whose list of models comes from a real server.
type describing struct {
	llm.Provider
	llm.ModelDescriber
}

func (h *home) catalog(s *config.Store, keys models.Keyring) *models.Catalog {
	return models.New(models.Deps{
		Config: s.Config, Keys: keys,
		Limits: func(_ string, window, output int) models.Limits {
			if window == 0 {
				return models.Limits{ContextLimit: 8192, MaxOutput: 4096, Source: "unknown window"}
			}
			return models.Limits{ContextLimit: window, MaxOutput: output, Source: "configured"}
		},
		Providers: []llm.Provider{describing{h.provider, chatcompletions.New(nil)}, named{h.provider, "recall"}, named{h.provider, "anthropic"}, named{h.provider, "openai"}},
	})
}

func (h *home) open(ctx context.Context, o cli.OpenOptions) (*cli.Services, error) {
	setup := h.setup(o)
	cfg, cat := setup.Config, setup.Models
	if h.readOnlyDisk && !o.ReadOnly {
		return nil, chat.WrapError(chat.CodeConfig, "store.open", syscall.EROFS, "The disk is read-only; nothing was changed.")
	}
	db, err := store.Open(ctx, store.Options{DataDir: cfg.Config().DataDir, ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, err
	}
	runner := jobs.NewRunner(jobs.Deps{Queue: db, Store: db, Publish: o.Publish, Counter: wordCounter{}, TargetTokens: func() int {
		if h.working != nil {
			h.working()
		}
		return 1200
	}})
	branchService := branches.New(db, runner, o.Publish)
	registry := tools.NewRegistry(db, func() tools.Settings { return tools.Settings{Allow: cfg.Config().Tools.Allow} })
	registry.SetServers(h.sources)
	engine := turn.NewEngine(turn.Deps{
		Turns: db, History: db, Contexts: db, Drafts: db, Calls: db, Journals: journal.New(journal.Options{Dir: filepath.Join(o.DataDir, "streams")}), Models: cat,
		Branches: branchService, Publish: o.Publish, Counter: wordCounter{}, ReadOnly: o.ReadOnly, Tools: registry,
		Settings: func() turn.Settings {
			return turn.Settings{
				IdleTimeout: time.Minute, FrameEvery: time.Millisecond, ToolsMode: llm.ToolsMode(cfg.Config().Tools.Mode),
				Backoff: func(int) time.Duration { return time.Millisecond },
			}
		},
	})
	reconciler := jobs.NewReconciler(jobs.ReconcilerDeps{Turns: engine, Store: db, Runner: runner, Publish: o.Publish})
	reconciler.RestorePause(ctx)
	never := func() bool { return false }
	schedule := vault.NewSchedule(vault.ScheduleDeps{Automatic: never, Answering: never})
	count := func(text string) int { return wordCounter{}.Count("", text) }
	s := &cli.Services{
		Set: &services.Set{
			Setup:    setup,
			Store:    db,
			Library:  library.New(db, engine, o.Publish.Change),
			Tools:    registry,
			Sessions: sessions.New(sessions.Deps{Store: db, History: db, Limits: engine, Publish: o.Publish.Change, Wake: runner.Wake}),
			Pins: pins.New(pins.Deps{
				Store: db, Limits: engine, Own: branchService.Own, Count: count, Publish: o.Publish.Change,
			}),
			Deletion:      deletion.New(deletion.Deps{Store: db, Publish: o.Publish.Change}),
			Queue:         jobs.NewList(db, runner, o.Publish),
			Inspecting:    inspecting.New(db, engine),
			Turns:         engine,
			Jobs:          runner,
			Reconciler:    reconciler,
			Vault:         vault.New(vault.Deps{Store: db, Records: db, Uncertified: db.Uncertified, Secrets: setup.Keys.Store, Now: time.Now, Place: vault.Places{}.Open}),
			VaultSchedule: schedule,
			Branches:      branchService,
			Answers:       answers.New(db, engine, branchService),
			Counter:       wordCounter{},
			Memory:        newMemory(db),
			Programs:      &mcpserver.Gateway{Store: db, Reader: reader{db}, Changed: func() {}},
			Projects:      projects.New(projects.Deps{Store: db, Count: count, Changed: func() {}}),
			Imports: importing.New(importing.Deps{
				Store: importStore{db, h.importing}, Target: func() int { return 1200 }, Count: count, Caps: engine.CheckCaps,
			}),
			Exports: exporting.New(exporting.Deps{
				Store: db, Bundles: db, Answers: engine, DataDir: o.DataDir, Now: time.Now,
				Format: func() exporting.Format { return exporting.Format(cfg.Config().Export.Format) },
				Folder: func(context.Context) (string, error) { return o.DataDir, nil },
			}),
		},
		Close: func() error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			schedule.Stop(ctx)
			err := engine.Close(ctx)
			reconciler.Stop()
			runner.Stop()
			return errors.Join(err, db.Close())
		},
	}
	if !o.ReadOnly {
		if s.Recovery, err = reconciler.Reconcile(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if h.opened != nil {
		h.opened(s)
	}
	return s, nil
}

// writer opens the data for writing, as a window does.
func (h *home) writer() *cli.Services {
	h.t.Helper()
	s, err := h.open(context.Background(), cli.OpenOptions{DataDir: h.dir, ConfigPath: h.config, Publish: noPublisher{}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return s
}

type noPublisher struct{}

func (noPublisher) Frame(chat.Frame)   {}
func (noPublisher) Change(chat.Change) {}

type wordCounter struct{}

func (wordCounter) Count(_, s string) int { return len(strings.Fields(s)) }

func (wordCounter) Encoding(string) string { return "words" }

// importStore is a store that calls a function before each conversation is imported.
type importStore struct {
	*store.Store
	importing func(context.Context)
}

func (s importStore) Imported(ctx context.Context, source transfer.Source, key string) (bool, error) {
	if s.importing != nil {
		s.importing(ctx)
	}
	return s.Store.Imported(ctx, source, key)
}

// newMemory returns a search by words.
func newMemory(db *store.Store) *retrieval.Engine {
	none := func(context.Context, chat.Namespace) (embedding.Embedder, error) {
		return nil, chat.Errorf(chat.CodeUnavailable, "embedder.for", "There is no embedder.")
	}
	return retrieval.New(retrieval.Deps{
		Store: db, Vectors: vectorindex.New(vectorindex.Options{Source: db}), Embedder: none,
		Settings: retrieval.Measured,
	})
}

// keyring is a keyring in memory, or none.
type keyring struct {
	mu     sync.Mutex
	none   bool
	stored map[string]string
}

var errNoKeyring = errors.New("there is no keyring")

func (k *keyring) Get(_, name string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.stored[name]
	switch {
	case k.none:
		return "", errNoKeyring
	case !ok:
		return "", secrets.ErrNotFound
	}
	return key, nil
}

func (k *keyring) Set(_, name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.none {
		return errNoKeyring
	}
	k.stored[name] = key
	return nil
}

func (k *keyring) Delete(_, name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.none {
		return errNoKeyring
	}
	delete(k.stored, name)
	return nil
}

// exits requires an exit code.
func (r result) exits(code int) result {
	r.t.Helper()
	if r.code != code {
		r.t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.err)
	}
	return r
}

// document requires stdout to be exactly one JSON document of schema 1.
func (r result) document() map[string]any {
	r.t.Helper()
	dec := json.NewDecoder(strings.NewReader(r.out))
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		r.t.Fatalf("stdout is not a JSON document: %v\n%q\nstderr: %s", err, r.out, r.err)
	}
	if rest, _ := io.ReadAll(io.MultiReader(dec.Buffered(), strings.NewReader(""))); strings.TrimSpace(string(rest)) != "" {
		r.t.Fatalf("more than one document: %q", r.out)
	}
	if doc["schema"] != float64(1) {
		r.t.Fatalf("schema %v in %s", doc["schema"], r.out)
	}
	if _, failed := doc["error"]; failed != (r.code != 0) {
		r.t.Fatalf("exit code %d with %s", r.code, r.out)
	}
	return doc
}

// into decodes the document into v.
func (r result) into(v any) {
	r.t.Helper()
	r.document()
	if err := json.Unmarshal([]byte(r.out), v); err != nil {
		r.t.Fatal(err)
	}
}

// failure returns the document's error, which must be complete.
func (r result) failure() failure {
	r.t.Helper()
	var doc struct{ Error *failure }
	r.into(&doc)
	if doc.Error == nil || doc.Error.Code == "" || doc.Error.Op == "" || doc.Error.Message == "" {
		r.t.Fatalf("no complete error in %s", r.out)
	}
	return *doc.Error
}

type failure struct{ Code, Op, Message, Hint string }

// sent is the document of send.
type sent struct {
	SessionID string `json:"session_id"`
	BranchID  string `json:"branch_id"`
	TurnID    string `json:"turn_id"`
	Seq       int64  `json:"turn_seq"`
	Phase     string
	Outcome   string
	Text      string
	Attempts  int
	Model     string
	Provider  string
	Usage     *chat.Usage
	Error     *failure
}

// send sends a message; the flags choose the session.
func (h *home) send(args ...string) sent {
	h.t.Helper()
	var s sent
	h.run(append([]string{"send", "--json"}, args...)...).exits(0).into(&s)
	return s
}

// shown is the document of show.
type shown struct {
	Session  chat.Session
	Branches []struct {
		ID     string `json:"branch_id"`
		Label  string
		Active bool
		Turns  int
	}
	Turns []struct {
		ID        string `json:"turn_id"`
		Seq       int64  `json:"turn_seq"`
		Phase     string
		Outcome   string
		User      chat.Message  `json:"user_message"`
		Assistant *chat.Message `json:"assistant_message"`
		Partial   *string       `json:"partial_text"`
		Reasoning *struct {
			Received int64 `json:"received_bytes"`
			Durable  int64 `json:"durable_bytes"`
		} `json:"partial_reasoning"`
		StateBefore string `json:"state_before"`
		StateAfter  string `json:"state_after"`
		Error       *chat.Failure
		Steps       []struct {
			ID      string `json:"step_id"`
			Index   int
			Attempt int
			Outcome chat.StepOutcome
			Items   []any
		}
	}
}

func (h *home) show(args ...string) shown {
	h.t.Helper()
	var s shown
	h.run(append([]string{"show", "--json"}, args...)...).exits(0).into(&s)
	return s
}
