package transfer

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

type codexLine struct {
	Timestamp moment          `json:"timestamp"`
	Type      str             `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	ID        str             `json:"id"` // in the first line of old rollouts, which have no payload
}

type codexPayload struct {
	ID            str             `json:"id"`
	ForkedFrom    str             `json:"forked_from_id"`
	Cwd           str             `json:"cwd"`
	ModelProvider str             `json:"model_provider"`
	Model         str             `json:"model"`
	Type          str             `json:"type"`
	Role          str             `json:"role"`
	Content       json.RawMessage `json:"content"`
	Message       str             `json:"message"`
	Images        list            `json:"images"`
	Reason        str             `json:"reason"`
	Info          struct {
		Last json.RawMessage `json:"last_token_usage"`
	} `json:"info"`
	Source    json.RawMessage `json:"source"`
	Nickname  str             `json:"agent_nickname"`
	Author    str             `json:"author"`
	Recipient str             `json:"recipient"`
}

// codexSpawn is the source of an agent's session.
type codexSpawn struct {
	Subagent json.RawMessage `json:"subagent"`
}

// parent is the session that started an agent; ok is false for a person's session.
func (p codexPayload) parent() (id string, ok bool) {
	var s codexSpawn
	var spawn struct {
		Thread struct {
			Parent   str `json:"parent_thread_id"`
			Nickname str `json:"agent_nickname"`
		} `json:"thread_spawn"`
	}
	if isNull(p.Source) || json.Unmarshal(p.Source, &s) != nil || isNull(s.Subagent) {
		return "", false
	}
	_ = json.Unmarshal(s.Subagent, &spawn) // "review" and others are only names
	return string(spawn.Thread.Parent), true
}

// codex parses a rollout of Codex: a list of items. Messages are recorded twice, as response_item and as event_msg;
// the items are used, and the events only in a file without items.
type codex struct {
	d          *draft
	events     []node
	model      string
	hasMessage bool // the items contain a message
}

func newCodex(string) builder { return &codex{d: newDraft(SourceCodex)} }

func (b *codex) add(raw json.RawMessage) string {
	var l codexLine
	var p codexPayload
	if json.Unmarshal(raw, &l) != nil {
		return "Not a line of a Codex session."
	}
	payload := l.Payload
	if isNull(payload) {
		payload = raw
	}
	_ = json.Unmarshal(payload, &p) // unexpected fields are left empty
	switch {
	case strings.Contains(string(l.Type), ".") || l.Type == "error":
		return b.stream(l, raw)
	case l.Type == "session_meta" || l.Type == "" && l.ID != "":
		b.meta(l, p)
	case l.Type == "turn_context":
		if p.Model != "" {
			b.model, b.d.Model = string(p.Model), string(p.Model)
		}
		b.d.Folder = cmp.Or(b.d.Folder, string(p.Cwd))
	case l.Type == "event_msg":
		b.event(l, p)
	case l.Type == "inter_agent_communication":
		b.hide(l, raw)
		b.agentMessage(p)
	case l.Type == "compacted":
		b.d.notice("The program replaced earlier messages with a summary; the summary is kept, but not shown.", 1)
		b.hide(l, raw)
	case l.Type == "response_item" || isNull(l.Payload) && l.Type != "":
		b.item(l, p, payload)
	case l.Type == "":
		b.d.notice("Lines without a type are not messages; they were left out.", 1)
	default:
		b.hide(l, raw)
	}
	return ""
}

func (b *codex) meta(l codexLine, p codexPayload) {
	if b.d.ID != "" { // l belongs to the session from which this one was forked
		if p.ID != "" && string(p.ID) != b.d.ID {
			b.d.fork = cmp.Or(b.d.fork, string(p.ID))
		}
		return
	}
	b.d.ID, b.d.Folder, b.d.Provider = string(p.ID), string(p.Cwd), string(p.ModelProvider)
	b.d.CreatedAt = b.d.date(l.Timestamp)
	if b.d.fork = string(p.ForkedFrom); p.ForkedFrom != "" {
		b.d.notice("It continues the session "+display.Shorten(string(p.ForkedFrom), 60)+", whose beginning it repeats.", 1)
	}
	if parent, ok := p.parent(); ok {
		b.d.fork = cmp.Or(b.d.fork, parent)
		b.d.Parent, b.d.agent = cmp.Or(parent, b.d.fork), strings.TrimSpace("Agent "+string(p.Nickname))
	}
}

// hide adds a line that is not shown.
func (b *codex) hide(l codexLine, raw json.RawMessage) {
	n := b.d.hidden(raw)
	n.at = l.Timestamp
	b.d.follow(n)
}

// item adds a response item.
func (b *codex) item(l codexLine, p codexPayload, raw json.RawMessage) {
	n := node{at: l.Timestamp, kind: kindAssistant, model: b.model, provider: b.d.Provider, blocks: parts(b.d.Source, raw)}
	switch {
	case p.Type == "agent_message":
		b.d.follow(n)
		b.agentMessage(p)
		return
	case p.Type != "message":
		if strings.HasSuffix(string(p.Type), "_output") {
			n.kind = kindTool
		}
	case p.Role == "developer":
		n.kind, n.blocks = kindHidden, b.d.hidden(raw).blocks
	case p.Role == "user":
		b.request(&n, raw)
	case p.Role == "system":
		n.kind = kindSystem
	default:
		b.hasMessage = true
	}
	b.d.follow(n)
}

// request shows a message in the user's name without what the program wrote into it. A message that the program wrote
// completely is hidden.
func (b *codex) request(n *node, raw json.RawMessage) {
	kept := b.d.hidden(raw).blocks
	blocks, removed := cleaned(n.blocks, codexRequest, nil)
	n.kind = kindUser
	if codexContext(n.blocks) {
		n.kind, n.blocks = kindHidden, kept
	}
	switch {
	case len(blocks) == 0:
		n.hide(kept[0])
		if text := contentOf(n.blocks.RenderedText(), "user_shell_command"); text != "" {
			n.now.blocks = shellCall(contentOf(text, "command"), contentOf(text, "result"))
		}
	case removed:
		n.now = &form{kindUser, blocks, kept}
	}
	b.hasMessage = b.hasMessage || n.form().kind == kindUser
}

// agentMessage shows the last message as a message between agents. The first one that an agent gets is its prompt.
func (b *codex) agentMessage(p codexPayload) {
	text := allText(p.Content)
	n := b.d.last()
	if strings.TrimSpace(text) == "" {
		return
	}
	raw := n.blocks
	if b.d.agent != "" && !slices.ContainsFunc(b.d.nodes, func(n node) bool { return n.form().kind == kindUser }) {
		n.now = &form{kindUser, texts(text), raw}
		return
	}
	input, _ := chat.MarshalJSON(map[string]str{"author": p.Author, "recipient": p.Recipient})
	n.now = &form{kindTool, chat.Blocks{
		chat.ToolUse{ToolUseID: n.key, Name: "agent_message", Input: input},
		chat.ToolResult{ToolUseID: n.key, Content: texts(text)},
	}, raw}
}

// codexContext reports whether earlier versions took a message as written by the program.
func codexContext(bs chat.Blocks) bool {
	text := strings.TrimSpace(bs.RenderedText())
	for _, prefix := range []string{"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// codexElements are the elements that Codex writes in the user's name.
var codexElements = []string{
	"environment_context", "user_instructions", "INSTRUCTIONS", "turn_aborted", "skill", "skills_instructions", "plugins_instructions",
	"apps_instructions", "permissions instructions", "collaboration_mode", "personality_spec", "model_switch", "user_shell_command",
	"user_action", "subagent_notification", "hook_prompt", "goal_context", "recommended_plugins", "network_rule_saved", "token_budget",
}

// codexRequest returns what a person wrote, without what the program and the editor put before and after it.
func codexRequest(text string) string {
	if strings.HasPrefix(text, "# ") {
		if _, request, ok := strings.Cut(text, "\n## My request for Codex:\n"); ok {
			return strings.TrimSpace(request)
		}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "# AGENTS.md instructions") {
		if _, rest, ok := strings.Cut(text, "</INSTRUCTIONS>"); ok {
			return codexRequest(strings.TrimSpace(rest))
		}
		return ""
	}
	if rest := withoutElements(text, codexElements); rest != strings.TrimSpace(text) {
		return rest
	}
	return text
}

// event adds what only events contain: usage, and how a turn ended. It also collects messages, for a file without
// items.
func (b *codex) event(l codexLine, p codexPayload) {
	last := b.d.last()
	switch p.Type {
	case "token_count":
		if last != nil && last.kind >= kindAssistant && last.usage == nil {
			last.usage = readUsage(p.Info.Last)
		}
	case "turn_aborted":
		if last != nil && last.kind >= kindAssistant {
			last.kind, last.incomplete, last.failure = kindAssistant, true, string(p.Reason)
		}
	case "user_message":
		n := node{at: l.Timestamp, kind: kindUser, blocks: texts(string(p.Message))}
		for _, image := range p.Images {
			address, _ := textOf(image)
			if blocks := dataImage(address); blocks != nil {
				n.blocks = append(n.blocks, blocks...)
			} else {
				n.blocks = append(n.blocks, b.d.unknown(image))
			}
		}
		n.clean(codexRequest, nil)
		b.events = append(b.events, n)
	case "agent_message":
		b.events = append(b.events, node{at: l.Timestamp, kind: kindAssistant, model: b.model, blocks: texts(string(p.Message))})
	}
}

func (b *codex) drafts() []*draft {
	if !b.hasMessage && len(b.events) > 0 {
		for _, n := range b.events {
			b.d.follow(n)
		}
	}
	return []*draft{b.d}
}
