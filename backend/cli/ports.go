package cli

import (
	"context"
	"io"
	"os"
	"time"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/library"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/models"
	"contextinfinity/backend/pins"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/updates"
)

// Models is the catalogue of models. Resolve of an empty name is the default.
type Models interface {
	Resolve(ctx context.Context, name string) (turn.Model, error)
	List(context.Context) ([]ModelInfo, error)
	// Test tests a key, stored or not, with its provider, without sending a prompt, and describes the result.
	Test(ctx context.Context, provider, key string) (string, error)
	// Cost returns what a usage of a configured model cost: by the price stored with it, otherwise by today's price.
	Cost(model string, u chat.Usage) (cost chat.Cost, today bool)
	// SpentInBackground adds up what background work cost. Its usage names models by their ids.
	SpentInBackground([]chat.ModelUsage) models.Spent
	Places(context.Context) []models.Place
	Offers(ctx context.Context, place string) ([]models.Offer, error)
	// Add configures a model of a place and returns its name; an empty name is made from the model's id.
	Add(ctx context.Context, to models.Saver, place, modelID, name string) (string, error)
}

// ModelInfo is a line of `models`; lengths in tokens.
type ModelInfo struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	ModelID  string `json:"model_id"`
	BaseURL  string `json:"base_url"`
	Window   int    `json:"context_limit"`
	Output   int    `json:"max_output"`
	Source   string `json:"limit_source"` // "configured", "table: " and the matched prefix, "server", "unknown window"
	Ceiling  int    `json:"ceiling"`      // the working set the model gets
	Stream   bool   `json:"stream"`
	Usable   bool   `json:"usable"`
	Why      string `json:"why"` // why it is not usable
	Default  bool   `json:"default"`
	BuiltIn  bool   `json:"built_in"`
	// Abilities: "yes", "no", or "" if unknown.
	Images    string      `json:"images"`
	Tools     string      `json:"tools"`
	Reasoning string      `json:"reasoning"`
	Favourite bool        `json:"favourite"`
	Price     *ModelPrice `json:"price,omitempty"`
}

// ModelPrice is what a model's tokens cost, per million.
type ModelPrice struct {
	Input    float64 `json:"input"`
	Cached   float64 `json:"cached"`
	Output   float64 `json:"output"`
	Source   string  `json:"source"` // "configured", "server", or "list " and its day
	Estimate bool    `json:"estimate"`
}

// Keys stores API keys. None of its results contains a key.
type Keys interface {
	List(context.Context) ([]KeyInfo, error)
	// Set stores a key permanently. Without a keyring it returns an error, because a key for this run only would be
	// lost when the verb ends.
	Set(ctx context.Context, provider, key string) error
	Remove(ctx context.Context, provider string) error
}

// KeyInfo says where a provider's key comes from.
type KeyInfo struct {
	Provider string   `json:"provider"`
	Source   string   `json:"source"` // "keyring", "environment", "this run", "" for none
	Env      string   `json:"env"`    // the environment variable of the key
	Models   []string `json:"models"`
}

// Memory searches memory (SPEC 8).
type Memory interface {
	Search(context.Context, retrieval.Query) (retrieval.Result, error)
}

// Services are what an open data directory offers.
type Services struct {
	// Stored data. Sessions, Pins and Deletion apply the rules for changes.
	Sessions *sessions.Service
	Pins     *pins.Service
	Deletion *deletion.Service
	History  HistoryStore
	// Inspecting shows what requests contained, states and summaries.
	Inspecting *inspecting.Service
	Files      documents.Store
	Chunks     ChunkStore
	Queue      *jobs.List
	Figures    FigureStore
	Waiting    CallStore

	Turns *turn.Engine
	Jobs  *jobs.Runner
	// Reconciler is the reconciler: it recovers after crashes and does the maintenance.
	Reconciler *jobs.Reconciler
	Branches   *branches.Service
	// Answers sends one message to several models.
	Answers *answers.Service
	Models  Models
	Imports Importer
	Counter turn.Counter
	Tools   *tools.Registry
	// ToolsMode is tools.mode.
	ToolsMode func() string
	// Memory is the memory search.
	Memory Memory
	// Exports writes conversations to files.
	Exports *exporting.Exporter
	// Library has the assistants and saved prompts.
	Library *library.Library
	// Programs are other programs that use this memory.
	Programs Programs
	// Projects are folders with instructions, pinned facts and files.
	Projects *projects.Service
	// Servers are the MCP servers whose tools models may call.
	Servers Servers
	// Stats are the figures of `stats`, in order.
	Stats func(context.Context) ([]Stat, error)
	// AfterSend is how long background work may run after an answer was printed; nil: not at all.
	AfterSend func() time.Duration
	// ConfigFault is the error of the configuration file if its content is not in effect; the verb runs and reports
	// it.
	ConfigFault error
	// RetiredSettings are lines of the configuration file that no longer have an effect.
	RetiredSettings []string
	// Note says why the data is read-only although that was not requested.
	Note string
	// Recovery is what opening as the writer found and did.
	Recovery chat.RecoveryReport
	// Close stops everything in order; a running answer is left incomplete.
	Close func() error
}

// Stat is one figure of `stats`. Its name is that of a JSON field.
type Stat struct {
	Name  string
	Value any // string, or a number
}

// Setup is what works without a database.
type Setup struct {
	Config *config.Store
	Keys   Keys
	Models Models
	// CheckForUpdates asks the configured release feed.
	CheckForUpdates func(context.Context) (updates.Result, error)
}

// OpenOptions come from the persistent flags and the verb.
type OpenOptions struct {
	DataDir       string
	ConfigPath    string
	Set           config.Overrides // settings of this run, over the file
	ReadOnly      bool
	Serve         bool           // as the writer, run the requests of other starts of the program
	Reconcile     bool           // recover open turns, even if the program was already running
	Publish       turn.Publisher // never nil
	WriterTimeout time.Duration  // as the writer: how long to wait for a command that is writing, if longer than usual
	OnWait        func()         // called once if that takes long; nil: not called
	Files         []string       // for a start of the window: absolute paths of files to open
	NewChat       bool           // for a start of the window: open a new session
	NewWindow     bool           // for a start of the window: open an additional one
	Quick         bool           // for a start of the window: open the small one for a quick question
	Session       string         // for a start of the window: the session to open
	Hidden        bool           // for a start of the window: start in the tray, if there is one
}

// App is the command line's access to the program.
type App struct {
	Version string
	Commit  string
	// Open opens the data directory. As the writer it takes the lock, migrates and recovers open turns before it
	// returns. An invalid configuration does not prevent it: it uses what is in effect.
	Open func(context.Context, OpenOptions) (*Services, error)
	// OpenSetup opens only configuration, keys and models; it creates nothing and works with an invalid configuration
	// (see Setup.Config.Err).
	OpenSetup func(context.Context, OpenOptions) (*Setup, error)
	// OpenBench opens a temporary store with the configured embedder; the data directory is not touched.
	OpenBench func(context.Context, OpenOptions) (*evaluation.Bench, error)
	// OpenCopies returns the backups of the data directory. It opens and creates nothing.
	OpenCopies func(context.Context, OpenOptions) (Copies, error)
	// HandOver lets the program that is the writer run a command line, and returns its exit code; false if it
	// accepts no requests. nil: no program is asked.
	HandOver func(context.Context, OpenOptions, Handover) (int, bool, error)
	// MemoryTools are the tools with which other programs read memory.
	MemoryTools []mcpserver.Tool
	// Documents reads attached files.
	Documents documents.Reader
	// Redact removes secrets from a text; nil leaves it unchanged.
	Redact func(string) string

	In  io.Reader
	Out io.Writer
	Err io.Writer

	// For a command line from another process; zero for the process's own: where relative paths begin, its signals,
	// and its terminals.
	Dir       string
	Signals   <-chan os.Signal
	Terminals *Terminals
}
