package prompt

import (
	"encoding/json"

	"contextinfinity/backend/chat"
)

// toolOverhead is the cost of one definition's framing, in tokens.
const toolOverhead = 8

// renderTools renders the definitions as they are measured and shown: name, description and schema, which every
// protocol sends.
func renderTools(defs []chat.ToolDefinition, count func(string) int) []rendered {
	items := make([]rendered, 0, len(defs))
	for _, d := range defs {
		text := definitionText(d)
		tokens := count(text) + toolOverhead
		items = append(items, rendered{text: text, tokens: tokens, source: Part{
			Source: "tool", ID: d.Name, Tokens: tokens, Bytes: len(text), SHA256: chat.HashText(text),
		}})
	}
	return items
}

// sentTool is the part of a definition that is sent to a provider.
type sentTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

func sentTools(defs []chat.ToolDefinition) []sentTool {
	var out []sentTool
	for _, d := range defs {
		out = append(out, sentTool{d.Name, d.Description, chat.RawJSON(d.Schema)})
	}
	return out
}

func definitionText(d chat.ToolDefinition) string {
	text, err := chat.MarshalJSON(sentTool{d.Name, d.Description, chat.RawJSON(d.Schema)})
	if err != nil { // RawJSON is always JSON
		return d.Name + " " + d.Description
	}
	return string(text)
}
