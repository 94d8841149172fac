package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// Definitions returns the tools that a request offers: none unless its mode is enabled.
func Definitions(r llm.Request) []chat.ToolDefinition {
	if mode := r.Endpoint.ToolsMode; mode != llm.ToolsEnabled && mode != llm.ToolsParseOnly {
		return nil
	}
	return r.Context.Tools()
}

// AddTools adds definitions to a body that already has the options. Tools in the options (a provider's own, such as
// web search) come after them and take precedence; options that remove the tools remove them all. A tool
// whose schema the server has refused is left out.
func AddTools(body map[string]any, r llm.Request, encode func(chat.ToolDefinition) map[string]any) (last map[string]any) {
	option, set := r.Endpoint.Options["tools"]
	if set && option == nil {
		return nil
	}
	optionTools, _ := option.([]any)
	taken := optionNames(optionTools)
	var tools []any
	for _, d := range Definitions(r) {
		if !taken[d.Name] && !slices.Contains(r.Endpoint.Refused, llm.RefusedTool+ToolName(d.Name)) {
			last = encode(d)
			tools = append(tools, last)
		}
	}
	if len(tools) > 0 {
		body["tools"] = append(tools, optionTools...)
	}
	return last
}

func optionNames(tools []any) map[string]bool {
	names := map[string]bool{}
	for _, tool := range tools {
		object, _ := tool.(map[string]any)
		function, _ := object["function"].(map[string]any)
		for _, definition := range []map[string]any{object, function} {
			if name, ok := definition["name"].(string); ok {
				names[name] = true
			}
		}
	}
	return names
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// members returns the members of a JSON object; other JSON has none.
func members(raw json.RawMessage) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if !isObject(raw) || json.Unmarshal(raw, &out) != nil {
		return map[string]json.RawMessage{}
	}
	return out
}

func list(raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	_ = json.Unmarshal(raw, &out)
	return out
}

func texts(raw json.RawMessage) []string {
	var out []string
	for _, item := range list(raw) {
		if s := Unquote(item); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// WithMembers returns an object with these members set. Other JSON is returned unchanged.
func WithMembers(raw json.RawMessage, set map[string]any) json.RawMessage {
	if !isObject(raw) || !json.Valid(raw) {
		return raw
	}
	object := members(raw)
	for name, value := range set {
		object[name] = encoded(value)
	}
	return encoded(object)
}

// encoded encodes a value that was decoded from JSON.
func encoded(v any) json.RawMessage {
	raw, err := chat.MarshalJSON(v)
	if err != nil { // decoded JSON always encodes
		return json.RawMessage(`{}`)
	}
	return raw
}

// rawArguments holds arguments of a call that are not an object. The model sees what it wrote, in a form that every
// provider accepts.
const rawArguments = "_raw"

// Arguments returns a call's arguments as an object, the only form that most providers accept.
func Arguments(input json.RawMessage) json.RawMessage {
	input = bytes.TrimSpace(input)
	if isObject(input) && json.Valid(input) {
		return input
	}
	if len(input) == 0 || string(input) == "null" {
		return json.RawMessage("{}")
	}
	text := Unquote(input)
	if inner := []byte(text); isObject(bytes.TrimSpace(inner)) && json.Valid(inner) {
		return bytes.TrimSpace(inner) // some models write the object as a string
	}
	if input[0] != '"' {
		text = string(input)
	}
	return encoded(map[string]string{rawArguments: text})
}

// Extra returns an object's members not described elsewhere, merged over the earlier ones; nil if there are none.
func Extra(before, raw json.RawMessage, described ...string) json.RawMessage {
	extra := members(raw)
	for name, value := range extra {
		if string(value) == "null" || slices.Contains(described, name) {
			delete(extra, name)
		}
	}
	if len(extra) == 0 {
		return before
	}
	all := members(before)
	maps.Copy(all, extra)
	return encoded(all)
}

// WithExtra adds to a call the extra members that its provider needs back.
func WithExtra(b chat.ToolUse) map[string]any {
	call := map[string]any{}
	for name, value := range members(b.Extra) {
		call[name] = value
	}
	return call
}
