package recall

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// The types of events.
const (
	typeStart = "recall.start"
	typeDelta = "recall.delta"
	typeDone  = "recall.done"
)

// event is any of recall's events.
type event struct {
	Type  string        `json:"type"`
	Query string        `json:"query,omitempty"`
	Text  string        `json:"text,omitempty"`
	Turns []chat.TurnID `json:"turns,omitempty"` // quoted, in order
}

type decoder struct {
	draft wire.Draft
	text  wire.Part
	done  bool
}

func newDecoder(llm.ToolsMode) *decoder {
	return &decoder{draft: wire.Draft{Provider: Name}}
}

// Decode implements llm.Decoder.
func (d *decoder) Decode(raw chat.RawEvent) []llm.Delta {
	var ev struct {
		Type string   `json:"type"`
		Text jsonText `json:"text"`
	}
	if !wire.Decodes(raw.Data, &ev) {
		return nil
	}
	switch ev.Type {
	case typeDelta:
		return d.draft.Append(&d.text, ev.Text.raw)
	case typeDone:
		d.done = true
		return d.draft.Append(&d.text, ev.Text.raw)
	}
	return nil
}

// jsonText keeps a JSON string undecoded for the draft.
type jsonText struct{ raw []byte }

func (t *jsonText) UnmarshalJSON(data []byte) error {
	t.raw = append([]byte(nil), data...)
	return nil
}

// Parts implements llm.Decoder.
func (d *decoder) Parts() int { return d.draft.Parts() }

// Result implements llm.Decoder.
func (d *decoder) Result() llm.Result {
	r := llm.Result{
		Blocks: d.draft.Blocks(), Items: chat.Items{}, Model: Name, Terminal: d.done, Status: chat.StepCompleted,
	}
	if len(r.Blocks) > 0 {
		r.Items = append(r.Items, chat.AssistantMessage{Blocks: r.Blocks})
	}
	return r
}
