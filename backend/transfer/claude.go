package transfer

import (
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
)

// noParentClaude and noParentLibre are the parent of a first message in Claude.ai and LibreChat.
const (
	noParentClaude = "00000000-0000-4000-8000-000000000000"
	noParentLibre  = "00000000-0000-0000-0000-000000000000"
)

type claudeConversation struct {
	UUID      str    `json:"uuid"`
	Name      str    `json:"name"`
	CreatedAt moment `json:"created_at"`
	UpdatedAt moment `json:"updated_at"`
	Model     str    `json:"model"`
	Starred   truth  `json:"is_starred"`
	Archived  truth  `json:"is_archived"`
	Leaf      str    `json:"current_leaf_message_uuid"`
	Project   struct {
		Name str `json:"name"`
	} `json:"project"`
	Messages list `json:"chat_messages"`
}

type claudeMessage struct {
	UUID        str             `json:"uuid"`
	Parent      *str            `json:"parent_message_uuid"`
	Sender      str             `json:"sender"`
	Text        str             `json:"text"`
	Content     json.RawMessage `json:"content"`
	CreatedAt   moment          `json:"created_at"`
	Model       str             `json:"model"`
	Truncated   truth           `json:"truncated"`
	StopReason  str             `json:"stop_reason"`
	Attachments list            `json:"attachments"`
	Files       list            `json:"files"`
}

// claude parses a conversation of Claude.ai: a list, or a tree if messages name a parent.
func claude(raw json.RawMessage) *draft {
	d := newDraft(SourceClaude)
	var c claudeConversation
	if err := json.Unmarshal(raw, &c); err != nil && c.Messages == nil {
		d.skip = "Not a Claude.ai conversation."
		return d
	}
	d.ID, d.Title, d.CreatedAt, d.UpdatedAt = string(c.UUID), string(c.Name), d.date(c.CreatedAt), d.date(c.UpdatedAt)
	d.Provider, d.Model, d.leaf = "anthropic", string(c.Model), string(c.Leaf)
	d.Pinned, d.Archived, d.Folder = bool(c.Starred), bool(c.Archived), string(c.Project.Name)
	if c.Messages == nil {
		d.skip = "It has no list of messages."
		return d
	}
	for _, raw := range c.Messages {
		var m claudeMessage
		if json.Unmarshal(raw, &m) != nil {
			d.follow(d.hidden(raw))
			continue
		}
		d.place(claudeNode(d, raw, m), m.Parent, noParentClaude)
	}
	return d
}

// place adds a message below its parent, or after the previous one if it names none.
func (d *draft) place(n node, parent *str, root string) {
	switch {
	case parent == nil:
		d.follow(n)
	case *parent == "" || string(*parent) == root:
		d.add(n)
	default:
		n.parent = string(*parent)
		d.add(n)
	}
}

func claudeNode(d *draft, raw json.RawMessage, m claudeMessage) node {
	n := node{
		key: string(m.UUID), at: m.CreatedAt, provider: "anthropic", model: string(m.Model),
		incomplete: bool(m.Truncated) || m.StopReason == "user_canceled" || m.StopReason == "max_tokens",
	}
	n.blocks = parts(d.Source, m.Content)
	if strings.TrimSpace(n.blocks.RenderedText()) == "" { // older exports only contain the text
		n.blocks = append(n.blocks, texts(string(m.Text))...)
	}
	for _, a := range m.Attachments {
		n.blocks = append(n.blocks, claudeAttachment(d, a))
	}
	n.blocks = append(n.blocks, d.unknowns(m.Files)...)
	d.speak(&n, m.Sender, raw)
	return n
}

func claudeAttachment(d *draft, raw json.RawMessage) chat.Block {
	var a struct {
		Name    str `json:"file_name"`
		Type    str `json:"file_type"`
		Content str `json:"extracted_content"`
	}
	_ = json.Unmarshal(raw, &a) // unexpected fields are left empty
	return d.attached(a.Name, a.Type, a.Content, raw)
}
