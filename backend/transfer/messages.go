package transfer

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// plainMessage is a message as written by programs without a format of their own.
type plainMessage struct {
	ID           str             `json:"id"`
	Parent       *str            `json:"parent"`
	ParentID     *str            `json:"parent_id"`
	ParentMsg    *str            `json:"parentId"`
	Conv         str             `json:"conv"`
	Conversation json.RawMessage `json:"conversation"`
	ConvID       str             `json:"conversation_id"`
	Session      str             `json:"session"`
	Title        str             `json:"title"`
	Date         json.RawMessage `json:"date"`
	Timestamp    json.RawMessage `json:"timestamp"`
	CreatedAt    json.RawMessage `json:"created_at"`
	Created      json.RawMessage `json:"createdAt"` // of Le Chat, like parentId
	Speaker      str             `json:"speaker"`
	Role         str             `json:"role"`
	Name         str             `json:"name"`
	Text         json.RawMessage `json:"text"`
	Content      json.RawMessage `json:"content"`
	Parts        json.RawMessage `json:"parts"` // of the Gemini API
	Model        str             `json:"model"`
	Reasoning    str             `json:"reasoning_content"`
	ToolCalls    list            `json:"tool_calls"`
	ToolCallID   str             `json:"tool_call_id"`
	Usage        json.RawMessage `json:"usage"`
	unknownRole  bool            // its role is unknown
}

// conversation is the name of a line's conversation.
func (m plainMessage) conversation() string {
	name, _ := textOf(m.Conversation)
	return string(cmp.Or(m.Conv, str(name), m.ConvID, m.Session))
}

// plainNode converts a message by its role. ok is false if the message names no speaker, or is not a message at all.
func plainNode(source Source, raw json.RawMessage) (n node, m plainMessage, ok bool) {
	if json.Unmarshal(raw, &m) != nil {
		return n, m, false
	}
	role := cmp.Or(m.Role, m.Speaker)
	n = node{key: string(m.ID), model: string(m.Model), usage: readUsage(m.Usage)}
	for _, raw := range []json.RawMessage{m.Timestamp, m.CreatedAt, m.Created, m.Date} {
		if at := readMoment(raw); n.at.IsZero() && (!at.IsZero() || n.at.unread == "") {
			n.at = at
		}
	}
	if m.Reasoning != "" {
		n.blocks = append(n.blocks, chat.Reasoning{Provider: string(source), Summary: string(m.Reasoning)})
	}
	content := m.Content
	if isNull(content) {
		content = m.Text
	}
	if n.blocks = append(n.blocks, parts(source, content)...); isNull(content) && !isNull(m.Parts) {
		n.blocks = append(n.blocks, geminiParts(source, m.Parts)...)
	}
	for _, c := range m.ToolCalls {
		if call := libreCall(source, c, 0); call != nil {
			n.blocks = append(n.blocks, call...)
		} else {
			n.blocks = append(n.blocks, unknownBlock(source, c))
		}
	}
	switch n.kind = kindOf(role); n.kind {
	case kindUser:
		if n.name = string(m.Name); allResults(n.blocks) {
			n.kind, n.name = kindTool, ""
		}
	case kindTool:
		n.blocks = chat.Blocks{chat.ToolResult{ToolUseID: string(m.ToolCallID), Content: notNil(n.blocks)}}
	case kindHidden: // a person, unless other messages have known roles
		n.kind, n.name = kindUser, string(role)
		m.unknownRole = m.Role != ""
	}
	return n, m, strings.TrimSpace(string(role)) != ""
}

const noticeRole = "A message has an unknown role; it was kept but is not shown."

// unknownRoles keeps messages with an unknown role raw if other messages have a known one. If none has, roles are the
// names of people.
func (p *plain) unknownRoles() {
	for i, m := range p.messages {
		if p.knownRole && m.unknownRole {
			p.nodes[i] = node{key: p.nodes[i].key, at: p.nodes[i].at, kind: kindHidden, blocks: chat.Blocks{p.d.unknown(p.raw[i])}}
			p.d.notice(noticeRole, 1)
		}
	}
}

// allResults reports whether a user message consists of tool results only.
func allResults(bs chat.Blocks) bool {
	for _, b := range bs {
		if _, ok := b.(chat.ToolResult); !ok {
			return false
		}
	}
	return len(bs) > 0
}

// thread adds messages in order: below the parent they name, otherwise after the previous one.
func (d *draft) thread(n node, m plainMessage) {
	parent := cmp.Or(m.Parent, m.ParentID, m.ParentMsg)
	if n.key == "" {
		parent = nil
	}
	d.place(n, parent, "")
}

// pairPeople pairs messages between people: of two consecutive messages in a session, the second becomes the answer. In
// a conversation with roles nothing is paired.
func pairPeople(nodes []node, sessions []string) {
	named := false
	for _, n := range nodes {
		named = named || n.kind == kindUser && n.name != ""
		if n.kind >= kindAssistant {
			return
		}
	}
	for i := 0; named && i+1 < len(nodes); i++ {
		a, b := nodes[i], nodes[i+1]
		if a.kind == kindUser && b.kind == kindUser && sessions[i] == sessions[i+1] {
			nodes[i+1].kind = kindAssistant
			i++
		}
	}
}

// messages parses messages without a format of their own: an array of them, objects with an array as "messages", or
// arrays of such objects.
func (r *run) messages(in Input, from io.Reader) error {
	_, g, _ := detectIn(in.Name, in.Data, in.Size) // an error occurs again when it is read
	s := newScanner(from, MaxEntryBytes)
	if g.has("messages") {
		return r.each(s, entry(one(conversationObject)))
	}
	return r.collect(in, s, &messageLists{s: s, lists: []*plain{newPlain(SourceMessages, "")}})
}

// messageLists collects messages: each list of the file is a conversation.
type messageLists struct {
	s        *scanner
	document int // of s, in which the last list is
	lists    []*plain
}

func (l *messageLists) add(raw json.RawMessage) string {
	if l.s.document != l.document {
		l.document, l.lists = l.s.document, append(l.lists, newPlain(SourceMessages, ""))
	}
	return l.lists[len(l.lists)-1].add(raw)
}

func (l *messageLists) drafts() []*draft { return lists.Map(l.lists, (*plain).done) }

// conversationObject parses an object with a list of messages.
func conversationObject(raw json.RawMessage) *draft {
	var c struct {
		ID        str             `json:"id"`
		ConvID    str             `json:"conversation_id"`
		Title     str             `json:"title"`
		Name      str             `json:"name"`
		Model     str             `json:"model"`
		System    json.RawMessage `json:"system"`
		CreatedAt moment          `json:"created_at"`
		UpdatedAt moment          `json:"updated_at"`
		Messages  list            `json:"messages"`
	}
	p := newPlain(SourceMessages, "")
	if json.Unmarshal(raw, &c) != nil {
		p.d.skip = "Not a conversation: it has no list of messages."
		return p.d
	}
	p.d.ID, p.d.Title = string(cmp.Or(c.ID, c.ConvID)), string(cmp.Or(c.Title, c.Name))
	p.d.Model, p.d.CreatedAt, p.d.UpdatedAt = string(c.Model), p.d.date(c.CreatedAt), p.d.date(c.UpdatedAt)
	p.d.SystemPrompt = parts(SourceMessages, c.System).RenderedText()
	if c.Messages == nil {
		p.d.skip = "Not a conversation: its messages are not a list."
		return p.d
	}
	for _, m := range c.Messages {
		if p.add(m) != "" {
			p.d.notice("A message does not name a speaker; it was kept but is not shown.", 1)
			p.put(p.d.hidden(m), plainMessage{})
		}
	}
	return p.done()
}
