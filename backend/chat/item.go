package chat

import (
	"bytes"
	"encoding/json"
)

// Item is one provider-normalized output (SRD 5.3): AssistantMessage, ToolCall,
// ToolOutput, ReasoningItem, Metadata or UnknownItem. JSON as for Block.
type Item interface {
	itemType() string
}

// AssistantMessage is a message item of the provider's output.
type AssistantMessage struct {
	Blocks Blocks `json:"blocks"`
}

// ToolCall is a call requested by the model, or (ServerSide) one run by the provider.
type ToolCall struct {
	CallID     string          `json:"call_id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	ServerSide bool            `json:"server_side,omitempty"`
}

// ToolOutput is the result of a call.
type ToolOutput struct {
	CallID string          `json:"call_id"`
	Output json.RawMessage `json:"output"`
}

// ReasoningItem is reasoning, with opaque parts for its provider.
type ReasoningItem struct {
	EncryptedContent string          `json:"encrypted_content,omitempty"`
	Summary          string          `json:"summary,omitempty"`
	Raw              json.RawMessage `json:"raw,omitempty"`
}

// Metadata is a fact about the response: its id, its stop reason.
type Metadata struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// UnknownItem keeps an output without a matching type, byte for byte.
type UnknownItem struct{ Unknown }

func (AssistantMessage) itemType() string { return "assistant_message" }
func (ToolCall) itemType() string         { return "tool_call" }
func (ToolOutput) itemType() string       { return "tool_output" }
func (ReasoningItem) itemType() string    { return "reasoning" }
func (Metadata) itemType() string         { return "metadata" }
func (UnknownItem) itemType() string      { return "unknown" }

// Items is an ordered list of items with a discriminated JSON form.
type Items []Item

// MarshalJSON writes each item as an object that begins with its "type".
func (is Items) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, it := range is {
		if i > 0 {
			out = append(out, ',')
		}
		obj, err := marshalTyped(it.itemType(), it)
		if err != nil {
			return nil, err
		}
		out = append(out, obj...)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote; unknown types become UnknownItem.
func (is *Items) UnmarshalJSON(data []byte) error {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return err
	}
	out := make(Items, 0, len(raws))
	for _, raw := range raws {
		it, err := unmarshalItem(raw)
		if err != nil {
			return err
		}
		out = append(out, it)
	}
	*is = out
	return nil
}

func unmarshalItem(raw json.RawMessage) (Item, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "assistant_message":
		return decodeAs[AssistantMessage](raw)
	case "tool_call":
		return decodeAs[ToolCall](raw)
	case "tool_output":
		return decodeAs[ToolOutput](raw)
	case "reasoning":
		return decodeAs[ReasoningItem](raw)
	case "metadata":
		return decodeAs[Metadata](raw)
	case "unknown":
		return decodeAs[UnknownItem](raw)
	}
	return UnknownItem{Unknown{Provider: "contextinfinity", Raw: bytes.Clone(raw)}}, nil
}
