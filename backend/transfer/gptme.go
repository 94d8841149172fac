package transfer

import (
	"bytes"
	"encoding/json"
	"io"
	"path"
	"regexp"
	"strings"

	"contextinfinity/backend/chat"
)

// gptmeLine is a message of gptme's log, conversation.jsonl.
type gptmeLine struct {
	Role     str             `json:"role"`
	Content  json.RawMessage `json:"content"`
	Time     moment          `json:"timestamp"`
	Files    list            `json:"files"`
	CallID   str             `json:"call_id"`
	Hide     truth           `json:"hide"`
	Metadata json.RawMessage `json:"metadata"`
}

type gptmeMetadata struct {
	Model str             `json:"model"`
	Tool  str             `json:"tool"`
	Usage json.RawMessage `json:"usage"`
}

// gptme parses a log of gptme: a list of messages, in which tool output has the system role.
type gptme struct {
	d        *draft
	userSeen bool // there was a user message
	calls    bool // the last answer called tools
}

func newGptme(name string) *gptme {
	g := &gptme{d: newDraft(SourceGptme)}
	g.d.Title = gptmeTitle(name)
	return g
}

func (g *gptme) drafts() []*draft { return []*draft{g.d} }

func (g *gptme) add(raw json.RawMessage) string {
	var m gptmeLine
	if json.Unmarshal(raw, &m) != nil || m.Role == "" {
		return "It does not name a speaker."
	}
	var meta gptmeMetadata
	_ = json.Unmarshal(m.Metadata, &meta) // unexpected fields are left empty
	n := node{at: m.Time, blocks: parts(g.d.Source, m.Content)}
	switch m.Role {
	case "user":
		n.kind, g.userSeen, g.calls = kindUser, true, false
	case "assistant":
		n.kind = kindAssistant
		n.provider, n.model, _ = strings.Cut(string(meta.Model), "/")
		if n.model == "" {
			n.provider, n.model = "", string(meta.Model)
		}
		if n.usage = readUsage(meta.Usage); n.usage == nil { // older logs have the numbers next to the model
			n.usage = readUsage(m.Metadata)
		}
		if text, ok := textOf(bytes.TrimSpace(m.Content)); ok {
			n.blocks, g.calls = gptmeAnswer(text)
		}
	case "system":
		g.system(&n, m, meta)
	default:
		n.kind, n.blocks = kindHidden, chat.Blocks{g.d.unknown(raw)}
		g.d.notice(noticeRole, 1)
	}
	if bool(m.Hide) && n.kind == kindSystem && g.userSeen {
		n.kind, n.blocks = kindHidden, chat.Blocks{g.d.unknown(raw)}
	}
	n.blocks = append(n.blocks, g.d.unknowns(m.Files)...)
	g.d.follow(n)
	return ""
}

// system decides the role of a system message: it is tool output if it names the call or the tool, or follows an
// answer with a tool call.
func (g *gptme) system(n *node, m gptmeLine, meta gptmeMetadata) {
	n.kind = kindSystem
	if m.CallID == "" && meta.Tool == "" && (!g.calls || bool(m.Hide)) || !g.userSeen {
		return
	}
	failed := strings.HasPrefix(n.blocks.RenderedText(), "Error executing tool")
	n.kind = kindTool
	n.blocks = chat.Blocks{chat.ToolResult{ToolUseID: string(m.CallID), Content: notNil(n.blocks), IsError: failed}}
}

var (
	gptmeThought = regexp.MustCompile(`(?s)<think(?:ing)?(?: redacted)?>(.*?)(?:</think(?:ing)?(?: redacted)?>\n?|\z)`)
	gptmeSign    = regexp.MustCompile(`(?s)<!-- think-sig: .*? -->`)
	gptmeCall    = regexp.MustCompile(`(?m)^@([\w.]+)\(([\w\-:.]+)\):[ \t]*\{`)
)

// gptmeAnswer returns an answer's reasoning, text and calls, and whether it called tools: as "@name(id): {…}", as a
// fenced block, or as XML. The last two stay text, as the model wrote them.
func gptmeAnswer(text string) (out chat.Blocks, calls bool) {
	at := 0
	add := func(part string) {
		blocks, called := gptmeCalls(part)
		out, calls = append(out, blocks...), calls || called
	}
	for _, m := range gptmeThought.FindAllStringSubmatchIndex(text, -1) {
		add(text[at:m[0]])
		at = m[1]
		raw, _ := chat.MarshalJSON(text[m[0]:m[1]])
		thought := strings.TrimSpace(gptmeSign.ReplaceAllString(text[m[2]:m[3]], ""))
		if strings.Contains(text[m[0]:m[2]], "redacted") {
			thought = ""
		}
		out = append(out, chat.Reasoning{Provider: string(SourceGptme), Summary: thought, Raw: raw})
	}
	add(text[at:])
	return out, calls
}

// maxCallReads limits how often a text is scanned for values that turn out not to be JSON: calls may be nested, and
// each is read to its end.
const maxCallReads = 4

func gptmeCalls(text string) (out chat.Blocks, calls bool) {
	fences := fencedBlocks(text)
	for _, f := range fences { // a fence with a language or a tool name may be a call
		line, _, _ := strings.Cut(text[f[0]:f[1]], "\n")
		calls = calls || strings.Trim(line, "` \t\r") != ""
	}
	calls = calls || strings.Contains(text, "<tool-use>") || strings.Contains(text, "<function_calls>")
	raw, from, wasted := []byte(text), 0, 0
	for _, m := range gptmeCall.FindAllStringSubmatchIndex(text, -1) {
		for len(fences) > 0 && fences[0][1] <= m[0] {
			fences = fences[1:]
		}
		if m[0] < from || len(fences) > 0 && m[0] >= fences[0][0] {
			continue
		}
		open := m[1] - 1
		end := valueEnd(raw, open)
		if !json.Valid(raw[open:end]) {
			wasted += end - open
			if end == len(text) || wasted > maxCallReads*len(text) { // if it was cut, the rest is ambiguous
				break
			}
			continue
		}
		out = append(out, texts(text[from:m[0]])...)
		out = append(out, chat.ToolUse{ToolUseID: text[m[4]:m[5]], Name: text[m[2]:m[3]], Input: json.RawMessage(text[open:end])})
		from, calls = end, true
	}
	return append(out, texts(text[from:])...), calls
}

// fencedBlocks returns the beginnings and ends of the closed fenced blocks in a text.
func fencedBlocks(text string) (out [][2]int) {
	open, ticks := -1, 0
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := text[at:end]
		n := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case n < 3:
		case open < 0:
			open, ticks = at, n
		case n == ticks && strings.TrimSpace(line[n:]) == "":
			out, open = append(out, [2]int{open, end}), -1
		}
		at = end + 1
	}
	return out
}

var gptmeFolder = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}-(.+)$`)

// gptmeTitle is the title in the log's folder name; empty if the folder is not one of gptme's. The logs of branches
// are in a subfolder.
func gptmeTitle(name string) string {
	dir := path.Dir(slashed(name))
	if path.Base(dir) == "branches" {
		dir = path.Dir(dir)
	}
	if m := gptmeFolder.FindStringSubmatch(path.Base(dir)); m != nil {
		return strings.ReplaceAll(m[1], "-", " ")
	}
	return ""
}

// gptmeSubfolder is the folder of a file next to gptme's log: branches are read; views repeat a log in a shorter form.
func gptmeSubfolder(name string) string {
	if dir := path.Base(path.Dir(slashed(name))); dir == "branches" || dir == "views" {
		return dir
	}
	return ""
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

const noticeView = "A file is a shortened view of a gptme conversation; it was left out, because the conversation itself is next to it."

func (r *run) gptme(in Input, from io.Reader) error {
	if gptmeSubfolder(in.Name) == "views" {
		r.notice(noticeView, 1)
		return nil
	}
	return r.collect(in, newLineReader(from), newGptme(in.Name))
}
