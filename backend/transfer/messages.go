package transfer

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"contextinfinity/backend/chat"
)

// plainMessage is a message as written by programs without a format of their own.
type plainMessage struct {
	ID           str             `json:"id"`
	Parent       *str            `json:"parent"`
	ParentID     *str            `json:"parent_id"`
	Conv         str             `json:"conv"`
	Conversation json.RawMessage `json:"conversation"`
	ConvID       str             `json:"conversation_id"`
	Session      str             `json:"session"`
	Title        str             `json:"title"`
	Date         json.RawMessage `json:"date"`
	Timestamp    json.RawMessage `json:"timestamp"`
	CreatedAt    json.RawMessage `json:"created_at"`
	Speaker      str             `json:"speaker"`
	Role         str             `json:"role"`
	Name         str             `json:"name"`
	Text         json.RawMessage `json:"text"`
	Content      json.RawMessage `json:"content"`
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
	for _, s := range []string{string(m.Conv), name, string(m.ConvID), string(m.Session)} {
		if s != "" {
			return s
		}
	}
	return ""
}

// plainNode converts a message by its role. ok is false if the message names no speaker, or is not a message at all.
func plainNode(source Source, raw json.RawMessage) (n node, m plainMessage, ok bool) {
	if json.Unmarshal(raw, &m) != nil {
		return n, m, false
	}
	role := cmp.Or(m.Role, m.Speaker)
	n = node{key: string(m.ID), model: string(m.Model), usage: readUsage(m.Usage)}
	for _, raw := range []json.RawMessage{m.Timestamp, m.CreatedAt, m.Date} {
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
	n.blocks = append(n.blocks, parts(source, content)...)
	for _, c := range m.ToolCalls {
		if call := libreCall(source, c, 0); call != nil {
			n.blocks = append(n.blocks, call...)
		} else {
			n.blocks = append(n.blocks, unknownBlock(source, c))
		}
	}
	switch strings.ToLower(strings.TrimSpace(string(role))) {
	case "":
		return n, m, false
	case "user", "human":
		n.kind, n.model, n.name = kindUser, "", string(m.Name)
		if allResults(n.blocks) {
			n.kind, n.name = kindTool, ""
		}
	case "assistant", "ai", "bot", "model":
		n.kind = kindAssistant
	case "system", "developer":
		n.kind = kindSystem
	case "tool", "function":
		n.kind, n.blocks = kindTool, chat.Blocks{chat.ToolResult{ToolUseID: string(m.ToolCallID), Content: notNil(n.blocks)}}
	default: // a person, unless other messages have known roles
		n.kind, n.name = kindUser, string(role)
		m.unknownRole = m.Role != ""
	}
	return n, m, true
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
	parent := cmp.Or(m.Parent, m.ParentID)
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
	head, err := Head(in.Data, in.Size)
	if err != nil {
		return unreadable(in.Name, err)
	}
	g := inspectHead(head)
	if g.has("messages") {
		return r.elements(from, conversationObject)
	}
	if in.Size > MaxEntryBytes {
		return tooLarge(in.Name, MaxEntryBytes)
	}
	p := newPlain(SourceMessages, "")
	s := newScanner(from, MaxEntryBytes)
	for i, document := 0, 0; ; i++ {
		e, err := s.next()
		if s.document != document { // another list is another conversation
			document = s.document
			if err := r.take(p.done(), i, 0); err != nil {
				return err
			}
			p = newPlain(SourceMessages, "")
		}
		if err != nil {
			r.reportUnexpected(i, s)
			if failed := r.ended(err, e.offset); failed != nil {
				return failed
			}
			break
		}
		raw, fixed, reason := elementJSON(e)
		if e.torn {
			r.torn(e.offset)
			reason = "The file ends inside it."
		}
		if reason == "" {
			p.d.repaired.add(fixed)
			reason = p.take(raw)
		}
		if reason != "" {
			r.skip(SkippedRow{Index: i, Offset: e.offset, Reason: reason})
		}
	}
	return r.take(p.done(), 0, 0)
}

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
		Messages  json.RawMessage `json:"messages"`
	}
	p := newPlain(SourceMessages, "")
	if json.Unmarshal(raw, &c) != nil {
		p.d.skip = "Not a conversation: it has no list of messages."
		return p.d
	}
	if p.d.ID = string(c.ID); p.d.ID == "" {
		p.d.ID = string(c.ConvID)
	}
	if p.d.Title = string(c.Title); p.d.Title == "" {
		p.d.Title = string(c.Name)
	}
	p.d.Model, p.d.CreatedAt, p.d.UpdatedAt = string(c.Model), p.d.date(c.CreatedAt), p.d.date(c.UpdatedAt)
	p.d.SystemPrompt = parts(SourceMessages, c.System).RenderedText()
	var messages list
	if _ = messages.UnmarshalJSON(c.Messages); messages == nil {
		p.d.skip = "Not a conversation: its messages are not a list."
		return p.d
	}
	for _, m := range messages {
		if p.take(m) != "" {
			p.d.notice("A message does not name a speaker; it was kept but is not shown.", 1)
			p.put(node{kind: kindHidden, blocks: chat.Blocks{p.d.unknown(m)}}, plainMessage{})
		}
	}
	return p.done()
}
