package chat

// ImportRules determine how an imported history is written. No model is called.
type ImportRules struct {
	// Model is the session's model, by its configured name. Empty: the default.
	Model string
	// Summarize updates a summary with turns: Summary, PinnedFacts, TokenCount and Validation of a state.
	Summarize func(previous string, pins []Pin, turns []Turn) State
	// Excerpt counts a document's tokens, and shortens one that is too large for a prompt. The complete document is
	// stored as a file.
	Excerpt func(text string) (excerpt string, tokens int)
}

// noMessage is the content of a user message that stands for a missing one.
const noMessage = `{"type":"no_message"}`

// NoMessage is the user message of an imported turn without one.
func NoMessage() Message {
	return Message{Role: RoleUser, Blocks: Blocks{Unknown{Provider: "contextinfinity", Raw: []byte(noMessage)}}}
}

// IsNoMessage reports whether blocks are those of NoMessage.
func IsNoMessage(bs Blocks) bool {
	if len(bs) != 1 {
		return false
	}
	u, ok := bs[0].(Unknown)
	return ok && u.Provider == "contextinfinity" && string(u.Raw) == noMessage
}
