package transfer

import (
	"cmp"
	"encoding/json"

	"contextinfinity/backend/chat"
)

type libreConversation struct {
	ID        str            `json:"conversationId"`
	Endpoint  str            `json:"endpoint"`
	Title     str            `json:"title"`
	CreatedAt moment         `json:"createdAt"`
	UpdatedAt moment         `json:"updatedAt"`
	Archived  truth          `json:"isArchived"`
	Options   libreOptions   `json:"options"`
	Messages  []libreMessage `json:"messages"`
	Tree      []libreMessage `json:"messagesTree"`
}

type libreOptions struct {
	Model  str `json:"model"`
	Prompt str `json:"promptPrefix"`
	System str `json:"system"`
}

// libreMessage contains its children, nested as deep as the conversation is long, so it is parsed in one go.
type libreMessage struct {
	ID         str             `json:"messageId"`
	Parent     *str            `json:"parentMessageId"`
	Text       json.RawMessage `json:"text"`
	Content    json.RawMessage `json:"content"`
	Sender     str             `json:"sender"`
	User       truth           `json:"isCreatedByUser"`
	Model      str             `json:"model"`
	Endpoint   str             `json:"endpoint"`
	CreatedAt  moment          `json:"createdAt"`
	Unfinished truth           `json:"unfinished"`
	Error      truth           `json:"error"`
	Finish     str             `json:"finish_reason"`
	Files      list            `json:"files"`
	Children   []libreMessage  `json:"children"`
}

// libreChat parses a conversation of LibreChat: a list, a list with parents, or nested.
func libreChat(raw json.RawMessage) *draft {
	d := newDraft(SourceLibreChat)
	d.orphans = true
	var c libreConversation
	err := json.Unmarshal(raw, &c)
	if err != nil && len(c.Messages) == 0 && len(c.Tree) == 0 {
		d.skip = "Not a LibreChat conversation."
	}
	if err != nil && d.skip == "" {
		d.notice("Parts of it were malformed, and were read as far as possible.", 1)
	}
	d.ID, d.Title, d.CreatedAt, d.UpdatedAt = string(c.ID), string(c.Title), d.date(c.CreatedAt), d.date(c.UpdatedAt)
	d.Provider, d.Model, d.Archived = string(c.Endpoint), string(c.Options.Model), bool(c.Archived)
	d.SystemPrompt = string(cmp.Or(c.Options.Prompt, c.Options.System))
	messages := c.Messages
	if len(messages) == 0 {
		messages = c.Tree
	}
	d.libreTree(messages)
	return d
}

// libreTree adds messages and their descendants.
func (d *draft) libreTree(roots []libreMessage) {
	type level struct {
		messages []libreMessage
		parent   string // of a nested message; empty: it names its parent itself
	}
	stack := []level{{messages: roots}}
	for len(stack) > 0 {
		l := &stack[len(stack)-1]
		if len(l.messages) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		m := l.messages[0]
		l.messages = l.messages[1:]
		n := d.libreNode(m)
		var key string
		if l.parent != "" {
			n.parent = l.parent
			key = d.add(n)
		} else {
			d.place(n, m.Parent, noParentLibre)
			key = d.last().key
		}
		if len(m.Children) > 0 {
			stack = append(stack, level{messages: m.Children, parent: key})
		}
	}
}

func (d *draft) libreNode(m libreMessage) node {
	n := node{
		key: string(m.ID), at: m.CreatedAt, kind: kindAssistant, model: string(m.Model), provider: string(m.Endpoint),
		incomplete: bool(m.Unfinished) || m.Finish == "length", failed: bool(m.Error),
	}
	if m.User || m.Sender == "User" {
		n.kind = kindUser
	}
	n.blocks = parts(d.Source, m.Content)
	if n.blocks.RenderedText() == "" {
		n.blocks = append(n.blocks, parts(d.Source, m.Text)...)
	}
	if n.failed {
		n.failure = n.blocks.RenderedText()
	}
	for _, raw := range m.Files {
		var f struct {
			Name str `json:"filename"`
			Type str `json:"type"`
			Text str `json:"text"`
		}
		_ = json.Unmarshal(raw, &f) // unexpected fields are left empty
		n.blocks = append(n.blocks, d.attached(f.Name, f.Type, f.Text, raw))
	}
	return n
}

// libreCall is a call in LibreChat, including its result.
func libreCall(source Source, raw json.RawMessage, level int) chat.Blocks {
	var c struct {
		ID       str             `json:"id"`
		Name     str             `json:"name"`
		Args     json.RawMessage `json:"args"`
		Output   json.RawMessage `json:"output"`
		Function struct {
			Name      str             `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Output    json.RawMessage `json:"output"`
		} `json:"function"`
	}
	if isNull(raw) || json.Unmarshal(raw, &c) != nil || c.Name == "" && c.Function.Name == "" {
		return nil
	}
	if c.Name == "" {
		c.Name, c.Args, c.Output = c.Function.Name, c.Function.Arguments, c.Function.Output
	}
	out := chat.Blocks{chat.ToolUse{ToolUseID: string(c.ID), Name: string(c.Name), Input: arguments(c.Args)}}
	if !isNull(c.Output) {
		out = append(out, chat.ToolResult{ToolUseID: string(c.ID), Content: output(source, c.Output, level)})
	}
	return out
}
