package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// gptConversation is an entry of ChatGPT's conversations.json.
type gptConversation struct {
	ID             str             `json:"id"`
	ConversationID str             `json:"conversation_id"`
	Title          str             `json:"title"`
	CreateTime     moment          `json:"create_time"`
	UpdateTime     moment          `json:"update_time"`
	Mapping        json.RawMessage `json:"mapping"`
	CurrentNode    str             `json:"current_node"`
	Model          str             `json:"default_model_slug"`
	Gizmo          str             `json:"gizmo_id"`
	Archived       truth           `json:"is_archived"`
	Starred        truth           `json:"is_starred"`
}

// gptNode is parsed in one go, because nearly all of an export is messages; raw parts that are kept are cut out of the
// JSON afterwards.
type gptNode struct {
	Parent  str         `json:"parent"`
	Message *gptMessage `json:"message"`
}

type gptMessage struct {
	Author struct {
		Role str `json:"role"`
		Name str `json:"name"`
	} `json:"author"`
	CreateTime moment      `json:"create_time"`
	Content    *gptContent `json:"content"`
	Status     str         `json:"status"`
	Recipient  str         `json:"recipient"`
	Metadata   struct {
		Model     str   `json:"model_slug"`
		Hidden    truth `json:"is_visually_hidden_from_conversation"`
		Citations list  `json:"citations"`
		Attached  list  `json:"attachments"`
		Links     list  `json:"content_references"`
		App       struct {
			State json.RawMessage `json:"widget_state"`
		} `json:"chatgpt_sdk"`
		Finish struct {
			Type str `json:"type"`
		} `json:"finish_details"`
	} `json:"metadata"`
	content json.RawMessage // the raw JSON
}

type gptContent struct {
	Type         str             `json:"content_type"`
	Parts        list            `json:"parts"`
	Text         str             `json:"text"`
	Result       str             `json:"result"`
	Thoughts     list            `json:"thoughts"`
	Content      json.RawMessage `json:"content"`
	Profile      str             `json:"user_profile"`
	Instructions str             `json:"user_instructions"`
}

// chatgpt parses a conversation of ChatGPT: a tree of messages by id.
func chatgpt(raw json.RawMessage) *draft {
	d := newDraft(SourceChatGPT)
	var c gptConversation
	if json.Unmarshal(raw, &c) != nil {
		d.skip = "Not a ChatGPT conversation."
		return d
	}
	d.ID = string(cmp.Or(c.ConversationID, c.ID))
	d.Title, d.CreatedAt, d.UpdatedAt = string(c.Title), d.date(c.CreateTime), d.date(c.UpdateTime)
	d.Archived, d.Pinned = bool(c.Archived), bool(c.Starred)
	d.Provider, d.Model, d.leaf = "openai", string(c.Model), string(c.CurrentNode)
	if strings.HasPrefix(string(c.Gizmo), "g-p-") { // a project; others are custom GPTs
		d.Folder = string(c.Gizmo)
	}
	nodes := members(c.Mapping)
	if nodes == nil {
		d.skip = "It has no list of messages."
		return d
	}
	for _, m := range nodes {
		var n gptNode
		err := json.Unmarshal(m.value, &n)
		d.add(gptMessageNode(d, m, n, err == nil))
	}
	return d
}

func gptMessageNode(d *draft, raw member, n gptNode, parsed bool) node {
	out := node{key: raw.key, parent: string(n.Parent), provider: "openai"}
	message := valueOf(raw.value, "message")
	if isNull(message) {
		return out
	}
	if !parsed || n.Message == nil || n.Message.Content == nil {
		out.kind, out.blocks = kindHidden, chat.Blocks{d.unknown(message)}
		return out
	}
	m, c := *n.Message, *n.Message.Content
	m.content = valueOf(message, "content")
	out.at, out.model = m.CreateTime, string(m.Metadata.Model)
	out.incomplete = m.Status == "in_progress" || m.Status == "finished_partial_completion" ||
		m.Metadata.Finish.Type == "interrupted" || m.Metadata.Finish.Type == "max_tokens"
	out.failed = c.Type == "system_error"
	if out.failed {
		out.failure = string(c.Text)
	}
	switch {
	case c.Type == "user_editable_context":
		out.kind = kindSystem
		out.blocks = texts(strings.TrimSpace(string(c.Profile) + "\n\n" + string(c.Instructions)))
	case bool(m.Metadata.Hidden) || c.Type == "model_editable_context":
		out.kind, out.blocks = kindHidden, chat.Blocks{d.unknown(message)}
		if len(gptBlocks(d, m, c)) == 0 {
			out.kind, out.blocks = kindVoid, nil
		}
	default:
		out.kind, out.blocks = gptVisible(d, raw.key, m, c)
		if out.kind >= kindAssistant {
			out.clean(withoutMarks, m.Metadata.Links)
		}
	}
	state := m.Metadata.App.State
	if text, ok := textOf(firstOf(c.Parts)); ok && isNull(state) && m.Author.Role == "tool" {
		if text, ok = strings.CutPrefix(text, "The latest state of the widget is:"); ok {
			state, _ = chat.MarshalJSON(strings.TrimSpace(text))
		}
	}
	d.gptApp(&out, state, message)
	return out
}

// firstOf is the first value of a list; nil if it is empty.
func firstOf(l list) json.RawMessage {
	if len(l) == 0 {
		return nil
	}
	return l[0]
}

// gptApp shows what an app put out. Its state is text with JSON: the report of a deep research is an answer, and any other
// text is a result.
func (d *draft) gptApp(n *node, state, message json.RawMessage) {
	if text, ok := textOf(state); ok && json.Valid([]byte(text)) {
		state = json.RawMessage(text)
	}
	var app struct {
		Report struct {
			Content  gptContent `json:"content"`
			Metadata struct {
				Links list `json:"content_references"`
			} `json:"metadata"`
		} `json:"report_message"`
	}
	if isNull(state) || json.Unmarshal(state, &app) != nil {
		return
	}
	f := form{kind: kindAssistant, blocks: gptParts(d, gptMessage{}, app.Report.Content), kept: chat.Blocks{d.unknown(message)}}
	if len(f.blocks) == 0 {
		text := unknownText(state, false)
		if text == "" {
			return
		}
		f.kind, f.blocks = kindTool, chat.Blocks{chat.ToolResult{Content: texts(text)}}
	}
	if report := withoutMarks(f.blocks.RenderedText()); report != "" && slices.ContainsFunc(d.nodes, func(n node) bool { return n.now != nil && n.now.blocks.RenderedText() == report }) {
		return // an earlier state of the app has the same report
	}
	n.now = &f
	n.clean(withoutMarks, app.Report.Metadata.Links)
}

// gptVisible returns the role of a message and its visible content.
func gptVisible(d *draft, key string, m gptMessage, c gptContent) (kind, chat.Blocks) {
	blocks := gptBlocks(d, m, c)
	blocks = append(blocks, d.unknowns(m.Metadata.Attached)...)
	switch m.Author.Role {
	case "user":
		return kindUser, blocks
	case "tool":
		if len(blocks) == 0 {
			return kindVoid, nil
		}
		return kindTool, chat.Blocks{chat.ToolResult{Content: blocks, IsError: c.Type == "system_error"}}
	case "assistant":
		if m.Recipient != "" && m.Recipient != "all" {
			return kindAssistant, chat.Blocks{chat.ToolUse{
				ToolUseID: key, Name: string(m.Recipient), Input: chat.RawJSON([]byte(blocks.RenderedText())),
			}}
		}
		return kindAssistant, blocks
	case "system":
		if len(blocks) == 0 {
			return kindVoid, nil
		}
		return kindSystem, blocks
	}
	return kindHidden, chat.Blocks{d.unknown(m.content)}
}

// gptBlocks converts a message's content to blocks.
func gptBlocks(d *draft, m gptMessage, c gptContent) chat.Blocks {
	switch c.Type {
	case "text", "multimodal_text":
		return gptParts(d, m, c)
	case "code":
		if m.Author.Role == "assistant" && m.Recipient != "" && m.Recipient != "all" {
			return texts(string(c.Text))
		}
		if c.Text == "" {
			return nil
		}
		return texts("```\n" + string(c.Text) + "\n```")
	case "execution_output", "system_error":
		return texts(string(c.Text))
	case "tether_browsing_display":
		return texts(string(c.Result))
	case "tether_quote":
		return append(texts(string(c.Text)), d.unknown(m.content))
	case "thoughts", "reasoning_recap":
		return chat.Blocks{chat.Reasoning{Provider: string(d.Source), Summary: allThoughts(c), Raw: bytes.Clone(m.content)}}
	}
	return chat.Blocks{d.unknown(m.content)}
}

// allThoughts is the text of the reasoning: each thought's heading and text, or the recap.
func allThoughts(c gptContent) string {
	var pieces []string
	for _, raw := range c.Thoughts {
		var t struct {
			Summary str `json:"summary"`
			Content str `json:"content"`
		}
		if json.Unmarshal(raw, &t) == nil {
			pieces = append(pieces, strings.TrimSpace(string(t.Summary)+"\n"+string(t.Content)))
		}
	}
	if s, ok := textOf(c.Content); ok && s != "" {
		pieces = append(pieces, s)
	}
	return strings.Join(pieces, "\n\n")
}

func gptParts(d *draft, m gptMessage, c gptContent) chat.Blocks {
	var out chat.Blocks
	for _, raw := range c.Parts {
		if s, ok := textOf(raw); ok {
			out = append(out, texts(s)...)
			continue
		}
		var p struct {
			Type str `json:"content_type"`
			Text str `json:"text"`
		}
		if json.Unmarshal(raw, &p) == nil && p.Type == "audio_transcription" && p.Text != "" {
			out = append(out, chat.Text{Text: string(p.Text)})
			continue
		}
		out = append(out, d.unknown(raw))
	}
	for i, b := range out {
		if text, ok := b.(chat.Text); ok && len(m.Metadata.Citations) > 0 {
			text.Annotations = m.Metadata.Citations
			out[i] = text
			break
		}
	}
	return out
}
