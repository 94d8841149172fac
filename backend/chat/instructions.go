package chat

import (
	"encoding/json"
	"strings"
)

// Instructions in another program's conversation (a system prompt, custom instructions) are data of the first turn
// and have no effect here (SPEC 12), because anybody may have written the file. The user may read them and adopt them
// for the session.

// instructions is the stored form of imported instructions, in a block that is never sent to a provider.
type instructions struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

const typeInstructions = "imported_instructions"

// InstructionsBlock returns a block with the instructions of an imported conversation.
func InstructionsBlock(source, text string) (Block, error) {
	raw, err := MarshalJSON(instructions{Type: typeInstructions, Text: text})
	return Unknown{Provider: source, Raw: raw}, err
}

// InstructionsIn returns the text of imported instructions, or false if the block has none.
func InstructionsIn(b Block) (string, bool) {
	u, ok := b.(Unknown)
	if !ok {
		return "", false
	}
	var in instructions
	if json.Unmarshal(u.Raw, &in) != nil || in.Type != typeInstructions {
		return "", false
	}
	return in.Text, strings.TrimSpace(in.Text) != ""
}

// ImportedInstructions returns the imported instructions of a conversation from its first turn; empty if there are none.
func ImportedInstructions(first Turn) string {
	var texts []string
	for _, m := range []*Message{&first.User, first.Assistant} {
		if m == nil {
			continue
		}
		for _, b := range m.Blocks {
			if text, ok := InstructionsIn(b); ok {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n\n")
}
