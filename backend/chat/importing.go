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
