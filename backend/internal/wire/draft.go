package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/llm"
)

// PartKind is the type of block that a part becomes.
type PartKind int

// The kinds of parts.
const (
	PartText PartKind = iota
	PartReasoning
	PartRefusal
	PartTool   // a call for the user's side to run
	PartOpaque // kept raw: run by the provider itself, or of an unknown type
)

// Part is one block of an answer under construction.
type Part struct {
	Kind        PartKind
	Text        Text // text, reasoning, refusal, or a tool's arguments
	Phase       string
	Annotations []json.RawMessage
	ID, Name    string // of a tool call
	Input       json.RawMessage
	FreeText    bool            // a tool's arguments are plain text, not JSON
	Extra       json.RawMessage // of a tool call: chat.ToolUse.Extra
	Encrypted   string
	Raw         []byte

	placed  bool
	omitted bool // because the answer has too many parts
	block   int
	named   bool
	callID  string // as assigned by NameCalls
}

// Draft collects the parts of one answer. A part gets its position among the blocks when it first has visible
// content, and keeps it, so the block index of a delta never changes.
type Draft struct {
	Provider string
	parts    []*Part
	counted  int
	ignored  []string
}

// maxEventType limits the name of an unknown event, in bytes.
const maxEventType = 80

// Ignore records the type of an event that the adapter does not know (SRD 11.1).
func (d *Draft) Ignore(eventType string) {
	eventType = display.Shorten(cmp.Or(eventType, "without a type"), maxEventType)
	if len(d.ignored) < llm.MaxIgnored && !slices.Contains(d.ignored, eventType) {
		d.ignored = append(d.ignored, eventType)
	}
}

// Ignored returns the types of the unknown events for llm.Result.
func (d *Draft) Ignored() []string { return d.ignored }

// Parts returns the collected parts for llm.Decoder.
func (d *Draft) Parts() int { return max(d.counted, len(d.parts)) }

// Accept counts one more part of the answer, and reports whether to keep it: a server must not be able to fill memory
// with empty parts.
func (d *Draft) Accept() bool {
	d.counted++
	return d.counted <= llm.MaxParts
}

// TakesOf returns the entries of a list to keep, if the first before of them were counted earlier.
func (d *Draft) TakesOf(list []json.RawMessage, before int) []json.RawMessage {
	for n := before; n < len(list); n++ {
		if !d.Accept() {
			return slices.Clone(list[:n])
		}
	}
	return list
}

// Place gives a part its block. A part beyond the limit gets none, and is not shown.
func (d *Draft) Place(p *Part) {
	if p.placed || p.omitted {
		return
	}
	if p.omitted = len(d.parts) > llm.MaxParts; p.omitted {
		return
	}
	p.placed, p.block = true, len(d.parts)
	d.parts = append(d.parts, p)
}

// Append adds a JSON string to a part.
func (d *Draft) Append(p *Part, raw json.RawMessage) []llm.Delta {
	return d.show(p, p.Text.Append(raw))
}

// AppendText adds text to a part.
func (d *Draft) AppendText(p *Part, text string) []llm.Delta {
	p.Text.AppendString(text)
	return d.show(p, text)
}

// Finish compares a part with its final text. Shown text that is a prefix of it is completed; if the two differ, the
// shown text stays, because text that a person has read must not change.
func (d *Draft) Finish(p *Part, final string) []llm.Delta {
	if !strings.HasPrefix(final, p.Text.String()) {
		return nil
	}
	rest := strings.ToValidUTF8(final[p.Text.Len():], "\uFFFD")
	p.Text.held = nil
	p.Text.AppendString(rest)
	return d.show(p, rest)
}

// Announce shows that a tool call has begun, before its arguments arrive.
func (d *Draft) Announce(p *Part) []llm.Delta {
	d.Place(p)
	if p.Kind != PartTool || p.named || p.Name == "" || p.omitted {
		return nil
	}
	p.named = true
	return []llm.Delta{{Kind: llm.DeltaTool, Block: p.block, Tool: p.Name}}
}

func (d *Draft) show(p *Part, text string) []llm.Delta {
	if text == "" {
		return nil
	}
	if d.Place(p); p.omitted {
		return nil
	}
	delta := llm.Delta{Block: p.block, Text: text}
	switch p.Kind {
	case PartText:
		delta.Kind = llm.DeltaText
	case PartReasoning:
		delta.Kind = llm.DeltaReasoning
	case PartRefusal:
		delta.Kind = llm.DeltaRefusal
	case PartTool:
		delta.Kind = llm.DeltaTool
		if !p.named {
			delta.Tool, p.named = p.Name, true
		}
	case PartOpaque:
		return nil
	}
	return []llm.Delta{delta}
}

// Blocks returns the message so far.
func (d *Draft) Blocks() chat.Blocks {
	return lists.Map(d.parts, d.Block)
}

// Block returns a part's final form.
func (d *Draft) Block(p *Part) chat.Block {
	switch p.Kind {
	case PartText:
		return chat.Text{Text: p.Text.String(), Annotations: p.Annotations, Phase: p.Phase}
	case PartReasoning:
		return chat.Reasoning{
			Provider: d.Provider, EncryptedContent: p.Encrypted,
			Summary: p.Text.String(), Raw: json.RawMessage(p.Raw),
		}
	case PartRefusal:
		return chat.Refusal{Text: p.Text.String()}
	case PartTool:
		use := chat.ToolUse{ToolUseID: p.CallID(), Name: p.Name, Input: p.Arguments()}
		if len(p.Extra) > 0 || p.ID != "" && !acceptable(p.ID) {
			use.Provider, use.Extra = d.Provider, p.Extra
		}
		return use
	default:
		return chat.Unknown{Provider: d.Provider, Raw: p.Raw}
	}
}

// NameCalls assigns an id to every call without one, and a new id to those that repeat the id of an earlier call, as
// some local servers do: results are matched to calls by id. The same answer always gets the same ids.
func (d *Draft) NameCalls() {
	taken := map[string]bool{}
	for _, p := range d.parts {
		if p.Kind == PartTool {
			taken[p.ID] = true
		}
	}
	used, n := map[string]bool{}, 0
	for _, p := range d.parts {
		if p.Kind != PartTool {
			continue
		}
		n++
		p.callID = p.ID
		for k := n; p.callID == "" || used[p.callID] || p.callID != p.ID && taken[p.callID]; k++ {
			p.callID = "call-" + strconv.Itoa(k)
		}
		used[p.callID] = true
	}
}

// CallID returns the id of a tool call: the one assigned by NameCalls, or its own.
func (p *Part) CallID() string {
	return cmp.Or(p.callID, p.ID)
}

// Take sets and shows a call's complete arguments that arrived at once.
func (d *Draft) Take(p *Part, input json.RawMessage) []llm.Delta {
	deltas := d.Finish(p, string(input))
	p.Input = bytes.Clone(input)
	return deltas
}

// Arguments returns a tool's arguments: always valid JSON.
func (p *Part) Arguments() json.RawMessage {
	if p.FreeText {
		text, _ := chat.MarshalJSON(p.Text.String()) // a string always encodes
		return text
	}
	if p.Input != nil {
		return p.Input
	}
	return chat.RawJSON([]byte(p.Text.String()))
}

// Placed reports whether the part has a block.
func (p *Part) Placed() bool { return p.placed }

// Item returns a part in the form of SRD 5.3.
func (d *Draft) Item(p *Part) chat.Item {
	switch p.Kind {
	case PartText, PartRefusal:
		return chat.AssistantMessage{Blocks: chat.Blocks{d.Block(p)}}
	case PartReasoning:
		return chat.ReasoningItem{EncryptedContent: p.Encrypted, Summary: p.Text.String(), Raw: p.Raw}
	case PartTool:
		return chat.ToolCall{CallID: p.CallID(), Name: p.Name, Arguments: p.Arguments()}
	default:
		return chat.UnknownItem{Unknown: chat.Unknown{Provider: d.Provider, Raw: p.Raw}}
	}
}

// RefuseCalls makes an answer that calls a tool while tools are off an error (SRD 12.1), and reports whether it is one.
func RefuseCalls(r *llm.Result, mode llm.ToolsMode) bool {
	for _, b := range r.Blocks {
		use, ok := b.(chat.ToolUse)
		if !ok || mode != llm.ToolsDisabled {
			continue
		}
		r.Status, r.Reason = chat.StepFailed, ""
		r.Err = &llm.Error{Code: chat.CodeToolCall, Type: "tool_call"}
		if use.Name == "" {
			r.Err.Say("the model asked for a tool while tools are off; it was not run, the text so far is kept")
		} else {
			r.Err.Say("the model asked for the tool %s while tools are off; it was not run, the text so far is kept",
				cleanWords(use.Name))
		}
		return true
	}
	return false
}

// SumUsage returns the usage of all responses of a recording; nil if none reported it.
func SumUsage(all []*chat.Usage) *chat.Usage {
	var sum *chat.Usage
	for _, u := range all {
		if u != nil && sum == nil {
			sum = &chat.Usage{}
		}
		if u != nil {
			*sum = sum.Add(*u)
		}
	}
	return sum
}
