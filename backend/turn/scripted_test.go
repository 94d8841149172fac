package turn_test

import (
	"context"
	"encoding/json"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/llm"
)

// scripted is a provider whose calls follow a script. Its wire events are {"t":"text","s":...},
// {"t":"reasoning","s":...}, {"t":"tool","id":...,"s":name,"in":arguments}, {"t":"hosted","s":a block as JSON},
// {"t":"refused"}, {"t":"done"}, {"t":"cut"}, {"t":"pause"}, {"t":"error","code":...}.
type scripted struct {
	mu    sync.Mutex
	calls []call
	sent  []json.RawMessage
}

// call scripts one Stream call: it yields events, waits for gate if set, and returns err.
type call struct {
	events []string
	// after is called with the index of each event that was yielded.
	after func(int)
	gate  <-chan struct{}
	err   error
}

type wireEvent struct {
	T    string    `json:"t"`
	S    string    `json:"s"`
	ID   string    `json:"id,omitempty"`
	In   string    `json:"in,omitempty"`
	Code chat.Code `json:"code"`
}

func text(s string) string { return event(wireEvent{T: "text", S: s}) }

func reasoning(s string) string { return event(wireEvent{T: "reasoning", S: s}) }

const done = `{"t":"done"}`

func callEvent(id, name, arguments string) string {
	return event(wireEvent{T: "tool", ID: id, S: name, In: arguments})
}

func event(e wireEvent) string {
	raw, _ := json.Marshal(e)
	return string(raw)
}

func (p *scripted) Name() string { return "scripted" }

func (p *scripted) Encode(r llm.Request) (json.RawMessage, error) {
	body := map[string]any{"system": r.Context.System(), "messages": r.Context.Messages(), "tools": names(r.Context.Tools())}
	if r.Endpoint.Store {
		body["store"] = true
	}
	if r.Continues != nil {
		body["messages"], body["continues"] = r.Context.Messages()[r.Continues.Messages:], r.Continues.ResponseID
	}
	return chat.MarshalJSON(body)
}

func names(defs []chat.ToolDefinition) []string {
	return lists.Map(defs, func(d chat.ToolDefinition) string { return d.Name })
}

func (p *scripted) next(body json.RawMessage) call {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, body)
	if len(p.calls) == 0 {
		return call{events: []string{text("ok"), done}}
	}
	c := p.calls[0]
	p.calls = p.calls[1:]
	return c
}

func (p *scripted) script(calls ...call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, calls...)
}

// forget drops the script and the recorded requests.
func (p *scripted) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls, p.sent = nil, nil
}

func (p *scripted) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]string, len(p.sent))
	for i, b := range p.sent {
		out[i] = string(b)
	}
	return out
}

func (p *scripted) Stream(ctx context.Context, _ llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	c := p.next(body)
	for i, ev := range c.events {
		if err := ctx.Err(); err != nil {
			return &llm.Error{Code: chat.CodeCancelled, Err: err}
		}
		if err := yield(chat.RawEvent{Type: "message", Data: []byte(ev)}); err != nil {
			return err
		}
		if c.after != nil {
			c.after(i)
		}
	}
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return &llm.Error{Code: chat.CodeCancelled, Err: ctx.Err()}
		}
	}
	return c.err
}

func (p *scripted) NewDecoder(mode llm.ToolsMode) llm.Decoder { return &scriptedDecoder{mode: mode} }

type scriptedDecoder struct {
	mode llm.ToolsMode
	r    llm.Result
}

func (d *scriptedDecoder) Decode(ev chat.RawEvent) []llm.Delta {
	var w wireEvent
	_ = json.Unmarshal(ev.Data, &w)
	switch w.T {
	case "text":
		if len(d.r.Blocks) == 0 {
			d.r.Blocks = chat.Blocks{chat.Text{}}
		}
		d.r.Blocks[0] = chat.Text{Text: d.r.Blocks[0].(chat.Text).Text + w.S}
		d.r.Items = chat.Items{chat.AssistantMessage{Blocks: d.r.Blocks}}
		return []llm.Delta{{Kind: llm.DeltaText, Text: w.S}}
	case "reasoning": // only before any text
		if len(d.r.Blocks) == 0 {
			d.r.Blocks = chat.Blocks{chat.Reasoning{}}
		}
		d.r.Blocks[0] = chat.Reasoning{Summary: d.r.Blocks[0].(chat.Reasoning).Summary + w.S}
		return []llm.Delta{{Kind: llm.DeltaReasoning, Text: w.S}}
	case "tool":
		d.r.Blocks = append(d.r.Blocks, chat.ToolUse{ToolUseID: w.ID, Name: w.S, Input: chat.RawJSON([]byte(w.In))})
		return []llm.Delta{{Kind: llm.DeltaTool, Block: len(d.r.Blocks) - 1, Tool: w.S, Text: w.In}}
	case "unknown":
		d.r.Ignored = append(d.r.Ignored, w.S)
	case "panic":
		panic("a bug in the decoder")
	case "done":
		d.r.Terminal, d.r.Status, d.r.ResponseID = true, chat.StepCompleted, w.ID
		for _, b := range d.r.Blocks {
			if use, ok := b.(chat.ToolUse); ok {
				if d.r.Status = chat.StepPaused; d.mode == llm.ToolsDisabled {
					d.r.Status, d.r.Err = chat.StepFailed, &llm.Error{Code: chat.CodeToolCall, Message: "it called " + use.Name}
				}
			}
		}
		d.r.Usage = &chat.Usage{InputTokens: 10, OutputTokens: 5}
	case "hosted": // a call of the provider's own tools
		d.r.Blocks = append(d.r.Blocks, chat.Unknown{Provider: "scripted", Raw: json.RawMessage(w.S)})
	case "refused": // only before done
		d.r.Refused = true
	case "cut": // at the limit of the output
		d.r.Terminal, d.r.Status = true, chat.StepIncomplete
	case "pause":
		d.r.Terminal, d.r.Status, d.r.Reason = true, chat.StepPaused, llm.ReasonPauseTurn
	case "usage": // the last of its call
		if d.r.Usage == nil {
			d.r.Usage = &chat.Usage{}
		}
		_ = json.Unmarshal([]byte(w.S), d.r.Usage)
	case "error":
		d.r.Terminal, d.r.Status, d.r.Err = true, chat.StepFailed, &llm.Error{Code: w.Code, Message: "the script said so"}
	}
	return nil
}

func (d *scriptedDecoder) Parts() int { return len(d.r.Blocks) }

func (d *scriptedDecoder) Result() llm.Result {
	r := d.r
	r.Blocks = append(chat.Blocks{}, r.Blocks...)
	return r
}
