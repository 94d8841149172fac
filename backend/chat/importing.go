package chat

// ImportRules say how history is written that was made elsewhere. No model is asked.
type ImportRules struct {
	// Model is the session's: the name of one that is configured here. Empty: the default.
	Model string
	// Summarize brings a summary up to date with turns: Summary, PinnedFacts, TokenCount
	// and Validation of a state.
	Summarize func(previous string, pins []Pin, turns []Turn) State
	// Excerpt counts a document's tokens, and cuts what a message holds of one that is
	// too large for a prompt. All of it is kept as a file.
	Excerpt func(text string) (excerpt string, tokens int)
}
