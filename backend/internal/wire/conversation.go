package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// Group is consecutive blocks of one side, as a provider may receive them.
type Group struct {
	Role   chat.Role
	Blocks chat.Blocks
	// Stable is how many of Blocks, from the first, belong to the prefix that
	// a prompt cache can keep.
	Stable int
	// AlreadySent is how many of Blocks, from the first, the provider already has (llm.Request.Continues).
	AlreadySent int
	// Cycle: the group belongs to the steps of the running turn, so the model's reasoning before a call is sent back
	// with the call.
	Cycle bool
	// Renamed: a call of the group could not keep the id from its provider.
	Renamed bool
}

// sidedBlock is a block with the side that it belongs to.
type sidedBlock struct {
	role                chat.Role
	block               chat.Block
	stable, held, cycle bool
}

// Conversation puts a prepared context into the order that providers require (SRD 11.3): sides alternate, and a tool
// result directly follows its call and comes first in its message. Empty blocks, and opaque blocks of another
// provider, are dropped. Every provider refuses half a pair: a call without its result is described in text, and a
// result without its call gets one (see withCalls). Names and ids of calls that providers refuse are replaced (see
// ToolName). With tools disabled, calls and results are described in text (SRD 12.1). The last group is the user's, or an unfinished answer of the running turn that its provider paused and
// that is sent back unchanged.
func Conversation(r llm.Request, provider string, ids IDRule) ([]Group, error) {
	if !r.Context.Valid() {
		return nil, &llm.Error{
			Code:    chat.CodeInternal,
			Message: "only an assembled context can be sent; nothing was sent",
		}
	}
	groups := group(withCalls(group(visibleBlocks(r, provider))))
	for i := range groups {
		pairTools(groups, i)
	}
	if r.Endpoint.ToolsMode == llm.ToolsDisabled {
		callsAsText(groups)
	}
	groups = group(flatten(groups))
	nameCalls(groups, definedTools(r), ids)
	if len(groups) == 0 || groups[len(groups)-1].Role != chat.RoleUser && !groups[len(groups)-1].Cycle {
		return nil, &llm.Error{Code: chat.CodeInvalid, Message: "the message is empty; nothing was sent"}
	}
	return groups, nil
}

// visibleBlocks returns every block that the provider may see, with its side.
func visibleBlocks(r llm.Request, provider string) []sidedBlock {
	var flat []sidedBlock
	messages, held := r.Context.Messages(), 0
	if r.Continues != nil {
		held = r.Continues.Messages
	}
	for i, m := range messages {
		cycle := i >= len(messages)-r.Context.Cycle()
		for _, b := range m.Blocks {
			if s, ok := withSide(m.Role, b, provider, cycle); ok {
				s.stable, s.held, s.cycle = i < r.Context.StablePrefix(), i < held, cycle
				flat = append(flat, s)
			}
		}
	}
	return flat
}

// withSide decides which side a block belongs to and whether this provider may see it.
func withSide(role chat.Role, b chat.Block, provider string, cycle bool) (sidedBlock, bool) {
	s := sidedBlock{role: role, block: b}
	switch b := b.(type) {
	case chat.Text:
		return s, strings.TrimSpace(b.Text) != ""
	case chat.Refusal:
		return s, strings.TrimSpace(b.Text) != ""
	case chat.Reasoning:
		return s, b.Provider == provider && role == chat.RoleAssistant
	case chat.Unknown:
		return s, b.Provider == provider && json.Valid(b.Raw)
	case chat.Image:
		return s, role == chat.RoleUser
	case chat.ToolUse:
		if b.Provider != provider || !cycle {
			b.Provider, b.Extra = "", nil
		}
		s.role, s.block = chat.RoleAssistant, b
	case chat.ToolResult:
		s.role = chat.RoleUser
	}
	return s, true
}

func group(flat []sidedBlock) []Group {
	var out []Group
	for _, s := range flat {
		if len(out) == 0 || out[len(out)-1].Role != s.role {
			out = append(out, Group{Role: s.role, Cycle: s.cycle})
		}
		g := &out[len(out)-1]
		if s.stable && g.Stable == len(g.Blocks) {
			g.Stable++
		}
		if s.held && g.AlreadySent == len(g.Blocks) {
			g.AlreadySent++
		}
		g.Cycle = g.Cycle && s.cycle
		g.Blocks = append(g.Blocks, s.block)
	}
	return out
}

func flatten(groups []Group) []sidedBlock {
	var out []sidedBlock
	for _, g := range groups {
		for i, b := range g.Blocks {
			out = append(out, sidedBlock{role: g.Role, block: b, stable: i < g.Stable, held: i < g.AlreadySent, cycle: g.Cycle})
		}
	}
	return out
}

// pairTools keeps the calls of group i that the next group answers, sorts the results into the calls' order, and
// turns the other calls into text. Every result answers a call of the previous group, because withCalls ensures that.
func pairTools(groups []Group, i int) {
	if groups[i].Role == chat.RoleUser {
		return
	}
	var answers map[string]chat.Block
	if i+1 < len(groups) {
		answers = results(groups[i+1].Blocks)
	}
	var front chat.Blocks
	for k, b := range groups[i].Blocks {
		use, ok := b.(chat.ToolUse)
		if !ok {
			continue
		}
		if answer, ok := answers[use.ToolUseID]; ok {
			front = append(front, answer)
			delete(answers, use.ToolUseID)
			continue
		}
		groups[i].Blocks[k] = chat.Text{Text: "[Tool call, not run: " + use.Name + " " + string(use.Input) + "]"}
	}
	if len(front) > 0 {
		rest := slices.DeleteFunc(groups[i+1].Blocks, func(b chat.Block) bool { _, ok := b.(chat.ToolResult); return ok })
		groups[i+1].Blocks = append(front, rest...)
	}
}

// callsAsText replaces calls and their results by text: without definitions, providers refuse the blocks. The reasoning
// that led to calls of the running turn is left out with them.
func callsAsText(groups []Group) {
	for i, g := range groups {
		calls := false
		for k, b := range g.Blocks {
			switch b := b.(type) {
			case chat.ToolUse:
				calls = true
				groups[i].Blocks[k] = chat.Text{Text: "[Tool call: " + b.Name + " " + string(b.Input) + "]"}
			case chat.ToolResult:
				groups[i].Blocks[k] = chat.Text{Text: resultAsText(b)}
			}
		}
		if calls && g.Cycle {
			groups[i].Blocks = slices.DeleteFunc(groups[i].Blocks, func(b chat.Block) bool { _, ok := b.(chat.Reasoning); return ok })
		}
	}
}

func resultAsText(r chat.ToolResult) string {
	text := "[Result of the tool call:] "
	if r.IsError {
		text += ErrorMark
	}
	text += r.Content.RenderedText()
	for _, c := range r.Content {
		if img, ok := c.(chat.Image); ok {
			text += "\n[image " + img.MediaType + " not shown]"
		}
	}
	return text + "\n"
}

func results(blocks chat.Blocks) map[string]chat.Block {
	out := map[string]chat.Block{}
	for _, b := range blocks {
		if res, ok := b.(chat.ToolResult); ok {
			out[res.ToolUseID] = res
		}
	}
	return out
}

// ErrorMark begins the result of a failed call in protocols without an error flag.
const ErrorMark = "[Error] "

// SystemText joins the parts of the system prompt without separators: every byte that is sent is in the context's
// manifest (SPEC 6).
func SystemText(parts []string) string {
	var kept strings.Builder
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			kept.WriteString(p)
		}
	}
	return kept.String()
}

// ImageURL returns an image's address: its own, or a data URL of its bytes. It is empty for other sources.
func ImageURL(img chat.Image) string {
	src := ReadImage(img)
	if src.URL != "" || src.Data == "" {
		return src.URL
	}
	return "data:" + img.MediaType + ";base64," + src.Data
}

// ImageSource has the two forms of an image's source (chat.Image).
type ImageSource struct {
	Data string `json:"data"`
	URL  string `json:"url"`
}

// ReadImage decodes an image's source; an invalid one is empty.
func ReadImage(img chat.Image) ImageSource {
	var src ImageSource
	_ = json.Unmarshal(img.Source, &src)
	return src
}
