package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"contextinfinity/backend/autostart"
	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/erasing"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/library"
	"contextinfinity/backend/pins"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/updates"
)

// ToolRegistry is what the window asks of the tools that there are. It is tools.Registry.
type ToolRegistry interface {
	Panel(context.Context) (tools.Panel, error)
	Accept(ctx context.Context, source, tool, hash string) error
	Permit(context.Context, chat.ToolPermission) error
	Forget(ctx context.Context, source, tool string, session chat.SessionID) error
	MarkReadOnly(ctx context.Context, source, tool, hash string) error
	// Preview is what a call would change, as a line diff.
	Preview(ctx context.Context, source string, c tools.Call) string
}

// ToolTurns carries out decisions about calls. It is turn.Engine.
type ToolTurns interface {
	DecideCall(context.Context, turn.CallChoice) error
	ResolveCall(context.Context, turn.CallResolution) error
	CancelCall(context.Context, chat.ToolCallID) error
	// CallProgress is of a call that runs in this process.
	CallProgress(chat.ToolCallID) (tools.Progress, bool)
}

// ToolPorts are what the service Tools works with.
type ToolPorts struct {
	Registry ToolRegistry
	Turns    ToolTurns
	Mode     func() string // tools.mode
}

// Counter counts tokens as the given model would.
type Counter interface {
	Count(modelID, text string) int
}

// Core is what every service works with. Fatal is set instead of the rest when
// the data could not be opened: the window then says why.
type Core struct {
	// What is kept, each by who works with it. Sessions, Pins and Erasing hold the rules of what changes it.
	Sessions *sessions.Service
	Pins     *pins.Service
	Erasing  *erasing.Service
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
	Answers  Answers
	Counter  Counter
	Hub      *Hub
	// Documents reads files that are attached.
	Documents documents.Reader
	Retrieval Retrieval
	// Tools are those that models may call.
	Tools ToolPorts
	// Cost is what calls of a model cost, by configured prices or as an estimate; false where no price is known.
	Cost func(model string, u chat.Usage) (float64, bool)
	// Upkeep puts in order what crashes leave, and keeps what it found.
	Upkeep *jobs.Reconciler
	// Tasks carries out long work.
	Tasks *tasks.Manager
	// Importer and Exporter read and write conversations as files.
	Importer Importer
	Exporter Exporter
	// Data is the data directory as a whole; it is there where the data cannot be opened too.
	Data DataFolder
	// Library has the assistants and saved prompts.
	Library *library.Library
	// Projects are folders of sessions that have more than a name.
	Projects ProjectKeeper
	// Programs are other programs that use this memory.
	Programs ProgramAccess
	// Servers are the MCP servers whose tools models may call.
	Servers ServerPorts
	// Shell is the system around the window.
	Shell Shell
	// Autostart is the system's entry for this program, or why there can be none.
	Autostart func() (*autostart.Entry, error)
	// Updates asks for newer versions.
	Updates *updates.Checker
	// QuickKey is what became of desktop.quick_ask_keys. nil: no keys are asked for, as the data can only be read.
	QuickKey func() QuickKeyView
	Log      *slog.Logger
	Version  string
	DataDir  string
	Fatal    *chat.Error
	// Further: of one of the windows beside the first. Session is what it opens on; empty: another than was open last.
	Further bool
	Session string
	// Quick: of the small window for a quick question.
	Quick bool
	// ReadOnly says why the data can only be read; empty: it can be written.
	ReadOnly string
}

// newID names what lives in this run alone.
func (c *Core) newID() string { return chat.NewID(time.Now()) }

// ctx is of calls from the window: they have none of their own, and what they
// begin must not end with them.
func (c *Core) ctx() context.Context { return context.Background() }

// ready refuses every call but Startup when the data could not be opened.
func (c *Core) ready() error {
	if c.Fatal != nil {
		return c.Fatal
	}
	return nil
}

// FormatError gives the window an ErrorView as JSON, and the log the cause.
// Wails calls it for every rejected call.
func (c *Core) FormatError(err error) any {
	e := chat.AsError(err)
	if e.Code == chat.CodeInternal || e.Err != nil && !errors.Is(err, context.Canceled) {
		c.Log.Error("a call of the window failed", "op", e.Op, "code", e.Code, "err", err, "cause", e.Err)
	}
	raw, _ := json.Marshal(errorView(e))
	return string(raw)
}

func errorView(e *chat.Error) ErrorView {
	v := ErrorView{Code: e.Code, Op: e.Op, Message: e.Message, Hint: e.Hint}
	if v.Message == "" {
		v.Message = e.Error()
	}
	v.Message, v.Hint = groupedCounts(v.Message), groupedCounts(v.Hint)
	return v
}
