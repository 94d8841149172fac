package tools

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"contextinfinity/backend/chat"
)

// Source offers tools and runs them. Its methods may be called by several goroutines.
type Source interface {
	// Name is unique: chat.ToolSourceBuiltin or the configured name of a server.
	Name() string
	// Definitions are the tools it offers now, in a stable order. It answers from memory
	// and asks no server.
	Definitions() []chat.ToolDefinition
	// Call runs a tool. The error says why no readable result came; unless it wraps
	// ErrNotStarted, whether the tool ran is not known. A tool that ran and failed is an
	// Output with IsError.
	Call(ctx context.Context, c Call) (Output, error)
}

// Call is a call as a source receives it.
type Call struct {
	ID        chat.ToolCallID
	Session   chat.SessionID
	Branch    chat.BranchID
	Turn      chat.TurnID
	Tool      string          // the name that the source knows
	Arguments json.RawMessage // an object
	// Definition is the hash of the definition that the call was allowed for. A source whose tool
	// has another one by now (see HashOf) does not start the call; empty: any.
	Definition string
	// Progress may be called while the tool runs, and not after Call has returned; nil: nobody listens.
	Progress func(Progress)
	// Hold stops the clock of the call while a person is asked something for it, and release
	// lets it run on; nil: there is none.
	Hold func() (release func())
}

// TimeLimited is implemented by sources some of whose calls say themselves how long they may
// take: a command with its own limit.
type TimeLimited interface {
	// CallLimit is how long a call takes at most, with the time to end it; 0: it does not say.
	CallLimit(Call) time.Duration
}

// Progress is how far a call has come. Total 0 means that nobody knows.
type Progress struct {
	Done, Total float64
	Message     string
}

// Output is what a tool answered: texts and images, text of others and not to be trusted.
type Output struct {
	Content chat.Blocks
	IsError bool
	// Recalled are the turns that the content quotes, and without a turn the sessions that it
	// names, where the tool read memory.
	Recalled []chat.ShownTurn
}

// ErrNotStarted is wrapped by errors of calls that never reached the tool: the server does
// not run, the tool is not offered any more. Such a call may be repeated.
var ErrNotStarted = errors.New("the tool was not started")

// ErrUnreadable is wrapped by errors of calls that were answered with something that cannot
// be read: the tool most likely ran. All other errors that do not wrap ErrNotStarted mean that
// no answer came.
var ErrUnreadable = errors.New("the result cannot be read")
