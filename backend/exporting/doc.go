// Package exporting writes stored conversations to files (SPEC 12): a turn, a branch, a session or all sessions, as a
// bundle, Markdown, JSON or an HTML page.
//
// It only reads the data, one page of turns at a time, so it works beside a window, and a long session needs no more
// memory than a short one. A file is complete or absent: it is written to a temporary file, flushed, and renamed at
// the end. An existing file is replaced only on request.
//
// Markdown and HTML leave out turns without an answer yet (unsent, or being answered) and count them. An answer that
// was interrupted or failed is written as far as it arrived, with a remark. JSON and bundles contain everything.
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
	ScopeSession Scope = "session" // its active branch, or all branches with AllBranches
	ScopeAll     Scope = "all"     // every session in a file of its own, in a zip
)

// Format is the file format.
type Format string

// Formats.
const (
	FormatBundle   Format = "bundle"
	FormatMarkdown Format = "md"
	FormatJSON     Format = "json"
	FormatHTML     Format = "html"
)

// Extension returns the extension of a file, with its dot.
func (f Format) Extension() string {
	if f == FormatBundle {
		return ".cinf"
	}
	return "." + string(f)
}

// Request says what to export, in which format, and where to.
type Request struct {
	Scope   Scope          `json:"scope"`     // turn, branch, session or all
	Session chat.SessionID `json:"sessionId"` // may be empty for a turn or branch
	// of a turn: the branch from which it is seen; of a session: instead of the active one
	Branch chat.BranchID `json:"branchId"`
	Turn   chat.TurnID   `json:"turnId"` // of scope turn
	// AllBranches writes every branch, including archived ones. A bundle always contains all.
	AllBranches bool `json:"allBranches"`
	// Format is the configured one if empty. A bundle contains a whole session: part of one is then written as
	// Markdown, and an explicitly requested bundle of it is refused.
	Format Format `json:"format"`
	// Quotes includes in a bundle the requests that quoted other conversations or files of projects. A bundle of
	// everything always includes them.
	Quotes   bool `json:"quotes"`
	Archived bool `json:"archived"` // for ScopeAll: include archived sessions
	// Path is the file, or a folder; empty: the last used folder. In a folder an unused name is chosen.
	Path    string `json:"path"`
	Replace bool   `json:"replace"`
	// Sealed seals the bundle with Passphrase, which is never stored. A plan needs no passphrase.
	Sealed     bool   `json:"sealed"`
	Passphrase string `json:"-"`
}

// Plan is what an export would write.
type Plan struct {
	Format   Format `json:"format"`
	Name     string `json:"name"`   // suggested, with its extension
	Path     string `json:"path"`   // where: the folder used last, and the name
	Exists   bool   `json:"exists"` // Path exists already
	Sessions int    `json:"sessions"`
	Branches int    `json:"branches"`
	Turns    int    `json:"turns"`
	Open     int    `json:"open"` // turns left out because they have no answer yet
	// Quoting counts the requests of a session to be written as a bundle that quoted other conversations or files of
	// projects.
	Quoting int `json:"quoting"`
}

// Result is what an export has written.
type Result struct {
	Plan
	Bytes int64
	// LeftOut counts the requests that are not in the bundle, because they quoted other conversations.
	LeftOut int
}

// Progress is called with the number of turns written so far. It is called from one goroutine.
type Progress func(done, total int64)

// Store is the store to export from.
type Store interface {
	Session(context.Context, chat.SessionID) (chat.Session, error)
	Sessions(context.Context, chat.SessionQuery) ([]chat.SessionSummary, error)
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	Branches(context.Context, chat.SessionID) ([]chat.BranchSummary, error)
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
	StepsWithItems(context.Context, []chat.TurnID) (map[chat.TurnID][]chat.Step, error)
	// ToolBatches returns the tool calls of turns, by turn.
	ToolBatches(context.Context, []chat.TurnID) (map[chat.TurnID][]chat.ToolBatch, error)
	UnfinishedTurns(context.Context) ([]chat.Turn, error)
	Pins(context.Context, chat.BranchID) ([]chat.Pin, error)
	// LastEvent returns the event_seq of a session's newest event.
	LastEvent(context.Context, chat.SessionID) (int64, error)
}

// Bundles writes sessions as bundles.
type Bundles interface {
	// WriteBundle returns how many requests were left out because they quoted other conversations.
	WriteBundle(ctx context.Context, session chat.SessionID, w io.Writer, withQuotes bool) (leftOut int, err error)
	// QuotingRequests counts the requests that quoted other conversations.
	QuotingRequests(context.Context, chat.SessionID) (int, error)
}

// Answers returns the partial answer of an unfinished turn.
type Answers interface {
	Received(context.Context, chat.Turn) (chat.Message, error)
}

// Deps are the dependencies of an Exporter.
type Deps struct {
	Store   Store
	Bundles Bundles
	Answers Answers
	Format  func() Format // returns the configured format
	// Folder returns the last used folder, or the default.
	Folder func(context.Context) (string, error)
	// Used is called with the folder of a written file; nil: it is not remembered.
	Used func(ctx context.Context, folder string)
	// DataDir contains the folder of files dragged out of the window.
	DataDir string
	Now     func() time.Time
}

// Exporter exports. Its methods may be called concurrently.
type Exporter struct{ Deps }

// New returns an Exporter.
func New(d Deps) *Exporter { return &Exporter{d} }
