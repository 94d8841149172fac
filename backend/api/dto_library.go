package api

import "contextinfinity/backend/library"

// LibraryPanel is the library: what is used in many sessions.
type LibraryPanel struct {
	Rev        int64             `json:"rev"`
	Assistants []AssistantView   `json:"assistants"` // by name
	Prompts    []SavedPromptView `json:"prompts"`    // by name
}

// AssistantView is a named preset. The id is empty for a new one.
type AssistantView struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Instructions string `json:"instructions"` // empty: the default instructions
	Model        string `json:"model"`        // empty: the session keeps its own
	Temperature  string `json:"temperature"`  // a number from 0 to 2, or empty for the model's default
	Effort       string `json:"effort"`       // "", minimal, low, medium, high
	ToolsMode    string `json:"toolsMode"`    // "", disabled, parse_only, enabled
}

// SavedPromptView is a named text with variables. The id is empty for a new one.
type SavedPromptView struct {
	ID        string               `json:"id"`
	Name      string               `json:"name"`
	Text      string               `json:"text"`
	Variables []PromptVariableView `json:"variables"` // in the order in which they first appear
}

// PromptVariableView is a variable of a saved prompt, filled in when it is used.
type PromptVariableView = library.Variable

// SessionAssistantView is the assistant last applied to a session.
type SessionAssistantView struct {
	ID      string `json:"id"`      // empty: none
	Name    string `json:"name"`    // its current name, or the name at that time
	Known   bool   `json:"known"`   // it is in the library
	Differs bool   `json:"differs"` // applying it again would change the session's settings
}

// PromptsImported is the result of importing prompts.
type PromptsImported struct {
	Added int `json:"added"`
	Known int `json:"known"` // existed already, with the same name and text
}
