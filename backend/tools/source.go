package tools

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"contextinfinity/backend/chat"
)

// Source offers tools and runs them. It is safe for concurrent use.
type Source interface {
	// Name is unique: chat.ToolSourceBuiltin or the configured name of a server.
	Name() string
	// Definitions returns the current tools in a stable order. It contacts no server.
	Definitions() []chat.ToolDefinition
	// Call runs a tool. The error says why there is no readable result; unless it wraps ErrNotStarted, it is unknown
	// whether the tool ran. A tool that ran and failed is an Output with IsError.
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
	// Definition is the hash of the definition that the call was allowed for. A source whose tool now has another one
	// (see HashOf) does not start the call; empty: any.
	Definition string
	// Progress may be called while the tool runs, but not after Call has returned; may be nil.
	Progress func(Progress)
	// Hold pauses the time limit of the call while it waits for the user, and release resumes it; may be nil.
	Hold func() (release func())
}

// TimeLimited is implemented by sources with calls that have their own time limit, such as commands.
type TimeLimited interface {
	// CallLimit returns the maximum duration of a call, including its termination; 0: no own limit.
	CallLimit(Call) time.Duration
}

// Progress is the progress of a call. Total 0 means unknown.
type Progress struct {
	Done, Total float64
	Message     string
}

// Output is a tool's result: texts and images, which are untrusted.
type Output struct {
	Content chat.Blocks
	IsError bool
	// Recalled are the turns that the content quotes, or, without a turn, the sessions that it names, if the tool
	// read memory.
	Recalled []chat.ShownTurn
}

// ErrNotStarted is wrapped by errors of calls that never reached the tool: the server is not running, or no longer
// offers it. Such a call may be repeated.
var ErrNotStarted = errors.New("the tool was not started")

// ErrUnreadable is wrapped by errors of calls with an unreadable response: the tool most likely ran. All other errors
// that do not wrap ErrNotStarted mean that there was no response.
var ErrUnreadable = errors.New("the result cannot be read")
