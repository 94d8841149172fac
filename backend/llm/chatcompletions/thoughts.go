package chatcompletions

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
)

// thoughts records the format of a server's reasoning, so that it is sent back in the same format while a turn with
// tool calls continues, and with later ones: DeepSeek and Kimi refuse a call without it, others repeat their reasoning.
type thoughts struct {
	member  string    // the message member with the text
	details []*detail // OpenRouter's reasoning_details, reassembled
}

// detail is one piece of reasoning_details. A text arrives in many pieces with the same type and index.
type detail struct {
	members map[string]json.RawMessage
	grows   string // the member that the pieces extend
	text    wire.Text
}

// growing names the member of each type of detail that arrives in pieces.
var growing = map[string]string{"reasoning.text": "text", "reasoning.summary": "summary"}

// add adds the details of one chunk; takes reports whether one more can be kept.
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

// storedThoughts is what a Reasoning block stores of them (chat.Reasoning.Raw).
type storedThoughts struct {
	Member  string            `json:"member,omitempty"`
	Details []json.RawMessage `json:"reasoning_details,omitempty"`
}

// raw returns the thoughts for storage; nil if the server needs nothing back.
func (t *thoughts) raw() []byte {
	w := storedThoughts{Member: t.member}
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

// addReasoning adds the model's reasoning to the message that is sent back to its server.
func addReasoning(message map[string]any, b chat.Reasoning) {
	var w storedThoughts
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

// completeReasoning adds the member to the answers that have none, if others have it or the server demands it: DeepSeek
// requires it in all of a conversation with calls.
func completeReasoning(messages []any, demanded bool) {
	has := func(m any) bool { return m.(map[string]any)[memberContent] != nil }
	if !demanded && !slices.ContainsFunc(messages, has) {
		return
	}
	for _, m := range messages {
		if m := m.(map[string]any); m["role"] == "assistant" && m[memberContent] == nil {
			m[memberContent] = ""
		}
	}
}

// The members in which servers send a model's reasoning.
const (
	memberContent = "reasoning_content" // DeepSeek, vLLM, llama.cpp
	memberPlain   = "reasoning"         // Ollama, OpenRouter
)
