package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ToolCallID identifies a call in the tool journal; the provider's id is in its ToolUse.
type ToolCallID string

// ToolDefinition is a tool as it is offered to models (SPEC 10).
type ToolDefinition struct {
	// Source is ToolSourceBuiltin or the configured name of an MCP server, and Tool the tool's name there.
	Source string `json:"source"`
	Tool   string `json:"tool"`
	// Name is what providers receive: ^[a-zA-Z0-9_-]{1,64}$, unique within a request.
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description"`
	// Schema is the JSON Schema of its arguments, an object.
	Schema json.RawMessage `json:"schema"`
	// Annotations are the server's own hints. They are shown but never trusted.
	Annotations json.RawMessage `json:"annotations,omitempty"`
	// Effects is false only for built-in tools that read, and for tools that the user marked as having no effects.
	Effects bool `json:"effects"`
}

// ToolSourceBuiltin is the source of the program's own tools.
const ToolSourceBuiltin = "builtin"

// Hash identifies what the user sees when approving a tool: a decision applies to a single hash. What the program
// derives (Name, Effects) is not part of it.
func (d ToolDefinition) Hash() string {
	text, err := MarshalJSON([]any{d.Source, d.Tool, d.Title, d.Description, d.Schema, d.Annotations})
	if err != nil { // invalid JSON in the schema or the annotations: their bytes are hashed
		text = []byte(d.Source + "\x00" + d.Tool + "\x00" + d.Title + "\x00" + d.Description + "\x00" +
			string(d.Schema) + "\x00" + string(d.Annotations))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
