package transfer

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
)

// codeLine is a line of a Claude Code session.
type codeLine struct {
	Type          str             `json:"type"`
	UUID          str             `json:"uuid"`
	Parent        str             `json:"parentUuid"`
	LogicalParent str             `json:"logicalParentUuid"`
	SessionID     str             `json:"sessionId"`
	AgentID       str             `json:"agentId"`
	Timestamp     moment          `json:"timestamp"`
	Cwd           str             `json:"cwd"`
	Sidechain     truth           `json:"isSidechain"`
	Meta          truth           `json:"isMeta"`
	Compacted     truth           `json:"isCompactSummary"`
	APIError      truth           `json:"isApiErrorMessage"`
	Summary       str             `json:"summary"`
	Leaf          str             `json:"leafUuid"`
	CustomTitle   str             `json:"customTitle"`
	AITitle       str             `json:"aiTitle"`
	Title         str             `json:"title"`
	Message       json.RawMessage `json:"message"`
}

type codeMessage struct {
	ID         str             `json:"id"`
	Role       str             `json:"role"`
	Model      str             `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason str             `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

// codeNode is a line's message and what its threading needs.
type codeNode struct {
	node
	sidechain bool
	agent     string
}

// claudeCode reads a session of Claude Code: lines threaded by parentUuid. What it
// asked agents of its own to do (sidechains) are conversations that name it as Parent.
type claudeCode struct {
	main      *draft
	file      string
	nodes     []codeNode
	summaries map[string]string // by leafUuid
	summary   string            // the last one
	title     string
}

func newClaudeCode(name string) builder {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return &claudeCode{main: newDraft(SourceClaudeCode), file: strings.TrimSuffix(base, path.Ext(base)), summaries: map[string]string{}}
}

func (b *claudeCode) line(raw json.RawMessage) string {
	var l codeLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return "it is no line of a session"
	}
	if b.main.ID == "" {
		b.main.ID = string(l.SessionID)
	}
	if l.Cwd != "" && b.main.Folder == "" {
		b.main.Folder = string(l.Cwd)
	}
	switch l.Type {
	case "user", "assistant":
		b.message(l, raw)
	case "summary":
		b.summary = string(l.Summary)
		b.summaries[string(l.Leaf)] = b.summary
	case "custom-title":
		b.title = string(l.CustomTitle + l.Title)
	case "ai-title":
		if b.title == "" {
			b.title = string(l.AITitle + l.Title)
		}
	case "":
		return "it has no type"
	default:
		if l.UUID == "" {
			b.main.notice("Lines of the type "+short(string(l.Type))+" are no messages; they were left out.", 1)
			return ""
		}
		b.append(l, node{kind: kindHidden, blocks: chat.Blocks{b.main.unknown(raw)}})
	}
	return ""
}

// short bounds a word of the file in a notice.
func short(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

func (b *claudeCode) append(l codeLine, n node) {
	n.key, n.at = string(l.UUID), l.Timestamp
	n.parent = string(l.Parent)
	if n.parent == "" {
		n.parent = string(l.LogicalParent)
	}
	b.nodes = append(b.nodes, codeNode{node: n, sidechain: bool(l.Sidechain), agent: string(l.AgentID)})
}

func (b *claudeCode) message(l codeLine, raw json.RawMessage) {
	var m codeMessage
	if json.Unmarshal(l.Message, &m) != nil {
		b.append(l, node{kind: kindHidden, blocks: chat.Blocks{b.main.unknown(raw)}})
		return
	}
	n := node{blocks: parts(SourceClaudeCode, m.Content), provider: "anthropic"}
	switch {
	case bool(l.Meta) || bool(l.Compacted):
		n.kind, n.blocks = kindHidden, chat.Blocks{b.main.unknown(raw)}
		if l.Compacted {
			b.main.notice("The program replaced what was said by a summary; the summary is kept beside it and is not shown.", 1)
		}
	case l.Type == "assistant":
		n.kind, n.model = kindAssistant, string(m.Model)
		if m.Model == "<synthetic>" {
			n.model = ""
		}
		n.usage, n.usageKey = readUsage(m.Usage), string(m.ID)
		n.incomplete = m.StopReason == "max_tokens"
		if n.failed = bool(l.APIError); n.failed {
			n.failure = n.blocks.RenderedText()
		}
	default:
		b.user(l, n)
		return
	}
	b.append(l, n)
}

// user adds a message in the user's name: what they wrote, or the results of tools, or
// both, which then are two messages.
func (b *claudeCode) user(l codeLine, n node) {
	var results, said chat.Blocks
	for _, block := range n.blocks {
		if _, ok := block.(chat.ToolResult); ok {
			results = append(results, block)
		} else {
			said = append(said, block)
		}
	}
	if len(results) == 0 {
		n.kind = kindUser
		b.append(l, n)
		return
	}
	n.kind, n.blocks = kindTool, results
	b.append(l, n)
	if len(said) == 0 {
		return
	}
	first := &b.nodes[len(b.nodes)-1]
	key := first.key
	first.key = key + "/results"
	l.Parent, l.UUID = str(first.key), str(key)
	b.append(l, node{kind: kindUser, blocks: said})
}

func (b *claudeCode) drafts() []*draft {
	b.thread()
	d := b.main
	sides := map[string]*draft{} // by the key of each of its messages
	out := []*draft{d}
	for _, n := range b.nodes {
		if !n.sidechain {
			d.add(n.node)
			continue
		}
		side := sides["agent "+n.agent]
		if n.agent == "" {
			side = sides[n.parent]
		}
		if side == nil {
			side = newDraft(SourceClaudeCode)
			side.ID, side.Parent, side.Folder = n.key, d.ID, d.Folder
			if n.agent != "" {
				side.ID = "agent-" + n.agent
				sides["agent "+n.agent] = side
			}
			side.ID = d.ID + "/" + side.ID
			out = append(out, side)
		}
		sides[n.key] = side
		side.add(n.node)
	}
	d.Provider = "anthropic"
	b.name()
	if len(d.nodes) == 0 && len(out) > 1 {
		d.Notices = nil
		out = out[1:] // a file that is one agent's alone
	}
	return out
}

// name gives the session its title: the user's, else the summary of where it ends.
func (b *claudeCode) name() {
	b.main.Title = b.title
	for i := len(b.nodes) - 1; i >= 0 && b.main.Title == ""; i-- {
		b.main.Title = b.summaries[b.nodes[i].key]
	}
	if b.main.Title == "" {
		b.main.Title = b.summary
	}
	if b.main.ID == "" {
		b.main.ID = b.file
	}
}

// thread gives a message without a parent the one before it, and puts the results of
// calls that ran side by side to their calls: each hangs on its own call, where the
// conversation goes on below one of them alone.
func (b *claudeCode) thread() {
	place := make(map[string]int, len(b.nodes))
	children := make([]int, len(b.nodes))
	before := map[bool]string{}
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.key == "" {
			n.key = "line-" + strconv.Itoa(i+1)
		}
		if _, taken := place[n.key]; !taken {
			place[n.key] = i
		}
		if n.parent == "" && !n.sidechain {
			n.parent = before[false]
		}
		before[n.sidechain] = n.key
	}
	for _, n := range b.nodes {
		if p, ok := place[n.parent]; ok {
			children[p]++
		}
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		p, ok := place[n.parent]
		if !ok || p == i || n.kind != kindTool || children[i] > 0 || children[p] < 2 || b.nodes[p].kind != kindAssistant {
			continue
		}
		b.nodes[p].blocks = append(b.nodes[p].blocks, n.blocks...)
		n.kind, n.blocks = kindVoid, nil
	}
}
