package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// output is one item of a response: a message with its content parts, or a single part of another kind.
type output struct {
	index    int
	id, kind string
	callID   string
	phase    string
	raw      []byte // the item in its last complete form
	done     bool
	content  map[int]*wire.Part // content of a message, by content index
	main     *wire.Part         // content of any other item
	answered bool               // an output item for this call is in the stream

	summary, thought bool // which of its two texts a reasoning item shows
	lastIndex        int
}

// itemBody is the part of an output item that is read.
type itemBody struct {
	ID          string          `json:"id"`
	Type        string          `json:"type"`
	Phase       string          `json:"phase"`
	CallID      string          `json:"call_id"`
	Name        string          `json:"name"`
	Execution   string          `json:"execution"`
	Content     []contentBody   `json:"content"`
	Summary     []contentBody   `json:"summary"`
	Encrypted   json.RawMessage `json:"encrypted_content"`
	Arguments   json.RawMessage `json:"arguments"`
	Input       json.RawMessage `json:"input"`
	Action      json.RawMessage `json:"action"`
	Actions     json.RawMessage `json:"actions"`
	Operation   json.RawMessage `json:"operation"`
	Environment struct {
		Type string `json:"type"`
	} `json:"environment"`
}

type contentBody struct {
	Type        string            `json:"type"`
	Text        json.RawMessage   `json:"text"`
	Refusal     json.RawMessage   `json:"refusal"`
	Annotations []json.RawMessage `json:"annotations"`
}

// clientCalls are the calls that must be run locally, with the name shown for a call without one.
var clientCalls = map[string]string{
	"function_call": "", "custom_tool_call": "", "mcp_approval_request": "",
	"local_shell_call": "local_shell", "shell_call": "shell",
	"apply_patch_call": "apply_patch", "computer_call": "computer", "tool_search_call": "tool_search",
}

func (o *output) isCall() bool {
	return o.main != nil && o.main.Kind == wire.PartTool && !o.answered
}

// outputAt finds an output of the current response by its index, or creates it. One over the limit of parts is not
// kept.
func (d *decoder) outputAt(index int) *output {
	r := d.current()
	pos, found := slices.BinarySearchFunc(r.outputs, index, func(o *output, i int) int { return o.index - i })
	if found {
		return r.outputs[pos]
	}
	o := &output{index: index}
	if d.draft.Accept() {
		r.outputs = slices.Insert(r.outputs, pos, o)
	}
	return o
}

func (d *decoder) itemAdded(ev *event, _ []byte) []llm.Delta {
	return d.item(d.outputAt(ev.OutputIndex), ev.Item, false)
}

func (d *decoder) itemDone(ev *event, _ []byte) []llm.Delta {
	return d.item(d.outputAt(ev.OutputIndex), ev.Item, true)
}

// item processes a complete item: nearly empty at its start, final at its end.
func (d *decoder) item(o *output, raw json.RawMessage, done bool) []llm.Delta {
	var body itemBody
	if !wire.Decodes(raw, &body) || body.Type == "" || (o.done && !done) {
		return nil
	}
	if o.kind != "" && o.kind != body.Type {
		return nil // an index never changes its kind
	}
	if !o.done { // the item's own end is final; its repetition in the response may have less
		o.raw = bytes.Clone(raw)
	}
	o.kind, o.done = body.Type, done
	o.id = cmp.Or(body.ID, o.id)
	o.callID = cmp.Or(body.CallID, o.callID)
	switch body.Type {
	case "message":
		return d.message(o, body)
	case "reasoning":
		return d.reasoning(o, body)
	}
	if fallback, ok := clientCalls[body.Type]; ok && !hosted(body) {
		return d.call(o, body, fallback)
	}
	d.opaque(o)
	return nil
}

// hosted reports whether the provider itself runs a call whose type does not say so: a shell in its own container, its
// own search.
func hosted(body itemBody) bool {
	if body.Type == "tool_search_call" {
		return body.Execution != "client"
	}
	return strings.HasPrefix(body.Environment.Type, "container")
}

func (d *decoder) message(o *output, body itemBody) []llm.Delta {
	o.phase = body.Phase
	var deltas []llm.Delta
	for i, c := range body.Content[:min(len(body.Content), llm.MaxParts+1)] {
		deltas = append(deltas, d.settleContent(o, i, c)...)
	}
	for _, p := range o.content {
		p.Phase = o.phase
	}
	return deltas
}

func (d *decoder) reasoning(o *output, body itemBody) []llm.Delta {
	p := o.part(wire.PartReasoning)
	p.Raw = o.raw
	if enc := wire.Unquote(body.Encrypted); enc != "" {
		p.Encrypted = enc
	}
	if !o.done {
		return nil
	}
	d.draft.Place(p)
	shown := body.Summary
	if len(shown) == 0 || o.thought {
		shown = body.Content
	}
	var texts []string
	for _, s := range shown {
		if t := wire.Unquote(s.Text); t != "" {
			texts = append(texts, t)
		}
	}
	return d.draft.Finish(p, strings.Join(texts, "\n\n"))
}

// call processes a local call; other content than function arguments (an action, a patch) is used as its arguments.
func (d *decoder) call(o *output, body itemBody, fallback string) []llm.Delta {
	p := o.part(wire.PartTool)
	p.Name, p.ID = wire.OriginalToolName(body.Name), o.callID
	p.Name = cmp.Or(p.Name, fallback)
	p.ID = cmp.Or(p.ID, o.id)
	deltas := d.draft.Announce(p)
	switch body.Type {
	case "custom_tool_call":
		p.FreeText, p.Extra = true, callExtra(o.raw)
		deltas = append(deltas, d.draft.Finish(p, wire.Unquote(body.Input))...)
	case "function_call", "mcp_approval_request":
		if body.Type == "function_call" {
			p.Extra = callExtra(o.raw)
		}
		deltas = append(deltas, d.draft.Finish(p, wire.Unquote(body.Arguments))...)
	default:
		if o.done {
			deltas = append(deltas, d.draft.Take(p, firstJSON(body.Action, body.Operation, body.Actions, body.Arguments))...)
		}
	}
	return deltas
}

// callExtra returns the members that not every call has: its own id, a namespace.
func callExtra(raw []byte) json.RawMessage {
	return wire.Extra(nil, raw, "type", "status", "call_id", "name", "arguments", "input")
}

// opaque keeps an item raw. An output item also shows who ran its call.
func (d *decoder) opaque(o *output) {
	p := o.part(wire.PartOpaque)
	p.Raw = o.raw
	d.draft.Place(p)
	if !strings.HasSuffix(o.kind, "_output") || o.callID == "" {
		return
	}
	for _, resp := range d.responses {
		for _, other := range resp.outputs {
			if other.callID == o.callID && other.main != nil && other.main.Kind == wire.PartTool {
				other.answered = true
				other.main.Kind, other.main.Raw = wire.PartOpaque, other.raw
			}
		}
	}
}

func (o *output) part(kind wire.PartKind) *wire.Part {
	if o.main == nil {
		o.main = &wire.Part{Kind: kind}
	}
	return o.main
}

// contentPart finds a message's part by content index, or creates it.
func (d *decoder) contentPart(o *output, index int, kind wire.PartKind) *wire.Part {
	if o.content == nil {
		o.content = map[int]*wire.Part{}
	}
	p := o.content[index]
	if p == nil {
		p = &wire.Part{Kind: kind, Phase: o.phase}
		if len(o.content) > 0 && !d.draft.Accept() { // the first one belongs to the output itself
			return p
		}
		o.content[index] = p
	}
	if !p.Placed() {
		p.Kind = kind
	}
	return p
}

func (d *decoder) settleContent(o *output, index int, c contentBody) []llm.Delta {
	switch c.Type {
	case "refusal":
		return d.draft.Finish(d.contentPart(o, index, wire.PartRefusal), wire.Unquote(c.Refusal))
	case "output_text", "text", "":
		p := d.contentPart(o, index, wire.PartText)
		if len(c.Annotations) >= len(p.Annotations) && len(c.Annotations) > 0 {
			p.Annotations = d.draft.TakesOf(c.Annotations, len(p.Annotations))
		}
		return d.draft.Finish(p, wire.Unquote(c.Text))
	}
	return nil
}

func (d *decoder) partSettled(ev *event, _ []byte) []llm.Delta {
	var c contentBody
	if !wire.Decodes(ev.Part, &c) {
		return nil
	}
	return d.settleContent(d.outputAt(ev.OutputIndex), ev.ContentIndex, c)
}

func (d *decoder) contentAt(ev *event, kind wire.PartKind) *wire.Part {
	return d.contentPart(d.outputAt(ev.OutputIndex), ev.ContentIndex, kind)
}

func (d *decoder) textDelta(ev *event, _ []byte) []llm.Delta {
	return d.draft.Append(d.contentAt(ev, wire.PartText), ev.Delta)
}

func (d *decoder) textDone(ev *event, _ []byte) []llm.Delta {
	return d.draft.Finish(d.contentAt(ev, wire.PartText), wire.Unquote(ev.Text))
}

func (d *decoder) annotated(ev *event, _ []byte) []llm.Delta {
	p := d.contentAt(ev, wire.PartText)
	if len(ev.Annotation) > 0 && d.draft.Accept() {
		p.Annotations = append(p.Annotations, bytes.Clone(ev.Annotation))
	}
	return nil
}

func (d *decoder) refusalDelta(ev *event, _ []byte) []llm.Delta {
	return d.draft.Append(d.contentAt(ev, wire.PartRefusal), ev.Delta)
}

func (d *decoder) refusalDone(ev *event, _ []byte) []llm.Delta {
	return d.draft.Finish(d.contentAt(ev, wire.PartRefusal), wire.Unquote(ev.Refusal))
}

func (d *decoder) summaryDelta(ev *event, _ []byte) []llm.Delta {
	o := d.outputAt(ev.OutputIndex)
	if o.thought {
		return nil
	}
	o.summary = true
	return d.reasoningDelta(o, ev.SummaryIndex, ev.Delta)
}

func (d *decoder) thoughtDelta(ev *event, _ []byte) []llm.Delta {
	o := d.outputAt(ev.OutputIndex)
	if o.summary {
		return nil
	}
	o.thought = true
	return d.reasoningDelta(o, ev.ContentIndex, ev.Delta)
}

// reasoningDelta adds an empty line between the parts of a summary.
func (d *decoder) reasoningDelta(o *output, index int, raw json.RawMessage) []llm.Delta {
	p := o.part(wire.PartReasoning)
	var deltas []llm.Delta
	if index != o.lastIndex && p.Text.Len() > 0 {
		deltas = d.draft.Append(p, json.RawMessage(`"\n\n"`))
	}
	o.lastIndex = index
	return append(deltas, d.draft.Append(p, raw)...)
}

func (d *decoder) argumentsDelta(ev *event, _ []byte) []llm.Delta {
	o := d.outputAt(ev.OutputIndex)
	p := o.part(wire.PartTool)
	p.FreeText = p.FreeText || strings.HasPrefix(ev.Type, "response.custom_tool")
	return d.draft.Append(p, ev.Delta)
}

func (d *decoder) argumentsDone(ev *event, _ []byte) []llm.Delta {
	o := d.outputAt(ev.OutputIndex)
	final := ev.Arguments
	p := o.part(wire.PartTool)
	if strings.HasPrefix(ev.Type, "response.custom_tool") {
		final, p.FreeText = ev.Input, true
	}
	return d.draft.Finish(p, wire.Unquote(final))
}

// reconcile completes the streamed output from the final output list. An item that was never streamed is added
// complete.
func (d *decoder) reconcile(resp *response, final []json.RawMessage) []llm.Delta {
	final = final[:min(len(final), llm.MaxParts+1)]
	bodies := make([]itemBody, len(final))
	for i, raw := range final {
		wire.Decodes(raw, &bodies[i])
	}
	var deltas []llm.Delta
	for i, o := range match(resp.outputs, bodies) {
		if bodies[i].Type == "" {
			continue
		}
		if o == nil {
			o = d.outputAt(resp.freeIndex(i))
		}
		deltas = append(deltas, d.item(o, final[i], true)...)
	}
	return deltas
}

// match finds the streamed output of each final item, nil if there is none: by id, otherwise by position and type,
// otherwise the next unmatched one of its type. The last two are for gateways that change ids or omit items from the
// final list.
func match(streamed []*output, final []itemBody) []*output {
	found := make([]*output, len(final))
	taken := make([]bool, len(streamed))
	for _, fits := range []func(o *output, streamedIndex int, body itemBody, finalIndex int) bool{
		func(o *output, _ int, body itemBody, _ int) bool { return o.isSame(body) },
		func(o *output, streamedIndex int, body itemBody, finalIndex int) bool {
			return streamedIndex == finalIndex && (o.kind == body.Type || o.kind == "")
		},
		func(o *output, _ int, body itemBody, _ int) bool { return o.kind == body.Type },
	} {
		for i, body := range final {
			for j := 0; found[i] == nil && j < len(streamed); j++ {
				if !taken[j] && fits(streamed[j], j, body, i) {
					found[i], taken[j] = streamed[j], true
				}
			}
		}
	}
	return found
}

// isSame reports whether an item has this output's id, or is the same call.
func (o *output) isSame(body itemBody) bool {
	return body.ID != "" && o.id == body.ID || body.CallID != "" && o.callID == body.CallID && o.kind == body.Type
}

// freeIndex returns the preferred index if no output has it, otherwise the index after the last.
func (r *response) freeIndex(preferred int) int {
	last := -1
	for _, o := range r.outputs {
		if o.index == preferred {
			preferred = -1
		}
		last = max(last, o.index)
	}
	if preferred >= 0 {
		return preferred
	}
	return last + 1
}
