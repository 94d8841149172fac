package turn

import "contextinfinity/backend/chat"

// CallChoice is the user's decision about a pending call.
type CallChoice struct {
	Call     chat.ToolCallID
	Decision chat.ToolDecision
	// Server makes a lasting decision apply to all tools of the call's source.
	Server bool
	// Hash is that of the shown definition; if it differs now, the decision is refused and requested again. Empty:
	// nothing was shown, as for a tool that is no longer offered.
	Hash string
}

// CallResolution is the user's resolution of a call with an unknown outcome.
type CallResolution struct {
	Call    chat.ToolCallID
	As      chat.Resolution
	Text    string // for ResolveEnter: the result that the user determined
	IsError bool
	// Hash is that of the definition shown with ResolveRerun; a tool with another definition is not run. Empty:
	// nothing was shown.
	Hash string
}
