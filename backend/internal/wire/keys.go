package wire

import "encoding/json"

// Anthropic accepts property names of 1 to 64 letters, digits, "_", "." and "-", and refuses the entire request if one
// tool has a different one ("filter[id]", "$top"). Such a name is escaped like tool names before sending, and restored in
// the model's answer.

// plainKey returns the name under which a property is sent; empty for one that is too long to be restored.
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

// PlainKeys returns a schema with names that Anthropic accepts. A property that cannot be renamed is left out; the tool
// itself reports an error if it needs it.
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

// PlainArguments returns a call's arguments under the names that PlainKeys gives them.
func PlainArguments(input json.RawMessage) json.RawMessage {
	return renameMembers(input, plainKey)
}

// OwnArguments returns a call's arguments under the tool's own names.
func OwnArguments(input json.RawMessage) json.RawMessage {
	return renameMembers(input, OriginalToolName)
}

func renameMembers(input json.RawMessage, rename func(string) string) json.RawMessage {
	if renamed := renameKeys(members(input), rename); renamed != nil {
		return encoded(renamed)
	}
	return input
}

// renameKeys renames the members of an object. It returns nil if every member keeps its name.
func renameKeys(object map[string]json.RawMessage, rename func(string) string) map[string]json.RawMessage {
	changed := false
	out := map[string]json.RawMessage{}
	for name, value := range object {
		renamed := rename(name)
		changed = changed || renamed != name
		if _, taken := object[renamed]; renamed != "" && (renamed == name || !taken) {
			out[renamed] = value
		}
	}
	if !changed {
		return nil
	}
	return out
}
