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
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/library"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/updates"
)

// Store is what the window reads and changes directly. Everything with rules of
// its own goes through turn, jobs and branches.
type Store interface {
	CreateSession(context.Context, chat.NewSession) (chat.Session, chat.Branch, error)
	Session(context.Context, chat.SessionID) (chat.Session, error)
	Sessions(context.Context, chat.SessionQuery) ([]chat.SessionSummary, error)
	RenameSession(context.Context, chat.SessionID, string) error
	ArchiveSession(context.Context, chat.SessionID, bool) error
	ArchiveSessions(context.Context, []chat.SessionID, bool) error
	SetFolder(ctx context.Context, ids []chat.SessionID, folder string) error
	RenameFolder(ctx context.Context, from, to string) error
	Folders(context.Context) ([]chat.Folder, error)
	Duplicate(context.Context, chat.BranchID, string) (chat.Duplicate, error)
	PinSession(context.Context, chat.SessionID, bool) error
	SetSessionModel(context.Context, chat.SessionID, string) error
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	Branches(context.Context, chat.SessionID) ([]chat.BranchSummary, error)
	Tree(context.Context, chat.SessionID) (chat.Tree, error)
	BranchesApart(ctx context.Context, left, right chat.BranchID) (chat.BranchesApart, error)
	Find(context.Context, chat.FindQuery) (chat.Found, error)
	SearchText(context.Context, chat.TextQuery) (chat.TextResult, error)
	UsageByModel(context.Context, chat.UsageQuery) ([]chat.ModelUsage, error)
	Measures(context.Context, chat.MeasureQuery) ([]chat.TurnMeasure, error)
	RenameBranch(context.Context, chat.BranchID, string) error
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
	LineageBounds(context.Context, chat.BranchID) (first, last int64, count int, err error)
	LastTurn(context.Context, chat.BranchID) (chat.Turn, bool, error)
	PendingTurns(context.Context, chat.BranchID) ([]chat.Turn, error)
	Steps(context.Context, chat.TurnID) ([]chat.Step, error)
	StepsOf(context.Context, []chat.TurnID) (map[chat.TurnID][]chat.Step, error)
	StepByID(context.Context, chat.StepID) (chat.Step, error)
	StepBodies(context.Context, chat.StepID) (chat.StepPayload, error)
	StepEvents(ctx context.Context, step chat.StepID, yield func(chat.RawEvent) error) error
	State(context.Context, chat.StateID) (chat.State, error)
	States(context.Context, chat.BranchID) ([]chat.State, error)
	StateTurnSeq(context.Context, chat.StateID) (int64, error)
	AddPin(context.Context, chat.BranchID, string, int) (chat.Pin, error)
	EditPin(context.Context, chat.BranchID, chat.PinID, string, int) (chat.Pin, error)
	RemovePin(context.Context, chat.BranchID, chat.PinID) error
	MovePin(context.Context, chat.BranchID, chat.PinID, int) error
	Pins(context.Context, chat.BranchID) ([]chat.Pin, error)
	SuggestedPins(context.Context, chat.BranchID) ([]chat.PinSuggestion, error)
	Known(context.Context, chat.KnownQuery) (page []chat.Known, total int, err error)
	SuggestionPinned(context.Context, chat.BranchID, chat.SuggestionID, chat.PinID) error
	DismissSuggestion(context.Context, chat.BranchID, chat.SuggestionID) error
	Draft(context.Context, chat.BranchID) (chat.Draft, bool, error)
	SaveDraft(context.Context, chat.Draft) error
	AddFile(context.Context, chat.NewFile) (chat.File, error)
	File(context.Context, chat.FileID) (chat.File, error)
	FileText(context.Context, chat.FileID) (string, error)
	Chunks(context.Context, chat.ChunkQuery) (page []chat.ChunkText, total int, err error)
	ChunkTexts(context.Context, []chat.ChunkID) ([]chat.ChunkText, error)
	ChunkUses(context.Context, chat.ChunkID) ([]chat.ChunkUse, error)
	LookedUp(context.Context, chat.TurnID) ([]chat.LookedUp, error)
	ChunkEmbeddings(context.Context, chat.ChunkID) ([]chat.EmbedderID, error)
	UnitCount(context.Context) (int, error)
	UnitTotals(context.Context) (units int, tokens int64, err error)
	Recalled(context.Context, []chat.TurnID) (map[chat.TurnID]chat.Recalled, error)
	Jobs(context.Context, chat.JobQuery) ([]chat.Job, error)
	JobCounts(context.Context) (queued, running, dead int, err error)
	JobFor(context.Context, chat.TurnID, chat.JobType) (chat.Job, bool, error)
	RetryJob(context.Context, int64) error
	KillJob(context.Context, int64) error
	Metrics(context.Context, chat.BranchID, int) ([]chat.TurnMetricsRow, error)
	Setting(context.Context, string) (string, bool, error)
	PutSetting(context.Context, string, string) error
	PreviousManifest(ctx context.Context, branch chat.BranchID, beforeSeq int64) (json.RawMessage, chat.TurnID, error)
	AllSummaries(context.Context, chat.SessionID) ([]chat.RangeSummary, error)
	SetSessionSettings(context.Context, chat.SessionID, chat.SessionSettings) error
	ErasePreview(ctx context.Context, kind, id string) (chat.ErasePreview, error)
	Erase(ctx context.Context, kind, id string) (chat.Receipt, error)
	Receipts(context.Context) ([]chat.Receipt, error)
	Verify(context.Context) ([]chat.Finding, error)
	ErasedTurns(context.Context, chat.SessionID, []chat.TurnID) (map[chat.TurnID]time.Time, error)
	WaitingCalls(context.Context) ([]chat.WaitingCall, error)
	ToolBatches(context.Context, []chat.TurnID) (map[chat.TurnID][]chat.ToolBatch, error)
	CallBatch(context.Context, chat.ToolCallID) (chat.ToolBatch, error)
}

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
	Store    Store
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
