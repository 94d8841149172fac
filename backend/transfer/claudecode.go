package transfer

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// codeLine is a line of a Claude Code session.
type codeLine struct {
	Type          str             `json:"type"`
	UUID          str             `json:"uuid"`
	Parent        json.RawMessage `json:"parentUuid"`
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
	Subtype       str             `json:"subtype"`
	Message       json.RawMessage `json:"message"`
	Attachment    struct {
		Type   str             `json:"type"`
		Mode   str             `json:"commandMode"`
		Prompt json.RawMessage `json:"prompt"`
	} `json:"attachment"`
}

type codeMessage struct {
	ID         str             `json:"id"`
	Role       str             `json:"role"`
	Model      str             `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason str             `json:"stop_reason"`
	Usage      json.RawMessage `json:"usage"`
}

// codeNode is a line's message and the data for threading.
type codeNode struct {
	node
	sidechain   bool
	agent       string
	message     string // id of the model's message, which may span several lines
	logical     string // the line before a compaction, if parent names none
	root        bool   // its parent is null
	boundary    bool   // a compaction
	neverEdited bool   // a line that the program wrote in the user's name, or a prompt sent while the model worked
	command     string // a command that the person typed, which is a prompt if the model answers it
	local       bool   // the output of a command that the program ran itself
}

// claudeCode parses a session of Claude Code: lines threaded by parentUuid. Conversations with subagents (sidechains)
// name it as Parent.
type claudeCode struct {
	main      *draft
	file      string
	nodes     []codeNode
	summaries map[string]string // by leafUuid
	summary   string            // the last one
	title     string
	uuids     map[string]bool
}

func newClaudeCode(name string) builder {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return &claudeCode{main: newDraft(SourceClaudeCode), file: strings.TrimSuffix(base, path.Ext(base)), summaries: map[string]string{}, uuids: map[string]bool{}}
}

func (b *claudeCode) add(raw json.RawMessage) string {
	var l codeLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return "Not a line of a session."
	}
	b.main.ID = cmp.Or(b.main.ID, string(l.SessionID))
	if l.Cwd != "" && b.main.Folder == "" {
		b.main.Folder = string(l.Cwd)
	}
	switch l.Type {
	case "user", "assistant":
		b.message(l, raw)
	case "attachment":
		b.attachment(l, raw)
	case "summary":
		b.summary = string(l.Summary)
		b.summaries[string(l.Leaf)] = b.summary
	case "custom-title":
		b.title = string(l.CustomTitle + l.Title)
	case "ai-title":
		b.title = cmp.Or(b.title, string(l.AITitle+l.Title))
	case "":
		return "It has no type."
	default:
		if l.UUID == "" {
			b.main.notice("Lines of the type "+display.Shorten(string(l.Type), 60)+" are not messages; they were left out.", 1)
			return ""
		}
		b.append(l, b.main.hidden(raw))
	}
	return ""
}

func (b *claudeCode) append(l codeLine, n node) *codeNode {
	n.key, n.at = string(l.UUID), l.Timestamp
	if n.key == "" {
		n.key = "line-" + strconv.Itoa(len(b.nodes)+1)
	}
	n.parent, _ = textOf(l.Parent)
	b.uuids[n.key] = true
	b.nodes = append(b.nodes, codeNode{
		node: n, sidechain: bool(l.Sidechain), agent: string(l.AgentID), logical: string(l.LogicalParent),
		root: string(l.Parent) == "null", boundary: l.Subtype == "compact_boundary",
	})
	return &b.nodes[len(b.nodes)-1]
}

// attachment adds what the program attached to the conversation. A prompt typed while the model worked exists only as
// an attachment.
func (b *claudeCode) attachment(l codeLine, raw json.RawMessage) {
	n := b.main.hidden(raw)
	a := l.Attachment
	if prompt := parts(SourceClaudeCode, a.Prompt); a.Type == "queued_command" && (a.Mode == "" || a.Mode == "prompt") && len(prompt) > 0 {
		n = node{kind: kindUser, blocks: prompt}
	}
	added := b.append(l, n)
	added.neverEdited = true
	b.requested(added, raw)
}

func (b *claudeCode) message(l codeLine, raw json.RawMessage) {
	var m codeMessage
	if json.Unmarshal(l.Message, &m) != nil {
		b.append(l, b.main.hidden(raw))
		return
	}
	n := node{blocks: parts(SourceClaudeCode, m.Content), provider: "anthropic"}
	switch {
	case bool(l.Meta) || bool(l.Compacted):
		n = b.main.hidden(raw)
		if l.Compacted {
			b.main.notice("The program replaced earlier messages with a summary; the summary is kept, but not shown.", 1)
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
		if m.Model == "<synthetic>" && strings.TrimSpace(n.blocks.RenderedText()) == "No response requested." {
			n.hide(b.main.unknown(raw))
		}
	default:
		b.user(l, n, raw)
		return
	}
	b.append(l, n).message = string(m.ID)
}

// user adds a message in the user's name: their text, the results of tools, or both, which then become two messages.
func (b *claudeCode) user(l codeLine, n node, raw json.RawMessage) {
	var results, other chat.Blocks
	for _, block := range n.blocks {
		if _, ok := block.(chat.ToolResult); ok {
			results = append(results, block)
		} else {
			other = append(other, block)
		}
	}
	if len(results) == 0 {
		n.kind = kindUser
		added := b.append(l, n)
		added.neverEdited = isProgramText(n.blocks)
		b.requested(added, raw)
		return
	}
	n.kind, n.blocks = kindTool, results
	first := b.append(l, n)
	if len(other) == 0 {
		return
	}
	key := first.key
	first.key = key + "/results"
	l.UUID = str(key)
	second := b.append(l, node{kind: kindUser, blocks: other})
	second.parent, second.logical, second.root, second.neverEdited = key+"/results", "", false, isProgramText(other)
	b.requested(second, raw)
}

// programTextPrefixes are the beginnings of texts that the program writes in the user's name.
var programTextPrefixes = []string{
	"<command-name>", "<command-message>", "<local-command-", "<bash-", "<task-notification>", "<system-reminder>", "[Request interrupted by user",
}

func isProgramText(bs chat.Blocks) bool {
	text := strings.TrimSpace(bs.RenderedText())
	return slices.ContainsFunc(programTextPrefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

func (b *claudeCode) drafts() []*draft {
	var chains [][]codeNode // the session's own first
	out := []*draft{b.main}
	chains = append(chains, nil)
	chainOf, last := map[string]int{}, 0 // by the key of each message, and by "agent " and the agent's id
	for _, n := range b.nodes {
		if !n.sidechain {
			chains[0] = append(chains[0], n)
			continue
		}
		at := b.chainIndex(n, chainOf, last)
		if at == 0 {
			at = len(out)
			out = append(out, b.agentDraft(n))
			chains = append(chains, nil)
			if n.agent != "" {
				chainOf["agent "+n.agent] = at
			}
		}
		chainOf[n.key], last = at, at
		chains[at] = append(chains[at], n)
	}
	for i, d := range out {
		commands(chains[i])
		thread(d, chains[i])
	}
	b.main.Provider = "anthropic"
	b.name()
	for _, d := range out[1:] {
		d.Parent, d.ID = b.main.ID, b.main.ID+"/"+d.ID
	}
	if len(b.main.nodes) == 0 && len(out) > 1 {
		b.main.Notices = nil
		out = out[1:] // a file with only an agent's conversation
	}
	return out
}

// chainIndex is the position of the agent's conversation that a message belongs to; 0: a new one.
func (b *claudeCode) chainIndex(n codeNode, chainOf map[string]int, last int) int {
	if n.agent != "" {
		return chainOf["agent "+n.agent]
	}
	for _, before := range []string{n.parent, n.logical} {
		if at := chainOf[before]; before != "" && at > 0 {
			return at
		}
	}
	if n.root || n.parent == "" || b.uuids[n.parent] {
		return 0
	}
	return last // its parent was never written
}

func (b *claudeCode) agentDraft(n codeNode) *draft {
	d := newDraft(SourceClaudeCode)
	d.ID, d.Folder, d.Provider, d.agent = n.key, b.main.Folder, "anthropic", "Agent"
	if n.agent != "" {
		d.ID = "agent-" + n.agent
	}
	return d
}

// name sets the session's title (the user's, otherwise the summary of its last leaf), and the id if no line has one.
func (b *claudeCode) name() {
	b.main.Title = b.title
	for i := len(b.nodes) - 1; i >= 0 && b.main.Title == ""; i-- {
		b.main.Title = b.summaries[b.nodes[i].key]
	}
	b.main.Title = cmp.Or(b.main.Title, b.summary)
	b.main.ID = cmp.Or(b.main.ID, b.file)
}
