// Package importing brings the histories of other programs, and bundles of this one, into
// the store (SPEC 12): it finds out what a file is, reads it a conversation at a time,
// and has each written as a session.
//
// Guarantees: a conversation is known by what it holds, so a second import of a file
// adds nothing, one of a file that grew adds what is new, and one after a crash, a full
// disk or a cancel continues where the last ended; no model is asked and nothing is
// fetched; memory is that of one conversation; a conversation that cannot be read or
// written is skipped by itself with its place and the reason. What is written is queued
// to be indexed, behind what was said here. One import runs at a time.
package importing

import (
	"context"
	"io"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer"
)

// Store is written to.
type Store interface {
	// Imported reports that a conversation with this content is in.
	Imported(ctx context.Context, source transfer.Source, key string) (bool, error)
	// ImportConversation writes what is not there yet of a conversation.
	ImportConversation(context.Context, transfer.Conversation, chat.ImportRules) (chat.Imported, error)
	// ImportTogether writes several that are new and small. With an error nothing is
	// written, and each has to be written by itself.
	ImportTogether(context.Context, []transfer.Conversation, []chat.ImportRules) ([]chat.Imported, error)
	// ImportBundle writes a bundle's session.
	ImportBundle(ctx context.Context, r io.ReaderAt, size int64, name string) (chat.Imported, []transfer.Notice, error)
}

// Deps are what a Service works with.
type Deps struct {
	Store Store
	// Target is how many tokens a state's summary may have.
	Target func() int
	Count  func(text string) int
	// Model is the name of a configured model that is the one a source names; empty: none.
	Model func(provider, model string) string
	// Caps reports, with code over_budget, a session whose instructions or pinned facts
	// are over their caps, so that nothing could be sent in it; nil: it is not looked at.
	Caps func(context.Context, chat.SessionID) error
	// Changed is called now and then while sessions are made, and at the end.
	Changed func()
}

// Options say how to import.
type Options struct {
	Format   transfer.Format // FormatAuto: find out, each file by itself
	Progress func(Progress)  // called now and then, and at the end, by the goroutine of Import
}

// Progress is how far an import is.
type Progress struct {
	Done, Total int64 // bytes, of what is unpacked where that is known
	Sessions    int   // made, grown and there already
	Title       string
}

// Report is what an import did. It counts whatever the error.
type Report struct {
	File         string                `json:"file"`
	Format       transfer.Format       `json:"format"`   // empty of a folder
	Files        int                   `json:"files"`    // read; of a folder, those that are exports
	Sessions     int                   `json:"sessions"` // made
	Grown        int                   `json:"grown"`    // that were there and got new turns
	Already      int                   `json:"already"`  // that were there, unchanged
	Turns        int                   `json:"turns"`    // added
	Branches     int                   `json:"branches"` // added beside the first
	SkippedCount int                   `json:"skipped_count"`
	Skipped      []transfer.SkippedRow `json:"skipped"` // the first transfer.MaxReported of them
	Notices      []transfer.Notice     `json:"notices"`
	Instructed   int                   `json:"instructed"`   // conversations made that bring instructions of their own, which are not used
	Instructions []Instructions        `json:"instructions"` // the first transfer.MaxReported of them
	Torn         bool                  `json:"torn"`         // a file ended before its end
	Cancelled    bool                  `json:"cancelled"`
	Copied       bool                  `json:"copied"` // a bundle beside its session, which has diverged from it
	Bytes        int64                 `json:"bytes"`  // read
	First        chat.SessionID        `json:"first_session"`
	Made         []chat.SessionID      `json:"session_ids"` // made, grown or copied; the first MaxReported of them
}

// Instructions are those that a conversation brings: a system prompt, custom instructions.
// They are kept in its first turn, and used once a person made them the session's own.
type Instructions struct {
	Session chat.SessionID `json:"session_id"`
	Title   string         `json:"title"`
	Begins  string         `json:"begins"` // the first words
}

// Problems reports that not all of it could be imported.
func (r Report) Problems() bool { return r.SkippedCount > 0 || r.Torn }

// Service imports. Its methods may be called at the same time.
type Service struct {
	d   Deps
	one chan struct{}
}

// New makes a Service.
func New(d Deps) *Service { return &Service{d: d, one: make(chan struct{}, 1)} }
