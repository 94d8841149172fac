package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Role is the speaker of a message. System text is not a message (SRD 5.2).
type Role string

const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is a role and its blocks. Rendered text is derived and never stored separately, so the two always agree.
type Message struct {
	Role   Role   `json:"role"`
	Name   string `json:"name,omitempty"` // the speaker's name, if known: in an imported group chat
	Blocks Blocks `json:"blocks"`
}

// UserText returns a user's message of plain text.
func UserText(s string) Message {
	return Message{Role: RoleUser, Blocks: Blocks{Text{Text: s}}}
}

// AssistantText returns an assistant's message of plain text.
func AssistantText(s string) Message {
	return Message{Role: RoleAssistant, Blocks: Blocks{Text{Text: s}}}
}

// RenderedText returns the visible text: text and refusal blocks, joined by an empty
// line (SRD 5.1).
func (m Message) RenderedText() string { return m.Blocks.RenderedText() }

// RenderedText returns the visible text of the blocks.
func (bs Blocks) RenderedText() string {
	var parts []string
	for _, b := range bs {
		switch b := b.(type) {
		case Text:
			if b.Text != "" {
				parts = append(parts, b.Text)
			}
		case Refusal:
			if b.Text != "" {
				parts = append(parts, b.Text)
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

// Limits for the text of tool calls in memory: per result or call, and per message.
const (
	indexedResult  = 64 << 10
	indexedResults = 256 << 10
)

// MemoryTools are the built-in tools that quote memory. Their results are not added to memory again (SPEC 9).
var MemoryTools = map[string]bool{"search_memory": true, "get_turn": true, "list_sessions": true}

// ToolText returns the text of tool calls that is added to memory: their output, then the words of their arguments.
func (m Message) ToolText() string {
	quotesMemory := map[string]bool{} // by tool use
	var parts, arguments []string
	remaining := indexedResults
	take := func(text string) string {
		text = strings.TrimSpace(text)
		if limit := min(remaining, indexedResult); len(text) > limit {
			text = strings.ToValidUTF8(text[:limit], "")
		}
		remaining -= len(text)
		return text
	}
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case ToolUse:
			name := b.Name
			if i := strings.LastIndex(name, "__"); i >= 0 && name[:i] == ToolSourceBuiltin {
				name = name[i+2:]
			}
			quotesMemory[b.ToolUseID] = MemoryTools[name]
		case ToolResult:
			if quotesMemory[b.ToolUseID] {
				continue
			}
			if text := take(b.Content.RenderedText()); text != "" {
				parts = append(parts, text)
			}
		}
	}
	for _, b := range m.Blocks { // last, so that the offsets of output stay valid
		if use, ok := b.(ToolUse); ok && !quotesMemory[use.ToolUseID] {
			if text := take(use.argumentText()); text != "" {
				arguments = append(arguments, text)
			}
		}
	}
	return strings.Join(append(parts, arguments...), "\n\n")
}

// argumentText returns the texts in a call's arguments, one a line.
func (u ToolUse) argumentText() string {
	var lines []string
	decoder := json.NewDecoder(bytes.NewReader(u.Input))
	isKey := false
	var objects []bool // whether each open bracket is an object
	for {
		token, err := decoder.Token()
		if err != nil {
			return strings.Join(lines, "\n")
		}
		inObject := len(objects) > 0 && objects[len(objects)-1]
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				objects, isKey = append(objects, v == '{'), v == '{'
				continue
			}
			objects = objects[:len(objects)-1]
		case string:
			if inObject && isKey {
				isKey = false
				continue
			}
			if v = strings.TrimSpace(v); v != "" {
				lines = append(lines, v)
			}
		}
		isKey = len(objects) > 0 && objects[len(objects)-1]
	}
}

// IndexedText returns the indexed text of a message: its visible text followed by the text of tool calls. Offsets in the visible
// text are valid in it.
func (m Message) IndexedText() string {
	visible, tools := m.RenderedText(), m.ToolText()
	if tools == "" {
		return visible
	}
	return visible + toolGap + tools
}

const toolGap = "\n\n"

// ToolTextAt returns the offset of ToolText in IndexedText.
func (m Message) ToolTextAt() int { return len(m.RenderedText()) + len(toolGap) }

// IsEmpty reports whether the message has no content that can be shown or sent.
func (m Message) IsEmpty() bool {
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case Text:
			if strings.TrimSpace(b.Text) != "" {
				return false
			}
		case Memory, Edit: // only have an effect together with text
		default:
			return false
		}
	}
	return true
}

// HashText returns the content hash of a text: hex SHA-256 (SRD 4.3).
func HashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
