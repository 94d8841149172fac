package wire

import "encoding/json"

// Anthropic accepts property names of 1 to 64 letters, digits, "_", "." and "-", and refuses the whole request if one
// tool has another ("filter[id]", "$top"). Such a name is escaped like tool names before sending, and restored in the
// model's answer.

// plainKey is the name under which a property is sent; empty for one that is too long to be restored.
func plainKey(name string) string {
	plain := name != "" && len(name) <= maxToolName
	for i := 0; plain && i < len(name); i++ {
		plain = plainByte(name[i]) || name[i] == '.'
	}
	if plain {
		return name
	}
	if sent := ToolName(name); OriginalToolName(sent) == name {
		return sent
	}
	return ""
}

// PlainKeys is a schema with such names. A property that cannot be renamed is left out: the tool itself reports if it
// needs it.
func PlainKeys(schema json.RawMessage) json.RawMessage {
	all := members(schema)
	properties := members(all["properties"])
	renamed := renameKeys(properties, plainKey)
	if renamed == nil {
		return schema
	}
	all["properties"] = encoded(renamed)
	var required []string
	for _, name := range texts(all["required"]) {
		if sent := plainKey(name); sent != "" {
			required = append(required, sent)
		}
	}
	delete(all, "required")
	if len(required) > 0 {
		all["required"] = encoded(required)
	}
	return encoded(all)
}

// PlainArguments are a call's arguments under the names that PlainKeys gives them.
func PlainArguments(input json.RawMessage) json.RawMessage {
	return renameMembers(input, plainKey)
}

// OwnArguments are a call's arguments as the tool names them.
func OwnArguments(input json.RawMessage) json.RawMessage {
	return renameMembers(input, OriginalToolName)
}

func renameMembers(input json.RawMessage, rename func(string) string) json.RawMessage {
	if renamed := renameKeys(members(input), rename); renamed != nil {
		return encoded(renamed)
	}
	return input
}

// renameKeys is nil if every member keeps its name.
func renameKeys(of map[string]json.RawMessage, rename func(string) string) map[string]json.RawMessage {
	changed := false
	out := map[string]json.RawMessage{}
	for name, value := range of {
		to := rename(name)
		changed = changed || to != name
		if _, taken := of[to]; to != "" && (to == name || !taken) {
			out[to] = value
		}
	}
	if !changed {
		return nil
	}
	return out
}
