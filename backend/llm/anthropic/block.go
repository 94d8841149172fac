package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// block is one content block of a message. Adjacent text blocks share one part: the API splits a text where its
// citations change, in the middle of sentences, but it is one text.
type block struct {
	kind      string
	start     json.RawMessage
	part      *wire.Part
	input     wire.Text // arguments as they stream
	signature strings.Builder
	citations []json.RawMessage
	from, to  int // the block's character range within a shared text
	stopped   bool
	members   map[string]*member // of an opaque block changed by deltas; nil: unchanged
}

type blockBody struct {
	Type      string            `json:"type"`
	Text      json.RawMessage   `json:"text"`
	Citations []json.RawMessage `json:"citations"`
	Thinking  json.RawMessage   `json:"thinking"`
	Signature string            `json:"signature"`
	Data      string            `json:"data"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Input     json.RawMessage   `json:"input"`
}

// blockStart opens a block. A start that is repeated while its block is open adds nothing; otherwise a repeated index is
// another block.
func (d *decoder) blockStart(m *message, index int, raw json.RawMessage) []llm.Delta {
	var body blockBody
	if !wire.Decodes(raw, &body) || body.Type == "" || m.blocks[index].repeatedBy(body) || !d.draft.Accept() {
		return nil
	}
	if m.blocks[index] != nil {
		d.blockStop(index)
	}
	b := &block{kind: body.Type, start: bytes.Clone(raw), citations: d.draft.TakesOf(body.Citations, 0)}
	b.part = d.partFor(m, body)
	m.blocks[index] = b
	m.order = append(m.order, b)
	switch body.Type {
	case "text":
		b.from = b.part.Text.Runes()
		return d.draft.Append(b.part, body.Text)
	case "thinking":
		d.draft.Place(b.part)
		b.signature.WriteString(body.Signature)
		return d.draft.Append(b.part, body.Thinking)
	case "redacted_thinking":
		b.part.Encrypted, b.part.Raw = body.Data, b.start
	case "tool_use":
		b.part.ID, b.part.Name, b.part.Input = body.ID, wire.OriginalToolName(body.Name), objectOrNil(body.Input)
		b.part.Extra = wire.Extra(nil, raw, "type", "id", "name", "input")
		return d.draft.Announce(b.part)
	default:
		b.part.Raw = b.start
	}
	d.draft.Place(b.part)
	return nil
}

// repeatedBy reports whether a start announces a block again.
func (b *block) repeatedBy(body blockBody) bool {
	switch {
	case b == nil || b.kind != body.Type:
		return false
	case !b.stopped:
		return body.ID == b.part.ID
	}
	return b.kind == "tool_use" && body.ID == b.part.ID
}

func (d *decoder) partFor(m *message, body blockBody) *wire.Part {
	switch body.Type {
	case "text":
		if n := len(m.order); n > 0 && m.order[n-1].kind == "text" {
			return m.order[n-1].part
		}
		return &wire.Part{Kind: wire.PartText}
	case "thinking", "redacted_thinking":
		return &wire.Part{Kind: wire.PartReasoning}
	case "tool_use":
		return &wire.Part{Kind: wire.PartTool}
	}
	return &wire.Part{Kind: wire.PartOpaque}
}

// objectOrNil returns a call's complete input, if its start contained it.
func objectOrNil(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "{}" || string(raw) == "null" {
		return nil
	}
	return bytes.Clone(raw)
}

// ownOrNil returns the arguments of a call with the tool's original member names; nil if the arguments arrived with
// those names.
func ownOrNil(input json.RawMessage) json.RawMessage {
	if own := wire.OwnArguments(input); !bytes.Equal(own, input) {
		return own
	}
	return nil
}

type deltaBody struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	Signature string          `json:"signature"`
	Partial   json.RawMessage `json:"partial_json"`
	Citation  json.RawMessage `json:"citation"`
}

// blockDelta adds to a block. A delta for an unopened block, or one of another kind, opens one of its kind, so no text
// is lost.
func (d *decoder) blockDelta(index int, raw json.RawMessage) []llm.Delta {
	var delta deltaBody
	if !wire.Decodes(raw, &delta) {
		return nil
	}
	m := d.current()
	b := m.blocks[index]
	if kind := map[string]string{"text_delta": "text", "thinking_delta": "thinking"}[delta.Type]; kind != "" {
		if b == nil || b.kind != kind {
			d.blockStart(m, index, json.RawMessage(`{"type":"`+kind+`"}`))
		}
		if b = m.blocks[index]; b == nil || b.kind != kind {
			return nil // the answer has too many
		}
	}
	if b == nil {
		return nil
	}
	switch delta.Type {
	case "text_delta":
		return d.draft.Append(b.part, delta.Text)
	case "thinking_delta":
		return d.draft.Append(b.part, delta.Thinking)
	case "signature_delta":
		b.signature.WriteString(delta.Signature)
	case "citations_delta":
		if len(delta.Citation) > 0 && d.draft.Accept() {
			b.citations = append(b.citations, bytes.Clone(delta.Citation))
		}
	case "input_json_delta":
		if b.part.Kind == wire.PartTool {
			return d.toolDelta(b, delta.Partial)
		}
		b.input.Append(delta.Partial)
	default:
		b.absorb(raw)
	}
	return nil
}

func (d *decoder) toolDelta(b *block, raw json.RawMessage) []llm.Delta {
	deltas := d.draft.Append(b.part, raw)
	if b.part.Text.Len() > 0 {
		b.part.Input = nil
	}
	return deltas
}

// member is one member of a block that grows by deltas.
type member struct {
	text wire.Text
	raw  json.RawMessage // anything except a text; nil: it is a text
}

func (m *member) set(value json.RawMessage) {
	if bytes.HasPrefix(bytes.TrimSpace(value), []byte{'"'}) {
		if m.raw != nil {
			*m = member{}
		}
		m.text.Append(value)
		return
	}
	*m = member{raw: bytes.Clone(value)}
}

// MarshalJSON implements json.Marshaler.
func (m *member) MarshalJSON() ([]byte, error) {
	if m.raw != nil {
		return m.raw, nil
	}
	return chat.MarshalJSON(m.text.String())
}

// absorb merges the members of a delta into an opaque block: text grows, anything else is replaced. It handles
// compaction and future block types.
func (b *block) absorb(raw json.RawMessage) {
	var delta map[string]json.RawMessage
	if b.part.Kind != wire.PartOpaque || json.Unmarshal(raw, &delta) != nil || !b.split() {
		return
	}
	delete(delta, "type")
	for name, value := range delta {
		if b.members[name] == nil {
			b.members[name] = &member{}
		}
		b.members[name].set(value)
	}
}

// split parses the start of a block, once, so that its members can grow.
func (b *block) split() bool {
	if b.members != nil {
		return true
	}
	var start map[string]json.RawMessage
	if json.Unmarshal(b.start, &start) != nil {
		return false
	}
	b.members = make(map[string]*member, len(start))
	for name, value := range start {
		b.members[name] = &member{}
		b.members[name].set(value)
	}
	return true
}

// blockStop completes a block.
func (d *decoder) blockStop(index int) []llm.Delta {
	b := d.current().blocks[index]
	if b == nil || b.stopped {
		return nil
	}
	b.stopped = true
	switch b.part.Kind {
	case wire.PartText:
		b.to = b.part.Text.Runes()
	case wire.PartReasoning:
		if b.kind == "thinking" {
			b.part.Raw = wire.WithMembers(b.start, map[string]any{
				"thinking": b.part.Text.String(), "signature": b.signature.String(),
			})
		}
	case wire.PartTool:
		if b.part.Input != nil {
			return d.draft.Take(b.part, wire.OwnArguments(b.part.Input))
		}
		if b.part.Text.Len() > 0 {
			b.part.Input = ownOrNil(b.part.Arguments())
		}
	case wire.PartOpaque:
		b.part.Raw = b.assembled()
	}
	return nil
}

// assembled returns an opaque block as it would have been without streaming; one that arrived complete is unchanged.
func (b *block) assembled() []byte {
	if b.input.Len() > 0 && b.split() {
		b.members["input"] = &member{raw: chat.RawJSON([]byte(b.input.String()))}
	}
	if b.members == nil {
		return b.start
	}
	raw, err := chat.MarshalJSON(b.members)
	if err != nil {
		return b.start
	}
	return raw
}

// cite adds citations to each text, with the character ranges that they cover: the original blocks are joined into
// one text.
func (d *decoder) cite() {
	for _, m := range d.messages {
		for _, b := range m.order {
			if b.part.Kind == wire.PartText {
				b.part.Annotations = nil
			}
		}
		for _, b := range m.order {
			if b.part.Kind != wire.PartText {
				continue
			}
			to := b.to
			if !b.stopped {
				to = b.part.Text.Runes()
			}
			for _, raw := range b.citations {
				b.part.Annotations = append(b.part.Annotations, withSpan(raw, b.from, to))
			}
		}
	}
}

// withSpan adds start_index and end_index, the names OpenAI's citations use.
func withSpan(raw json.RawMessage, from, to int) json.RawMessage {
	var citation map[string]json.RawMessage
	if json.Unmarshal(raw, &citation) != nil || citation["start_index"] != nil {
		return raw
	}
	return wire.WithMembers(raw, map[string]any{"start_index": from, "end_index": to})
}

// items returns everything the provider returned, in order, with the facts about each message after its blocks (SRD
// 5.3).
func (d *decoder) items() chat.Items {
	out := chat.Items{}
	for _, m := range d.messages {
		out = append(out, d.messageItems(m)...)
		if m.id != "" {
			out = append(out, chat.Metadata{Key: "response_id", Value: m.id})
		}
		if m.stop != "" {
			out = append(out, chat.Metadata{Key: "stop_reason", Value: m.stop})
		}
	}
	return out
}

func (d *decoder) messageItems(m *message) chat.Items {
	var out chat.Items
	var last *wire.Part
	for _, b := range m.order {
		switch b.part.Kind {
		case wire.PartText:
			if b.part != last {
				out = append(out, d.draft.Item(b.part))
			}
			last = b.part
		case wire.PartOpaque:
			out = append(out, opaqueItem(b))
		default:
			out = append(out, d.draft.Item(b.part))
		}
	}
	if m.refusal != nil && m.refusal.Placed() {
		out = append(out, d.draft.Item(m.refusal))
	}
	return out
}

// opaqueItem distinguishes the provider's own tools from unknown content.
func opaqueItem(b *block) chat.Item {
	var body struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		ToolUseID string          `json:"tool_use_id"`
		Content   json.RawMessage `json:"content"`
	}
	wire.Decodes(b.part.Raw, &body)
	switch {
	case b.kind == "server_tool_use" || b.kind == "mcp_tool_use":
		if len(body.Input) == 0 {
			body.Input = json.RawMessage("{}")
		}
		return chat.ToolCall{CallID: body.ID, Name: body.Name, Arguments: body.Input, ServerSide: true}
	case strings.HasSuffix(b.kind, "_tool_result") && body.ToolUseID != "":
		if len(body.Content) == 0 {
			body.Content = json.RawMessage("null")
		}
		return chat.ToolOutput{CallID: body.ToolUseID, Output: body.Content}
	}
	return chat.UnknownItem{Unknown: chat.Unknown{Provider: Name, Raw: b.part.Raw}}
}
