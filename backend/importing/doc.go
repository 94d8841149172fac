// Package importing imports the histories of other programs, and bundles of this one, into the store (SPEC 12): it
// detects the format of a file, reads it one conversation at a time, and writes each as a session.
//
// Guarantees: a conversation is identified by its content, so importing a file twice adds nothing, importing a file
// that has grown adds only what is new, and an import after a crash, a full disk or a cancellation continues where
// the last one ended. No model is called and nothing is fetched. Only one conversation is held in memory. A
// conversation that cannot be read or written is skipped and reported with its position and the reason. Imported
// turns are indexed after those written here. One import runs at a time.
package importing

import (
	"context"
	"io"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer"
)

// Store is the store to import into.
type Store interface {
	// Imported reports whether a conversation with this content exists.
	Imported(ctx context.Context, source transfer.Source, key string) (bool, error)
	// ImportConversation writes the missing parts of a conversation.
	ImportConversation(context.Context, transfer.Conversation, chat.ImportRules) (chat.Imported, error)
	// ImportTogether writes several small new conversations. On an error nothing is written, and each has to be
	// written separately.
	ImportTogether(context.Context, []transfer.Conversation, []chat.ImportRules) ([]chat.Imported, error)
	// ImportBundle writes the session of a bundle.
	ImportBundle(ctx context.Context, r io.ReaderAt, size int64, name string) (chat.Imported, []transfer.Notice, error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	Store Store
	// Target is the maximum number of tokens of a state summary.
	Target func() int
	Count  func(text string) int
	// Model maps a source's model to the name of a configured model; empty: none.
	Model func(provider, model string) string
	// Caps returns an error with code over_budget for a session with instructions or pinned facts over their caps, in
	// which nothing could be sent; nil: not checked.
	Caps func(context.Context, chat.SessionID) error
	// Document extracts the text of an attached PDF or office document; nil: such files are left out.
	Document func(ctx context.Context, name string, data []byte) (string, error)
	// Changed is called from time to time while sessions are created, and at the end.
	Changed func()
}

// Options say how to import.
type Options struct {
	Format   transfer.Format // FormatAuto: detect it for each file
	Progress func(Progress)  // called from time to time, and at the end, by the goroutine of Import
	// Passphrase opens sealed files; empty: they are refused with CodeSealed.
	Passphrase string
}

// Progress is the progress of an import.
type Progress struct {
	Done, Total int64 // bytes, unpacked if that size is known
	Sessions    int   // created, extended or unchanged
	Title       string
}

// Report is the result of an import. Its counts are valid even with an error.
type Report struct {
	File           string                `json:"file"`
	Format         transfer.Format       `json:"format"`   // empty for a folder
	Files          int                   `json:"files"`    // files read; in a folder, those that are exports
	Sessions       int                   `json:"sessions"` // created
	Grown          int                   `json:"grown"`    // existing ones that got new turns
	Already        int                   `json:"already"`  // existing ones, unchanged
	Turns          int                   `json:"turns"`    // added
	Branches       int                   `json:"branches"` // added, without first branches
	SkippedCount   int                   `json:"skipped_count"`
	Skipped        []transfer.SkippedRow `json:"skipped"` // the first transfer.MaxReported of them
	Notices        []transfer.Notice     `json:"notices"`
	Instructed     int                   `json:"instructed"`           // new conversations that came with their own instructions, which are not used
	Instructions   []Instructions        `json:"instructions"`         // the first transfer.MaxReported of them
	Truncated      bool                  `json:"torn"`                 // a file was truncated
	TruncatedFiles []string              `json:"torn_files,omitempty"` // in a folder: the first transfer.MaxNamed of them
	Cancelled      bool                  `json:"cancelled"`
	Copied         bool                  `json:"copied"` // a bundle was imported as a copy because its session has diverged
	Bytes          int64                 `json:"bytes"`  // read
	First          chat.SessionID        `json:"first_session"`
	SessionIDs     []chat.SessionID      `json:"session_ids"` // created, extended or copied; the first MaxReported of them
}

// Instructions are the instructions that came with a conversation: a system prompt or custom instructions. They are
// kept in its first turn, and used only if the user adopts them for the session.
type Instructions struct {
	Session chat.SessionID `json:"session_id"`
	Title   string         `json:"title"`
	Begins  string         `json:"begins"` // the first words
}

// Problems reports whether something could not be imported.
func (r Report) Problems() bool { return r.SkippedCount > 0 || r.Truncated }

// Empty reports whether no conversation of the file is in the store, neither from this import nor from an earlier one.
func (r Report) Empty() bool { return r.Sessions+r.Grown+r.Already == 0 }

// Service imports. Its methods may be called concurrently.
type Service struct {
	d       Deps
	running chan struct{} // capacity 1: one import at a time
}

// New returns a Service.
func New(d Deps) *Service { return &Service{d: d, running: make(chan struct{}, 1)} }
