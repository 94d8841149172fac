package cli

import (
	"context"
	"io"
	"os"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/services"
	"contextinfinity/backend/turn"
)

// Services are the services of an open data directory, and what opening it found.
type Services struct {
	*services.Set
	// Recovery is what opening as the writer found and did.
	Recovery chat.RecoveryReport
	// Close stops everything in order; a running answer is left incomplete.
	Close func() error
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
	Passphrase    string         // of sealed data, or its recovery code; empty: none is known
}

// App is the command line's access to the program.
type App struct {
	Version string
	Commit  string
	// Open opens the data directory. As the writer it takes the lock, migrates and recovers open turns before it
	// returns. An invalid configuration does not prevent it: it uses what is in effect.
	Open func(context.Context, OpenOptions) (*Services, error)
	// OpenSetup opens only configuration, keys and models; it creates nothing and works with an invalid configuration
	// (see config.Store.Err).
	OpenSetup func(context.Context, OpenOptions) (*services.Setup, error)
	// OpenBench opens a temporary store with the configured embedder; the data directory is not touched.
	OpenBench func(context.Context, OpenOptions) (*evaluation.Bench, error)
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

	// Passphrase opens sealed data; empty: --passphrase-file names it, or it is asked for at a terminal.
	Passphrase string

	// For a command line from another process; zero for the process's own: where relative paths begin, its signals,
	// and its terminals.
	Dir       string
	Signals   <-chan os.Signal
	Terminals *Terminals
}
