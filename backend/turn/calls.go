package turn

import "contextinfinity/backend/chat"

// CallChoice is what a person decided about a call that waits.
type CallChoice struct {
	Call     chat.ToolCallID
	Decision chat.ToolDecision
	// Server makes a decision that lasts hold for all tools of the call's source.
	Server bool
	// Hash is that of the definition which was shown; another one is refused and asked about
	// again. Empty: nothing was shown, as for a tool that is not offered any more.
	Hash string
}

// CallResolution is what a person makes of a call whose outcome is unknown.
type CallResolution struct {
	Call    chat.ToolCallID
	As      chat.Resolution
	Text    string // of ResolveEnter: the result as the person found it
	IsError bool
	// Hash is that of the definition which was shown with ResolveRerun; a tool that has another
	// one by now is not run. Empty: nothing was shown.
	Hash string
}
