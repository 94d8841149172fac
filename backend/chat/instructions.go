package chat

import (
	"encoding/json"
	"strings"
)

// What another program's conversation says to its model before anybody speaks (a system
// prompt, custom instructions) is data of the first turn and no instruction here (SPEC 12):
// whoever wrote the file wrote it. A person may read it and make it the session's own.

// instructions is how they are kept, in a block that no provider is ever sent.
type instructions struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

const typeInstructions = "imported_instructions"

// InstructionsBlock keeps the instructions that a source gives with a conversation.
func InstructionsBlock(source, text string) (Block, error) {
	raw, err := MarshalJSON(instructions{Type: typeInstructions, Text: text})
	return Unknown{Provider: source, Raw: raw}, err
}

// InstructionsIn is the text of imported instructions; false: the block holds none.
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

// ImportedInstructions are those that came with a conversation, of its first turn; empty:
// there were none.
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
