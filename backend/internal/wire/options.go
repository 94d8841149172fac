package wire

import (
	"encoding/json"
	"maps"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// Merge merges a model's provider_options into a body: objects are merged by member, anything else replaces the
// value, and null removes it. The options take precedence; neither argument is changed.
func Merge(body, options map[string]any) map[string]any {
	out := maps.Clone(body)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range options {
		if value == nil {
			delete(out, key)
			continue
		}
		over, isObject := value.(map[string]any)
		under, wasObject := out[key].(map[string]any)
		switch {
		case isObject && wasObject:
			out[key] = Merge(under, over)
		case isObject:
			out[key] = Merge(nil, over)
		default:
			out[key] = value
		}
	}
	return out
}

// HasTools reports whether a body has tool definitions.
func HasTools(body map[string]any) bool {
	switch tools := body["tools"].(type) {
	case []any:
		return len(tools) > 0
	case []map[string]any:
		return len(tools) > 0
	}
	return false
}

// Marshal encodes a body with sorted keys and without HTML escaping, so the same request always has the same bytes.
func Marshal(body map[string]any) (json.RawMessage, error) {
	raw, err := chat.MarshalJSON(body)
	if err != nil {
		return nil, &llm.Error{
			Code: chat.CodeConfig, Err: err,
			Message: "provider_options contain a value that cannot be sent as JSON",
		}
	}
	return raw, nil
}

// MaxOutput returns the token limit of the answer: what the context leaves for it, at most the model's own limit. It is
// always sent, so it must be positive.
func MaxOutput(r llm.Request) (int, error) {
	limit := r.Context.MaxOutput()
	if r.Endpoint.MaxOutput > 0 {
		limit = min(limit, r.Endpoint.MaxOutput)
	}
	if limit <= 0 {
		return 0, &llm.Error{
			Code:    chat.CodeOverBudget,
			Message: "the context leaves no room for an answer",
		}
	}
	return limit, nil
}
