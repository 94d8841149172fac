package anthropic

import (
	"cmp"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// decoder decodes Messages events (SRD 11.3), keyed by block index. A message that is announced twice is one message.
// A recording may contain several messages (a call, then the next message); their blocks add up, and the last one
// determines the outcome.
type decoder struct {
	mode     llm.ToolsMode
	draft    wire.Draft
	messages []*message
	terminal bool
	err      *llm.Error
}

type message struct {
	id, model string
	blocks    map[int]*block
	order     []*block
	usage     usage
	stop      string
	refusal   *wire.Part
	ended     bool
}

// NewDecoder implements llm.Provider.
func (*Provider) NewDecoder(mode llm.ToolsMode) llm.Decoder {
	return &decoder{mode: mode, draft: wire.Draft{Provider: Name}}
}

type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message json.RawMessage `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   json.RawMessage `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
}

type messageBody struct {
	ID          string            `json:"id"`
	Type        string            `json:"type"`
	Model       string            `json:"model"`
	Content     []json.RawMessage `json:"content"`
	StopReason  string            `json:"stop_reason"`
	StopDetails stopDetails       `json:"stop_details"`
	Usage       json.RawMessage   `json:"usage"`
}

type stopDetails struct {
	Explanation string `json:"explanation"`
}

// Decode implements llm.Decoder.
func (d *decoder) Decode(raw chat.RawEvent) []llm.Delta {
	if raw.Type == llm.EventResponse {
		return d.unstreamed(raw.Data)
	}
	var ev event
	if !wire.Decodes(raw.Data, &ev) {
		return nil
	}
	ev.Type = cmp.Or(ev.Type, raw.Type)
	switch ev.Type {
	case "message_start":
		return d.start(ev.Message)
	case "content_block_start":
		return d.blockStart(d.current(), ev.Index, ev.Block)
	case "content_block_delta":
		return d.blockDelta(ev.Index, ev.Delta)
	case "content_block_stop":
		return d.blockStop(ev.Index)
	case "message_delta":
		return d.messageDelta(ev)
	case "message_stop":
		d.current().ended, d.terminal = true, true
	case "error":
		d.fail(raw.Data)
	case "ping":
	default:
		d.draft.Ignore(ev.Type)
	}
	return nil
}

// start begins a message. A repeated id is the same message.
func (d *decoder) start(raw json.RawMessage) []llm.Delta {
	var body messageBody
	if !wire.Decodes(raw, &body) {
		return nil
	}
	return d.open(body)
}

func (d *decoder) open(body messageBody) []llm.Delta {
	cur := d.last()
	if cur == nil || cur.ended || (cur.id != body.ID && len(cur.order) > 0) {
		if cur != nil && !d.draft.Accept() {
			return nil
		}
		cur = d.add()
		d.terminal, d.err = false, nil
	}
	cur.id, cur.model = body.ID, body.Model
	cur.usage.read(body.Usage)
	var deltas []llm.Delta
	if len(cur.order) == 0 {
		for i, raw := range body.Content[:min(len(body.Content), llm.MaxParts+1)] {
			deltas = append(deltas, d.blockStart(cur, i, raw)...)
			deltas = append(deltas, d.blockStop(i)...)
		}
	}
	return append(deltas, d.stopped(body.StopReason, body.StopDetails)...)
}

func (d *decoder) last() *message {
	if len(d.messages) == 0 {
		return nil
	}
	return d.messages[len(d.messages)-1]
}

func (d *decoder) add() *message {
	m := &message{blocks: map[int]*block{}}
	d.messages = append(d.messages, m)
	return m
}

// current returns the message that events belong to, even if none was announced.
func (d *decoder) current() *message {
	if m := d.last(); m != nil {
		return m
	}
	return d.add()
}

func (d *decoder) messageDelta(ev event) []llm.Delta {
	var delta struct {
		StopReason  string      `json:"stop_reason"`
		StopDetails stopDetails `json:"stop_details"`
	}
	wire.Decodes(ev.Delta, &delta)
	d.current().usage.read(ev.Usage)
	return d.stopped(delta.StopReason, delta.StopDetails)
}

// stopped records why the message stops. A refusal's explanation is shown, because it is the provider's text.
func (d *decoder) stopped(reason string, details stopDetails) []llm.Delta {
	m := d.current()
	if reason == "" {
		return nil
	}
	m.stop = reason
	if reason != "refusal" || details.Explanation == "" {
		return nil
	}
	if m.refusal == nil {
		m.refusal = &wire.Part{Kind: wire.PartRefusal}
	}
	return d.draft.Finish(m.refusal, details.Explanation)
}

// unstreamed reads an answer that arrived without streaming.
func (d *decoder) unstreamed(data []byte) []llm.Delta {
	var body messageBody
	if !wire.Decodes(data, &body) {
		return nil
	}
	if body.Type != "message" && body.StopReason == "" {
		if _, failed := wire.ReadWords(data); failed {
			d.fail(data)
		}
		return nil
	}
	deltas := d.open(body)
	d.current().ended, d.terminal = true, body.StopReason != ""
	return deltas
}

func (d *decoder) fail(data []byte) {
	d.err = cmp.Or(d.err, wire.EventError(data))
	d.terminal = true
}

// Parts implements llm.Decoder.
func (d *decoder) Parts() int { return d.draft.Parts() }

// Result implements llm.Decoder.
func (d *decoder) Result() llm.Result {
	d.cite()
	d.draft.NameCalls()
	r := llm.Result{
		Blocks: d.draft.Blocks(), Items: d.items(), Usage: d.usage(), Ignored: d.draft.Ignored(),
		Terminal: d.terminal, Err: d.err,
	}
	m := d.last()
	if m == nil {
		if d.err != nil {
			r.Status = chat.StepFailed
		}
		return r
	}
	r.ResponseID, r.Model, r.Refused = m.id, m.model, m.stop == "refusal"
	if !d.terminal {
		return r
	}
	if r.Err == nil {
		r.Status, r.Reason, r.Err = outcome(m)
	}
	if r.Err != nil {
		r.Status, r.Reason = chat.StepFailed, ""
		return r
	}
	wire.RefuseCalls(&r, d.mode)
	return r
}

// outcome maps a stop reason (SRD 11.3), also those of servers that translate another protocol into this one.
func outcome(m *message) (llm.StepStatus, string, *llm.Error) {
	switch m.stop {
	case "max_tokens", "length":
		return chat.StepIncomplete, "max_output_tokens", nil
	case "model_context_window_exceeded", "content_filter":
		return chat.StepIncomplete, m.stop, nil
	case llm.ReasonPauseTurn, "compaction":
		return chat.StepPaused, m.stop, nil
	case "", "end_turn", "stop_sequence", "stop", "tool_use", "tool_calls", "refusal":
	default:
		return chat.StepFailed, "", wire.UnknownEnd(m.stop)
	}
	for _, b := range m.order {
		if b.part.Kind == wire.PartTool {
			return chat.StepPaused, "tool_use", nil
		}
	}
	return chat.StepCompleted, "", nil
}

// usage is the API's report, cumulative within a message. It counts cached input separately; the sum is the input.
type usage struct {
	Input      wire.Count `json:"input_tokens"`
	Output     wire.Count `json:"output_tokens"`
	CacheRead  wire.Count `json:"cache_read_input_tokens"`
	CacheWrite wire.Count `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	seen bool
}

// read replaces figures by newer ones; those that are missing stay.
func (u *usage) read(raw json.RawMessage) {
	if len(raw) > 0 && string(raw) != "null" && wire.Decodes(raw, u) {
		u.seen = true
	}
}

func (d *decoder) usage() *chat.Usage {
	return wire.SumUsage(lists.Map(d.messages, func(m *message) *chat.Usage {
		u := m.usage
		if !u.seen {
			return nil
		}
		return &chat.Usage{
			InputTokens:       int(u.Input + u.CacheRead + u.CacheWrite),
			OutputTokens:      int(u.Output),
			CachedInputTokens: int(u.CacheRead),
			CacheWriteTokens:  int(u.CacheWrite),
			ReasoningTokens:   int(u.Details.Thinking),
		}
	}))
}
