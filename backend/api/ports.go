package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/autostart"
	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/library"
	"contextinfinity/backend/pins"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/updates"
)

// ToolPorts are the dependencies of the service Tools.
type ToolPorts struct {
	Registry *tools.Registry
	Mode     func() string // tools.mode
}

// Counter counts tokens as the given model would.
type Counter interface {
	Count(modelID, text string) int
}

// Core has the dependencies of all services. If the data could not be opened, only Fatal is set: the window then says
// why.
type Core struct {
	// Stored data, with an interface for each user. Sessions, Pins and Deletion apply the rules for changes.
	Sessions *sessions.Service
	Pins     *pins.Service
	Deletion *deletion.Service
	History  HistoryStore
	// Inspecting shows what requests contained, states and summaries.
	Inspecting *inspecting.Service
	Drafts     DraftStore
	Chunks     ChunkStore
	Queue      *jobs.List
	Figures    FigureStore
	Calls      CallStore
	Settings   SettingStore

	Turns    *turn.Engine
	Jobs     *jobs.Runner
	Branches *branches.Service
	Answers  *answers.Service
	Counter  Counter
	Hub      *Hub
	// Documents reads attached files.
	Documents documents.Reader
	Retrieval Retrieval
	// Tools are the tools that models may call.
	Tools ToolPorts
	// Cost returns the cost of a usage of a model: by the price stored with it, otherwise by today's price; the zero
	// Cost if no price is known.
	Cost func(model string, u chat.Usage) (cost chat.Cost, today bool)
	// Reconciler recovers unfinished work after a crash, and stores its reports.
	Reconciler *jobs.Reconciler
	// Tasks runs tasks.
	Tasks *tasks.Manager
	// Importer and Exporter read and write conversations as files.
	Importer Importer
	Exporter Exporter
	// Data is the data directory; it is also set if the data cannot be opened.
	Data DataFolder
	// Library has the assistants and saved prompts.
	Library *library.Library
	// Projects manages projects.
	Projects *projects.Service
	// Programs are other programs that use this memory.
	Programs ProgramAccess
	// Servers are the MCP servers whose tools models may call.
	Servers ServerPorts
	// Shell is the system around the window.
	Shell Shell
	// Autostart is the system's entry for this program, or why there can be none.
	Autostart func() (*autostart.Entry, error)
	// Updates checks for newer versions.
	Updates *updates.Checker
	// QuickKey is the state of desktop.quick_ask_keys. nil: none are registered, because the data is read-only.
	QuickKey func() QuickKeyView
	Log      *slog.Logger
	Version  string
	DataDir  string
	Fatal    *chat.Error
	// Additional: the services are those of an additional window. Session is the session that it opens; empty: another
	// one than the last open session.
	Additional bool
	Session    string
	// Quick: the services are those of the small window for a quick question.
	Quick bool
	// ReadOnly says why the data is read-only; empty: it is not.
	ReadOnly string
}

// newID creates an id for something that exists only in this run.
func (c *Core) newID() string { return chat.NewID(time.Now()) }

// ctx returns the context for calls from the window. They have none of their own, and work that they start must not end
// with them.
func (c *Core) ctx() context.Context { return context.Background() }

// ready returns the error of opening the data, for the services that a window binds without it.
func (c *Core) ready() error {
	if c.Fatal != nil {
		return c.Fatal
	}
	return nil
}

// FormatError converts an error to an ErrorView as JSON for the window, and logs the cause. Wails calls it for every
// rejected call.
func (c *Core) FormatError(err error) any {
	e := chat.AsError(err)
	if e.Code == chat.CodeInternal || e.Err != nil && !errors.Is(err, context.Canceled) {
		c.Log.Error("a call from the window failed", "op", e.Op, "code", e.Code, "err", err, "cause", e.Err)
	}
	raw, _ := json.Marshal(errorView(e))
	return string(raw)
}

func errorView(e *chat.Error) ErrorView {
	return ErrorView{Code: e.Code, Op: e.Op, Message: e.Said(), Hint: e.Advised()}
}

// failureView returns why a turn failed; nil: it did not.
func failureView(f *chat.Failure) *ErrorView {
	if f == nil {
		return nil
	}
	return &ErrorView{Code: f.Code, Op: "turn", Message: f.Said(), Hint: f.Advised()}
}
