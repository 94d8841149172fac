package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// scripted is a provider whose calls follow a script; without one it answers "ok". Its wire events are
// {"k":kind,"b":block,"s":text}, with the kinds text, refusal, reasoning, call, pause, done and refused.
type scripted struct {
	mu       sync.Mutex
	calls    []answer
	byModel  map[string]answer // by model id; takes precedence over calls
	requests []string
}

// answer scripts one call: it waits for start, if it is set, yields events, and calls end, if it is set.
type answer struct {
	start  <-chan struct{}
	events []string
	end    func(ctx context.Context) error
}

type wire struct {
	Kind  string `json:"k"`
	Block int    `json:"b"`
	Text  string `json:"s"`
}

func ev(kind string, block int, s string) string {
	raw, _ := chat.MarshalJSON(wire{kind, block, s})
	return string(raw)
}

func say(parts ...string) answer {
	var a answer
	for _, p := range parts {
		a.events = append(a.events, ev("text", 0, p))
	}
	a.events = append(a.events, ev("done", 0, ""))
	return a
}

// toolCall returns an answer with text and a tool call.
func toolCall(text, id, name, input string) answer {
	use, _ := chat.MarshalJSON(map[string]string{"ID": id, "Name": name, "Input": input})
	return answer{events: []string{ev("text", 0, text), ev("call", 1, string(use)), ev("pause", 0, "")}}
}

// cut returns an answer that fails like a dropped connection.
func cut(parts ...string) answer {
	a := say(parts...)
	a.events = a.events[:len(a.events)-1]
	a.end = func(context.Context) error {
		return &llm.Error{Code: chat.CodeUnavailable, Message: "connection reset", Retry: true}
	}
	return a
}

// hang returns an answer that waits after its text; begun is closed before it waits.
func hang(begun chan<- struct{}, parts ...string) answer {
	a := cut(parts...)
	a.end = func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return &llm.Error{Code: chat.CodeCancelled, Err: ctx.Err()}
	}
	return a
}

func refuse(e *llm.Error) answer {
	return answer{end: func(context.Context) error { return e }}
}

func (p *scripted) script(calls ...answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, calls...)
}

func (p *scripted) Name() string { return "chatcompletions" }

func (p *scripted) Encode(r llm.Request) (json.RawMessage, error) {
	return chat.MarshalJSON(map[string]any{"model": r.Endpoint.ModelID, "system": r.Context.System(), "messages": r.Context.Messages()})
}

func (p *scripted) Stream(ctx context.Context, _ llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	p.mu.Lock()
	p.requests = append(p.requests, string(body))
	call := say("ok")
	var request struct{ Model string }
	_ = json.Unmarshal(body, &request)
	if a, ok := p.byModel[request.Model]; ok {
		call = a
	} else if len(p.calls) > 0 {
		call, p.calls = p.calls[0], p.calls[1:]
	}
	p.mu.Unlock()
	if call.start != nil {
		<-call.start
	}
	for _, e := range call.events {
		if err := yield(chat.RawEvent{Type: "message", Data: []byte(e)}); err != nil {
			return err
		}
	}
	if call.end != nil {
		return call.end(ctx)
	}
	return nil
}

func (p *scripted) NewDecoder(llm.ToolsMode) llm.Decoder { return &decoder{} }

type decoder struct{ r llm.Result }

func (d *decoder) Decode(raw chat.RawEvent) []llm.Delta {
	var w wire
	_ = json.Unmarshal(raw.Data, &w)
	if w.Kind == "call" {
		var use struct{ ID, Name, Input string }
		_ = json.Unmarshal([]byte(w.Text), &use)
		d.r.Blocks = append(d.r.Blocks, chat.ToolUse{ToolUseID: use.ID, Name: use.Name, Input: json.RawMessage(use.Input)})
		d.r.Items = chat.Items{chat.AssistantMessage{Blocks: d.r.Blocks}}
		return nil
	}
	if w.Kind == "pause" {
		d.r.Terminal, d.r.Status, d.r.Usage = true, chat.StepPaused, &chat.Usage{InputTokens: 10, OutputTokens: 5}
		return nil
	}
	if w.Kind == "done" || w.Kind == "refused" {
		d.r.Terminal, d.r.Status, d.r.Refused = true, chat.StepCompleted, w.Kind == "refused"
		d.r.Usage = &chat.Usage{InputTokens: 10, OutputTokens: 5}
		return nil
	}
	for len(d.r.Blocks) <= w.Block {
		d.r.Blocks = append(d.r.Blocks, chat.Text{})
	}
	switch w.Kind {
	case "text":
		t, _ := d.r.Blocks[w.Block].(chat.Text)
		d.r.Blocks[w.Block] = chat.Text{Text: t.Text + w.Text}
	case "refusal":
		t, _ := d.r.Blocks[w.Block].(chat.Refusal)
		d.r.Blocks[w.Block] = chat.Refusal{Text: t.Text + w.Text}
	case "reasoning":
		t, _ := d.r.Blocks[w.Block].(chat.Reasoning)
		d.r.Blocks[w.Block] = chat.Reasoning{Summary: t.Summary + w.Text}
	}
	d.r.Items = chat.Items{chat.AssistantMessage{Blocks: d.r.Blocks}}
	return []llm.Delta{{Kind: llm.DeltaKind(w.Kind), Block: w.Block, Text: w.Text}}
}

func (d *decoder) Result() llm.Result { return d.r }
func (d *decoder) Parts() int         { return len(d.r.Blocks) }

// named is the provider under another name.
type named struct {
	*scripted
	name string
}

func (n named) Name() string { return n.name }

// ListModels refuses bad keys.
func (n named) ListModels(_ context.Context, e llm.Endpoint) ([]string, error) {
	if strings.Contains(e.Key.Reveal(), "bad") {
		return nil, &llm.Error{Code: chat.CodeAuth, Status: 401, Message: "invalid key " + e.Key.Reveal()}
	}
	return []string{"one", "two"}, nil
}
