package transfer

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// chatboxSession is a conversation in Chatbox's backup: its messages, alternative answers (forks), and earlier
// conversations (threads).
type chatboxSession struct {
	ID         str                        `json:"id"`
	Name       str                        `json:"name"`
	Starred    truth                      `json:"starred"`
	ThreadName str                        `json:"threadName"`
	Messages   list                       `json:"messages"`
	Threads    list                       `json:"threads"`
	Forks      map[string]json.RawMessage `json:"messageForksHash"`
}

type chatboxMessage struct {
	ID         str             `json:"id"`
	Role       str             `json:"role"`
	Parts      list            `json:"contentParts"`
	Content    json.RawMessage `json:"content"`          // of older versions
	Reasoning  str             `json:"reasoningContent"` // of older versions
	Provider   str             `json:"aiProvider"`
	Model      str             `json:"model"`
	Time       moment          `json:"timestamp"`
	Usage      json.RawMessage `json:"usage"`
	Finish     str             `json:"finishReason"`
	Generating truth           `json:"generating"`
	Error      str             `json:"error"`
	Summary    truth           `json:"isSummary"`
	Files      list            `json:"files"`
	Links      list            `json:"links"`
	Browsing   json.RawMessage `json:"webBrowsing"`
}

// chatboxFile parses Chatbox's backup: an object with a member for each session, or, in older versions, with a list
// of them.
func (r *run) chatboxFile(_ Input, from io.Reader) error {
	s := newScanner(from, MaxEntryBytes)
	at := 0
	take := func(_ int, e element) error {
		at++
		return r.element(at-1, e, entry(chatbox))
	}
	return r.objects(s, func(key string) (bool, error) {
		switch {
		case strings.HasPrefix(key, "session:"):
			e, err := s.value()
			if err != nil {
				return true, err
			}
			return true, take(0, e)
		case key == "chat-sessions":
			return true, s.list(take)
		}
		return false, nil
	})
}

// chatbox parses a session: the current conversation, and each thread. A conversation is identified by its first
// message, because Chatbox swaps the current one with a thread.
func chatbox(raw json.RawMessage) []*draft {
	var c chatboxSession
	if _ = json.Unmarshal(raw, &c); c.Messages == nil {
		d := newDraft(SourceChatbox)
		d.skip = "Not a Chatbox session: it has no list of messages."
		return []*draft{d}
	}
	name := c.Name
	if c.ThreadName != "" && len(c.Threads) > 0 {
		name = c.ThreadName
	}
	out := []*draft{chatboxDraft(c, name, c.Messages)}
	for _, raw := range c.Threads {
		var thread struct {
			Name     str  `json:"name"`
			Messages list `json:"messages"`
		}
		_ = json.Unmarshal(raw, &thread) // unexpected fields are left empty
		thread.Name = cmp.Or(thread.Name, c.Name)
		out = append(out, chatboxDraft(c, thread.Name, thread.Messages))
	}
	return out
}

func chatboxDraft(c chatboxSession, title str, messages list) *draft {
	d := newDraft(SourceChatbox)
	d.Title, d.Pinned = string(title), bool(c.Starred)
	t := chatboxTree{d: d, forks: c.Forks}
	d.leaf = t.add(messages, "")
	if len(d.nodes) > 0 {
		d.ID = string(c.ID) + "/" + d.nodes[0].key
	}
	return d
}

// chatboxTree adds messages below each other. A fork lists the alternative continuations of a message; the list at its
// position is empty, because its messages are in the conversation itself.
type chatboxTree struct {
	d     *draft
	forks map[string]json.RawMessage
}

// add returns the key of the last message.
func (t *chatboxTree) add(messages list, parent string) string {
	type branch struct {
		messages list
		parent   string
	}
	var later []branch
	for _, raw := range messages {
		if len(t.d.nodes) > MaxMessages { // the conversation is skipped; more forks would only take memory
			break
		}
		n := chatboxNode(t.d, raw)
		n.parent = parent
		parent = t.d.add(n)
		raw, ok := t.forks[parent]
		if !ok {
			continue
		}
		delete(t.forks, parent) // each fork is added once
		var fork struct {
			Position count `json:"position"`
			Lists    []struct {
				Messages list `json:"messages"`
			} `json:"lists"`
		}
		_ = json.Unmarshal(raw, &fork)
		for i, l := range fork.Lists {
			if i < int(fork.Position) {
				t.add(l.Messages, parent)
			} else if i > int(fork.Position) {
				later = append(later, branch{l.Messages, parent})
			}
		}
	}
	for _, b := range slices.Backward(later) {
		t.add(b.messages, b.parent)
	}
	return parent
}

func chatboxNode(d *draft, raw json.RawMessage) node {
	var m chatboxMessage
	if json.Unmarshal(raw, &m) != nil {
		return d.hidden(raw)
	}
	n := node{
		key:        string(m.ID),
		at:         m.Time,
		blocks:     chatboxBlocks(d.Source, m),
		provider:   string(m.Provider),
		model:      string(m.Model),
		usage:      readUsage(m.Usage),
		incomplete: bool(m.Generating) || m.Finish == "length",
	}
	if m.Summary {
		m.Role = "" // the program wrote it
	}
	switch d.speak(&n, m.Role, raw); n.kind {
	case kindHidden:
		return n
	case kindTool:
		n.blocks = chat.Blocks{chat.ToolResult{Content: notNil(n.blocks)}}
	}
	n.blocks = append(n.blocks, d.unknowns(append(m.Files, m.Links...))...)
	n.failed, n.failure = m.Error != "", string(m.Error)
	return n
}

func chatboxBlocks(source Source, m chatboxMessage) chat.Blocks {
	var out chat.Blocks
	if !isNull(m.Browsing) {
		out = append(out, unknownBlock(source, m.Browsing))
	}
	for _, raw := range m.Parts {
		out = append(out, chatboxPart(source, raw)...)
	}
	if m.Reasoning != "" && !hasReasoning(out) {
		out = append(chat.Blocks{chat.Reasoning{Provider: string(source), Summary: string(m.Reasoning)}}, out...)
	}
	// Older versions store the text as "content". Newer ones keep it there too, and have three dots as a placeholder.
	if visible := strings.TrimSpace(out.RenderedText()); (visible == "" || visible == "...") && !isNull(m.Content) {
		out = slices.DeleteFunc(out, func(b chat.Block) bool { _, text := b.(chat.Text); return text })
		out = append(out, parts(source, m.Content)...)
	}
	return out
}

func chatboxPart(source Source, raw json.RawMessage) chat.Blocks {
	var p struct {
		Type   str             `json:"type"`
		State  str             `json:"state"`
		ID     str             `json:"toolCallId"`
		Name   str             `json:"toolName"`
		Args   json.RawMessage `json:"args"`
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(raw, &p) != nil || p.Type != "tool-call" || p.Name == "" {
		return parts(source, raw)
	}
	out := chat.Blocks{chat.ToolUse{ToolUseID: string(p.ID), Name: string(p.Name), Input: arguments(p.Args)}}
	if p.State != "call" || !isNull(p.Result) {
		out = append(out, chat.ToolResult{ToolUseID: string(p.ID), Content: toolOutput(p.Result), IsError: p.State == "error"})
	}
	return out
}

// toolOutput is a result as text: a string unchanged, another value as JSON.
func toolOutput(raw json.RawMessage) chat.Blocks {
	text, ok := textOf(raw)
	if !ok {
		text = string(raw)
	}
	return notNil(texts(text))
}

func hasReasoning(bs chat.Blocks) bool {
	return slices.ContainsFunc(bs, func(b chat.Block) bool { _, is := b.(chat.Reasoning); return is })
}
