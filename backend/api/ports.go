package api

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"contextinfinity/backend/autostart"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/services"
)

// Core is what all services of a window use. If the data could not be opened, the list of services has only its setup,
// and Fatal says why.
type Core struct {
	*services.Set
	Hub *Hub
	// Documents reads attached files.
	Documents documents.Reader
	// Data is the data directory; it is also set if the data cannot be opened.
	Data DataFolder
	// Sealer seals it.
	Sealer Sealer
	// Active is called while somebody uses a window; nil: nothing depends on it.
	Active func()
	// Access says how other programs can use this memory.
	Access ProgramAccess
	// WarmServers starts, in the background, the MCP servers whose tools may be offered.
	WarmServers func()
	// Shell is the system around the window.
	Shell Shell
	// Autostart is the system's entry for this program, or why there can be none.
	Autostart func() (*autostart.Entry, error)
	// QuickKey is the state of desktop.quick_ask_keys. nil: none are registered, because the data is read-only.
	QuickKey func() QuickKeyView
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
