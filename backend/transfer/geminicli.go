package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"contextinfinity/backend/chat"
)

// geminiCLI parses a session of Gemini CLI: an object with its messages, or lines of them, of which a later one with the
// same id replaces the earlier one.
type geminiCLI struct {
	d        *draft
	messages []json.RawMessage
	at       map[string]int // in messages, by id
}

func newGeminiCLI(string) builder {
	return &geminiCLI{d: newDraft(SourceGeminiCLI), at: map[string]int{}}
}

func (b *geminiCLI) add(raw json.RawMessage) string {
	var l struct {
		Session  str             `json:"sessionId"`
		Kind     str             `json:"kind"`
		Start    moment          `json:"startTime"`
		Updated  moment          `json:"lastUpdated"`
		Summary  str             `json:"summary"`
		Messages list            `json:"messages"`
		Type     str             `json:"type"`
		ID       str             `json:"id"`
		Set      json.RawMessage `json:"$set"`
		Rewind   str             `json:"$rewindTo"`
	}
	if json.Unmarshal(raw, &l) != nil {
		return "Not a line of a session."
	}
	b.d.ID, b.d.Title = cmp.Or(b.d.ID, string(l.Session)), cmp.Or(string(l.Summary), b.d.Title)
	if b.d.CreatedAt.IsZero() {
		b.d.CreatedAt = b.d.date(l.Start)
	}
	if at := b.d.date(l.Updated); !at.IsZero() {
		b.d.UpdatedAt = at
	}
	if l.Kind == "subagent" {
		b.d.agent = "Agent"
	}
	switch {
	case !isNull(l.Set):
		return b.add(l.Set)
	case l.Rewind != "":
		if at, ok := b.at[string(l.Rewind)]; ok && at < len(b.messages) {
			b.messages = b.messages[:at]
		}
	case l.Type != "":
		b.put(string(l.ID), raw)
	}
	for _, m := range l.Messages {
		id, _ := textOf(valueOf(m, "id"))
		b.put(id, m)
	}
	return ""
}

func (b *geminiCLI) put(id string, raw json.RawMessage) {
	at, known := b.at[id]
	if known && id != "" && at < len(b.messages) {
		b.messages[at] = bytes.Clone(raw)
		return
	}
	b.at[id] = len(b.messages)
	b.messages = append(b.messages, bytes.Clone(raw))
}

func (b *geminiCLI) drafts() []*draft {
	b.d.Provider = "google"
	for _, raw := range b.messages {
		b.d.follow(b.node(raw))
	}
	return []*draft{b.d}
}

func (b *geminiCLI) node(raw json.RawMessage) node {
	var m struct {
		ID       str             `json:"id"`
		Type     str             `json:"type"`
		Time     moment          `json:"timestamp"`
		Content  json.RawMessage `json:"content"`
		Thoughts list            `json:"thoughts"`
		Calls    list            `json:"toolCalls"`
		Model    str             `json:"model"`
		Tokens   struct {
			Input    count `json:"input"`
			Output   count `json:"output"`
			Cached   count `json:"cached"`
			Thoughts count `json:"thoughts"`
		} `json:"tokens"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Type != "user" && m.Type != "gemini" {
		return b.d.hidden(raw) // notes of the program
	}
	n := node{key: string(m.ID), at: m.Time, kind: kindUser}
	if m.Type == "gemini" {
		n.kind, n.model, n.provider = kindAssistant, string(m.Model), "google"
		for _, thought := range m.Thoughts {
			var t struct {
				Subject     str `json:"subject"`
				Description str `json:"description"`
			}
			_ = json.Unmarshal(thought, &t) // unexpected fields are left empty
			n.blocks = append(n.blocks, chat.Reasoning{
				Provider: string(b.d.Source), Summary: strings.TrimSpace(string(t.Subject + "\n" + t.Description)), Raw: thought,
			})
		}
		if t := m.Tokens; t.Input+t.Output > 0 {
			n.usage = &chat.Usage{
				InputTokens:       int(t.Input),
				OutputTokens:      int(t.Output + t.Thoughts),
				CachedInputTokens: int(t.Cached),
				ReasoningTokens:   int(t.Thoughts),
			}
		}
	}
	n.blocks = append(n.blocks, geminiParts(b.d.Source, m.Content)...)
	for _, call := range m.Calls {
		n.blocks = append(n.blocks, b.call(call)...)
	}
	return n
}

func (b *geminiCLI) call(raw json.RawMessage) chat.Blocks {
	var c struct {
		ID      str             `json:"id"`
		Name    str             `json:"name"`
		Args    json.RawMessage `json:"args"`
		Result  list            `json:"result"`
		Display json.RawMessage `json:"resultDisplay"`
		Status  str             `json:"status"`
	}
	if json.Unmarshal(raw, &c) != nil || c.Name == "" {
		return chat.Blocks{b.d.unknown(raw)}
	}
	out := chat.Blocks{chat.ToolUse{ToolUseID: string(c.ID), Name: string(c.Name), Input: chat.RawJSON(c.Args)}}
	var content chat.Blocks
	for _, part := range c.Result {
		content = append(content, geminiParts(b.d.Source, part)...)
	}
	if text, ok := textOf(c.Display); ok && len(content) == 0 {
		content = texts(text)
	}
	if len(content) > 0 || c.Status != "" {
		out = append(out, chat.ToolResult{ToolUseID: string(c.ID), Content: notNil(content), IsError: c.Status == "error"})
	}
	return out
}

// geminiParts converts the parts of a content of the Gemini API: texts, thoughts, data, calls and responses.
func geminiParts(source Source, raw json.RawMessage) chat.Blocks {
	var out chat.Blocks
	items := list{raw}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '[' {
		_ = items.UnmarshalJSON(raw)
	}
	for _, item := range items {
		var p struct {
			Text    json.RawMessage `json:"text"`
			Thought truth           `json:"thought"`
			Data    struct {
				Media str `json:"mimeType"`
				Data  str `json:"data"`
			} `json:"inlineData"`
			Call struct {
				ID   str             `json:"id"`
				Name str             `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
			Response struct {
				ID       str             `json:"id"`
				Name     str             `json:"name"`
				Response json.RawMessage `json:"response"`
			} `json:"functionResponse"`
		}
		if len(item) == 0 || item[0] != '{' || json.Unmarshal(item, &p) != nil {
			out = append(out, parts(source, item)...)
			continue
		}
		text, isText := textOf(p.Text)
		switch {
		case bool(p.Thought) && isText:
			out = append(out, chat.Reasoning{Provider: string(source), Summary: text, Raw: item})
		case isText && text != "":
			out = append(out, texts(text)...)
		case p.Data.Data != "" && imageBlock(string(p.Data.Media), string(p.Data.Data)) != nil:
			out = append(out, imageBlock(string(p.Data.Media), string(p.Data.Data))...)
		case p.Call.Name != "":
			out = append(out, chat.ToolUse{ToolUseID: string(p.Call.ID), Name: string(p.Call.Name), Input: chat.RawJSON(p.Call.Args)})
		case p.Response.Name != "":
			out = append(out, output(source, p.Response.Response, 0)...)
		default:
			out = append(out, parts(source, item)...)
		}
	}
	return out
}

// geminiCLI reads a session of Gemini CLI, as an object or as lines.
func (r *run) geminiCLI(in Input, from io.Reader) error {
	return r.collect(in, newScanner(from, MaxEntryBytes), newGeminiCLI(in.Name))
}
