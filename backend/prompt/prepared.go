package prompt

import "contextinfinity/backend/chat"

// PreparedContext is a context that is known to fit. Only this package can make
// one, its zero value is refused, and it is all that an adapter accepts
// (SPEC 2.10).
type PreparedContext struct {
	ok        bool
	system    []string
	messages  []chat.Message
	stable    int
	tokens    int
	maxOutput int
	manifest  Manifest
}

// Valid reports that the assembler made this context.
func (c PreparedContext) Valid() bool { return c.ok }

// System is the system text in parts: instructions, then pinned facts. They are
// sent as one system prompt in this order.
func (c PreparedContext) System() []string { return c.system }

// Messages alternate between user and assistant, user first, and end with the
// user's message. The caller must not change them.
func (c PreparedContext) Messages() []chat.Message { return c.messages }

// StablePrefix is how many of Messages belong to sections 1 to 6: the prefix a
// provider's prompt cache can keep until the cut advances.
func (c PreparedContext) StablePrefix() int { return c.stable }

// Tokens is the estimate of the input; MaxOutput what is left for the answer,
// bounded by the model's own limit.
func (c PreparedContext) Tokens() int    { return c.tokens }
func (c PreparedContext) MaxOutput() int { return c.maxOutput }

// Manifest describes the context item by item.
func (c PreparedContext) Manifest() Manifest { return c.manifest }
