package chatcompletions

import (
	"bytes"
	"encoding/json"
	"maps"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
)

// thoughts says how a server wrote what its model thought, so that it gets it back in the
// same form while a turn with tool calls continues: DeepSeek and Kimi refuse a call that comes
// back without it, others think again.
type thoughts struct {
	member  string    // of the message that held the text
	details []*detail // OpenRouter's reasoning_details, put together again
}

// detail is one piece of reasoning_details. A text comes in many of them, all with the same
// type and index.
type detail struct {
	members map[string]json.RawMessage
	grows   string // the member whose pieces add up
	text    wire.Text
}

// growing names the member of each type of detail that comes in pieces.
var growing = map[string]string{"reasoning.text": "text", "reasoning.summary": "summary"}

// add takes the details of one chunk; takes reports whether there is room for one more.
func (t *thoughts) add(pieces []json.RawMessage, takes func() bool) {
	for _, raw := range pieces {
		members := map[string]json.RawMessage{}
		if json.Unmarshal(raw, &members) != nil || len(members) == 0 {
			continue
		}
		grows := growing[wire.Unquote(members["type"])]
		piece := members[grows]
		delete(members, grows)
		last := t.last()
		if grows == "" || last == nil || last.grows != grows || !bytes.Equal(last.members["index"], members["index"]) {
			if !takes() {
				continue
			}
			last = &detail{members: map[string]json.RawMessage{}, grows: grows}
			t.details = append(t.details, last)
		}
		last.text.Append(piece)
		for name, value := range members {
			if string(value) != "null" || last.members[name] == nil {
				last.members[name] = bytes.Clone(value)
			}
		}
	}
}

func (t *thoughts) last() *detail {
	if len(t.details) == 0 {
		return nil
	}
	return t.details[len(t.details)-1]
}

// written is what a Reasoning block keeps of it (chat.Reasoning.Raw).
type written struct {
	Member  string            `json:"member,omitempty"`
	Details []json.RawMessage `json:"reasoning_details,omitempty"`
}

// raw is nil where a server wants nothing back.
func (t *thoughts) raw() []byte {
	w := written{Member: t.member}
	for _, d := range t.details {
		members := maps.Clone(d.members)
		if d.grows != "" {
			members[d.grows], _ = chat.MarshalJSON(d.text.String()) // a string always encodes
		}
		if raw, err := chat.MarshalJSON(members); err == nil {
			w.Details = append(w.Details, raw)
		}
	}
	if w.Member == "" && len(w.Details) == 0 {
		return nil
	}
	raw, err := chat.MarshalJSON(w)
	if err != nil {
		return nil
	}
	return raw
}

// giveBack puts what a model thought into the message that its server gets back.
func giveBack(message map[string]any, b chat.Reasoning) {
	var w written
	if json.Unmarshal(b.Raw, &w) != nil {
		return
	}
	switch {
	case len(w.Details) > 0:
		message["reasoning_details"] = w.Details
	case (w.Member == memberContent || w.Member == memberPlain) && b.Summary != "":
		message[w.Member] = b.Summary
	}
}

// The members in which servers write what a model thinks.
const (
	memberContent = "reasoning_content" // DeepSeek, vLLM, llama.cpp
	memberPlain   = "reasoning"         // Ollama, OpenRouter
)
