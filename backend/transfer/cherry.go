package transfer

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// MaxCherryBlocks limits the blocks of messages in a backup of Cherry Studio, whose positions are kept in memory.
const MaxCherryBlocks = 2_000_000

// MaxCherryRepeats limits, beyond the file's size, the text shared by conversations of a Cherry Studio backup: each
// contains its assistant's prompt, and topics may list the same blocks and have the same name.
const MaxCherryRepeats = 16 << 20

// cherryTopic is a conversation as listed in the program's settings.
type cherryTopic struct {
	ID        str    `json:"id"`
	Name      str    `json:"name"`
	Prompt    str    `json:"prompt"`
	Created   moment `json:"createdAt"`
	Updated   moment `json:"updatedAt"`
	Pinned    truth  `json:"pinned"`
	assistant *cherryAssistant
}

// cherryAssistant is an assistant with its topics, each of which begins with its prompt.
type cherryAssistant struct {
	Name   str           `json:"name"`
	Prompt str           `json:"prompt"`
	Topics []cherryTopic `json:"topics"`
}

// size returns how many bytes of text a conversation takes from its topic and its assistant.
func (t *cherryTopic) size() int64 {
	n := len(t.Name) + len(t.Prompt)
	if t.assistant != nil {
		n += len(t.assistant.Name) + len(t.assistant.Prompt)
	}
	return int64(n)
}

// head is a topic's folder and its system prompt.
func (t *cherryTopic) head() (folder, system string) {
	if t.assistant == nil {
		return "", string(t.Prompt)
	}
	return string(t.assistant.Name), strings.TrimSpace(string(t.assistant.Prompt) + "\n\n" + string(t.Prompt))
}

// cherryFile parses a backup of Cherry Studio, data.json: the names of topics are in the settings, topics list their
// messages, and the text of messages is in blocks in a later table. The file is read twice: for the positions of the
// blocks, and for the topics.
type cherryFile struct {
	in     Input
	topics map[string]cherryTopic
	blocks map[string]cherryBlock
	size   int64 // of the blocks of the current topic
	shared int64 // text used more than once
}

type cherryBlock struct {
	at    byteRange
	taken bool
}

// reserveShared counts n more bytes of text that is used more than once; false if that exceeds the limit.
func (f *cherryFile) reserveShared(n int64) bool {
	if f.shared+n > f.in.Size+MaxCherryRepeats {
		return false
	}
	f.shared += n
	return true
}

func (r *run) cherryFile(in Input, from io.Reader) error {
	f := &cherryFile{in: in, topics: map[string]cherryTopic{}, blocks: map[string]cherryBlock{}}
	var uncounted int64 // bytes that are read twice count once
	first := newScanner(&counted{ctx: r.ctx, r: io.NewSectionReader(in.Data, 0, in.Size), n: &uncounted, onRead: func() {}}, MaxEntryBytes)
	if err := first.documents(func(key string) (bool, error) { return f.index(first, key) }); r.ctx.Err() != nil {
		return err
	}
	s, at := newScanner(from, MaxEntryBytes), 0
	take := func(_ int, e element) error {
		at++
		return r.element(at-1, e, entry(f.topic))
	}
	return r.objects(s, func(key string) (bool, error) {
		first, err := s.peek()
		switch {
		case err != nil || key != "indexedDB":
			return false, err
		case first == '[': // the first version of backups: key and value entries
			return true, s.list(take)
		case first != '{':
			return false, nil
		}
		return true, s.object(func(table string) (bool, error) {
			if table != "topics" {
				return false, nil
			}
			return true, s.list(take)
		})
	})
}

// index records the topics' names and the blocks' positions.
func (f *cherryFile) index(s *scanner, key string) (bool, error) {
	first, err := s.peek()
	if err != nil || first != '{' {
		return false, err
	}
	switch key {
	case "localStorage":
		e, err := s.value()
		if e.check(); err == nil && !e.torn && e.reason == "" {
			f.names(e.raw)
		}
		return true, err
	case "indexedDB":
		return true, s.object(func(table string) (bool, error) {
			if table != "message_blocks" {
				return false, nil
			}
			return true, s.list(func(_ int, e element) error {
				end := e.offset + int64(len(e.raw))
				var block struct {
					ID str `json:"id"`
				}
				if e.check(); e.reason == "" && json.Unmarshal(e.raw, &block) == nil && len(f.blocks) < MaxCherryBlocks {
					f.blocks[string(block.ID)] = cherryBlock{at: byteRange{e.offset, end}}
				}
				return nil
			})
		})
	}
	return false, nil
}

// names parses the settings: a JSON text of JSON texts, one of which lists the assistants with their topics.
func (f *cherryFile) names(storage json.RawMessage) {
	var store struct {
		Persist str `json:"persist:cherry-studio"`
	}
	var state struct {
		Assistants str `json:"assistants"`
	}
	var settings struct {
		Default    *cherryAssistant   `json:"defaultAssistant"`
		Assistants []*cherryAssistant `json:"assistants"`
	}
	_ = json.Unmarshal(storage, &store) // unexpected fields are left empty
	_ = json.Unmarshal([]byte(store.Persist), &state)
	_ = json.Unmarshal([]byte(state.Assistants), &settings)
	for _, a := range append([]*cherryAssistant{settings.Default}, settings.Assistants...) {
		if a == nil {
			continue
		}
		for _, t := range a.Topics {
			t.assistant = a
			f.topics[string(t.ID)] = t
		}
		a.Topics = nil
	}
}

// block reads a block, or says why there is none.
func (f *cherryFile) block(id string) (raw json.RawMessage, notice string) {
	b, ok := f.blocks[id]
	if !ok {
		return nil, noticeBlock
	}
	n := b.at.to - b.at.from
	if b.taken && !f.reserveShared(n) {
		return nil, noticeShared
	}
	if f.size += n; f.size > MaxEntryBytes {
		return nil, noticeBlock
	}
	raw = make([]byte, n)
	if _, err := f.in.Data.ReadAt(raw, b.at.from); err != nil {
		return nil, noticeBlock
	}
	f.blocks[id] = cherryBlock{b.at, true}
	e := element{raw: raw}
	if e.check(); e.reason != "" {
		return nil, noticeBlock
	}
	return e.raw, ""
}

type cherryMessage struct {
	ID       str             `json:"id"`
	Role     str             `json:"role"`
	Type     str             `json:"type"`
	Created  moment          `json:"createdAt"`
	Status   str             `json:"status"`
	ModelID  str             `json:"modelId"`
	Model    json.RawMessage `json:"model"`
	Ask      str             `json:"askId"` // the question that an answer belongs to
	Useful   truth           `json:"useful"`
	Selected truth           `json:"foldSelected"`
	Usage    json.RawMessage `json:"usage"`
	Blocks   list            `json:"blocks"`
	Content  json.RawMessage `json:"content"` // of older versions, which have no blocks
	Thought  str             `json:"reasoning_content"`
	Error    json.RawMessage `json:"error"`
}

const noticeBlock = "A part of a message is not in the backup; the rest of the message was imported."

const noticeShared = "A part or a prompt is in very many conversations of the backup; it was left out of some of them."

// topic parses a conversation. Several answers to one question follow each other; the conversation continues below
// the selected one, otherwise below the first.
func (f *cherryFile) topic(raw json.RawMessage) []*draft {
	d := newDraft(SourceCherry)
	var t struct {
		ID       str             `json:"id"`
		Key      str             `json:"key"`
		Value    json.RawMessage `json:"value"`
		Messages list            `json:"messages"`
	}
	_ = json.Unmarshal(raw, &t) // unexpected fields are left empty
	if strings.HasPrefix(string(t.Key), "topic:") {
		_ = json.Unmarshal(t.Value, &t)
	} else if t.Key != "" {
		return nil // a picture or a setting of the first version
	}
	if t.Messages == nil {
		d.skip = "Not a Cherry Studio topic: it has no list of messages."
		return []*draft{d}
	}
	info := f.topics[string(t.ID)]
	d.ID, d.Pinned = string(t.ID), bool(info.Pinned)
	if f.reserveShared(info.size()) {
		d.Title = string(info.Name)
		d.Folder, d.SystemPrompt = info.head()
	} else {
		d.notice(noticeShared, 1)
	}
	d.CreatedAt, d.UpdatedAt = d.date(info.Created), d.date(info.Updated)
	f.add(d, t.Messages)
	return []*draft{d}
}

func (f *cherryFile) add(d *draft, messages list) {
	f.size = 0
	questions, current, chosen := map[string]bool{}, "", false // current question, and whether an answer to it was selected
	for _, raw := range messages {
		var m cherryMessage
		if json.Unmarshal(raw, &m) != nil {
			n := d.hidden(raw)
			n.parent = d.leaf
			d.leaf = d.add(n)
			continue
		}
		if m.Type == "clear" { // where the user cleared the context
			continue
		}
		n := f.node(d, m, raw)
		if f.size > MaxEntryBytes {
			d.skip = tooLargeEntry(MaxEntryBytes)
			return
		}
		n.parent = d.leaf
		question, pick := string(m.Ask), bool(m.Useful || m.Selected)
		if m.Role == "assistant" && questions[question] {
			n.parent = question
		} else {
			question = ""
		}
		key := d.add(n)
		questions[key] = m.Role == "user"
		switch {
		case question == "":
			d.leaf, current, chosen = key, "", false
			if questions[key] {
				current = key
			}
		case question == current && (d.leaf == current || pick && !chosen): // for an earlier question it is only another answer
			d.leaf, chosen = key, pick
		}
	}
}

func (f *cherryFile) node(d *draft, m cherryMessage, raw json.RawMessage) node {
	n := node{key: string(m.ID), at: m.Created, model: string(m.ModelID), usage: readUsage(m.Usage)}
	if m.Thought != "" {
		n.blocks = append(n.blocks, chat.Reasoning{Provider: string(d.Source), Summary: string(m.Thought)})
	}
	if !isNull(m.Content) {
		n.blocks = append(n.blocks, parts(d.Source, m.Content)...)
	}
	for _, id := range m.Blocks {
		name, _ := textOf(id)
		if block, notice := f.block(name); block != nil {
			f.part(d, &n, block)
		} else {
			d.notice(notice, 1)
		}
	}
	if d.speak(&n, m.Role, raw); n.kind != kindAssistant {
		return n
	}
	var model struct {
		ID       str `json:"id"`
		Provider str `json:"provider"`
	}
	if json.Unmarshal(m.Model, &model) == nil && model.ID != "" {
		n.model, n.provider = string(model.ID), string(model.Provider)
	}
	n.incomplete = slices.Contains([]str{"paused", "pending", "processing", "searching"}, m.Status)
	if n.failed = n.failed || m.Status == "error"; n.failed && n.failure == "" {
		n.failure = errorText(m.Error)
	}
	return n
}

// part adds a block to a message.
func (f *cherryFile) part(d *draft, n *node, raw json.RawMessage) {
	var b struct {
		ID        str             `json:"id"`
		Type      str             `json:"type"`
		Status    str             `json:"status"`
		Content   json.RawMessage `json:"content"`
		Language  str             `json:"language"`
		ToolName  str             `json:"toolName"`
		Arguments json.RawMessage `json:"arguments"`
		URL       str             `json:"url"`
		Error     json.RawMessage `json:"error"`
		Metadata  struct {
			Response struct {
				Tool struct {
					Name str `json:"name"`
				} `json:"tool"`
				Arguments json.RawMessage `json:"arguments"`
				Response  json.RawMessage `json:"response"`
			} `json:"rawMcpToolResponse"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(raw, &b) // unexpected fields are left empty
	var out chat.Blocks
	switch text, _ := textOf(b.Content); b.Type {
	case "main_text":
		out = texts(text)
	case "code":
		out = texts("```" + string(b.Language) + "\n" + text + "\n```")
	case "thinking":
		out = chat.Blocks{chat.Reasoning{Provider: string(d.Source), Summary: text, Raw: raw}}
	case "tool":
		r := b.Metadata.Response
		b.ToolName = cmp.Or(b.ToolName, r.Tool.Name)
		if isNull(b.Arguments) {
			b.Arguments = r.Arguments
		}
		if isNull(b.Content) {
			b.Content = r.Response
		}
		if b.ToolName != "" {
			out = append(out, chat.ToolUse{ToolUseID: string(b.ID), Name: string(b.ToolName), Input: arguments(b.Arguments)})
			if !isNull(b.Content) {
				out = append(out, chat.ToolResult{ToolUseID: string(b.ID), Content: toolOutput(b.Content), IsError: b.Status == "error"})
			}
		}
	case "image":
		out = dataImage(string(b.URL))
	case "error":
		n.failed, n.failure = true, errorText(b.Error)
		return
	}
	if len(out) == 0 && b.Type != "main_text" { // a file, a citation, a translation
		out = chat.Blocks{d.unknown(raw)}
	}
	n.blocks = append(n.blocks, out...)
}

// errorText is the text of an error: a string, or an object with a message.
func errorText(raw json.RawMessage) string {
	var e struct {
		Message str `json:"message"`
	}
	if text, ok := textOf(raw); ok && text != "" {
		return text
	}
	_ = json.Unmarshal(raw, &e)
	return string(e.Message)
}
