// Package exporting writes what is kept to files that others can read (SPEC 12): a turn,
// a branch, a session or all sessions, as a bundle, Markdown, JSON or a page of HTML.
//
// It only reads the data, a page of turns at a time, so that it works beside a window
// and needs no more memory for a long session. A file is whole or not there: it is
// written beside its place, flushed, and named at the end; one that exists is replaced
// only when that is asked for.
//
// Of turns without an answer yet (unsent, or being answered) Markdown and HTML have
// nothing to show: they are left out and counted. One that was cut off or failed is
// written with what had arrived, and says so. JSON and bundles leave nothing out.
package exporting

import (
	"context"
	"io"
	"time"

	"contextinfinity/backend/chat"
)

// Scope is how much is exported.
type Scope string

// Scopes.
const (
	ScopeTurn    Scope = "turn"
	ScopeBranch  Scope = "branch"
	ScopeSession Scope = "session" // its active branch, or with AllBranches all of it
	ScopeAll     Scope = "all"     // every session, a file each, in a zip
)

// Format is what is written.
type Format string

// Formats.
const (
	FormatBundle   Format = "bundle"
	FormatMarkdown Format = "md"
	FormatJSON     Format = "json"
	FormatHTML     Format = "html"
)

// Extension is a file's, with its dot.
func (f Format) Extension() string {
	if f == FormatBundle {
		return ".cinf"
	}
	return "." + string(f)
}

// Request says what is exported, as what, and where to.
type Request struct {
	Scope   Scope
	Session chat.SessionID // of a turn or branch it may be left out
	Branch  chat.BranchID  // of a turn: the branch that it is read through; of a session: instead of the active one
	Turn    chat.TurnID
	// AllBranches writes every branch, archived ones too. A bundle always has them.
	AllBranches bool
	// Format is the configured one if empty. A bundle holds a whole session: a part of
	// one is then written as Markdown, and a bundle of it that is asked for refused.
	Format   Format
	Archived bool // of all: archived sessions too
	// Path is the file, or a folder; empty: the folder used last. In a folder a name
	// that is free is chosen.
	Path    string
	Replace bool
}

// Plan is what an export would write.
type Plan struct {
	Format   Format
	Name     string // suggested, with its extension
	Path     string
	Exists   bool // Path is there already
	Sessions int
	Branches int
	Turns    int
	Open     int // turns that are left out: no answer yet
}

// Result is what an export wrote.
type Result struct {
	Plan
	Bytes int64
}

// Progress is called with how many of the turns are written. It is called from one goroutine.
type Progress func(done, total int64)

// Store is what is exported from.
type Store interface {
	Session(context.Context, chat.SessionID) (chat.Session, error)
	Sessions(context.Context, chat.SessionQuery) ([]chat.SessionSummary, error)
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	Branches(context.Context, chat.SessionID) ([]chat.BranchSummary, error)
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
	StepsWithItems(context.Context, []chat.TurnID) (map[chat.TurnID][]chat.Step, error)
	// ToolBatches are the tool calls of turns, by turn.
	ToolBatches(context.Context, []chat.TurnID) (map[chat.TurnID][]chat.ToolBatch, error)
	UnfinishedTurns(context.Context) ([]chat.Turn, error)
	Pins(context.Context, chat.BranchID) ([]chat.Pin, error)
	// LastEvent is the event_seq of a session's newest event.
	LastEvent(context.Context, chat.SessionID) (int64, error)
}

// Bundles writes sessions as bundles.
type Bundles interface {
	WriteBundle(ctx context.Context, session chat.SessionID, w io.Writer) error
}

// Answers gives what arrived of an answer that is not final.
type Answers interface {
	Received(context.Context, chat.Turn) (chat.Message, error)
}

// Deps are what an Exporter works with.
type Deps struct {
	Store   Store
	Bundles Bundles
	Answers Answers
	Format  func() Format // the configured one
	// Folder is the folder used last, or the one to begin with.
	Folder func(context.Context) (string, error)
	// Used is called with the folder a file was written to; nil: it is not remembered.
	Used func(ctx context.Context, folder string)
	// DataDir has the folder of files that are dragged out of the window.
	DataDir string
	Now     func() time.Time
}

// Exporter exports. Its methods may be called at the same time.
type Exporter struct{ Deps }

// New makes an Exporter.
func New(d Deps) *Exporter { return &Exporter{d} }
