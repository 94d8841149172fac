package chat

import (
	"crypto/sha256"
	"encoding/hex"
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

// Limits for tool output in memory: per result, and per message.
const (
	indexedResult  = 64 << 10
	indexedResults = 256 << 10
)

// MemoryTools are the built-in tools that quote memory. Their results are not added to memory again (SPEC 9).
var MemoryTools = map[string]bool{"search_memory": true, "get_turn": true, "list_sessions": true}

// ToolText returns the tool output that is added to memory.
func (m Message) ToolText() string {
	quotesMemory := map[string]bool{} // by tool use
	var parts []string
	remaining := indexedResults
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case ToolUse:
			name := b.Name
			if i := strings.LastIndex(name, "__"); i >= 0 && name[:i] == ToolSourceBuiltin {
				name = name[i+2:]
			}
			quotesMemory[b.ToolUseID] = MemoryTools[name]
		case ToolResult:
			text := strings.TrimSpace(b.Content.RenderedText())
			if limit := min(remaining, indexedResult); len(text) > limit {
				text = strings.ToValidUTF8(text[:limit], "")
			}
			if text != "" && !quotesMemory[b.ToolUseID] {
				parts = append(parts, text)
				remaining -= len(text)
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

// IndexedText returns the indexed text of a message: its visible text followed by tool output. Offsets in the visible
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
