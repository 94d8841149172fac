package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Schema returns a tool's schema in the form that every provider accepts, because a single tool with another one would
// make every request fail. A schema that has that form already is returned unchanged. What cannot be expressed in it is
// dropped: the tool's server itself reports invalid arguments when it is called.
//
// The form is an object with properties and without alternatives at the top level; below, one type per schema, lists
// with items, anyOf as the only alternative, and no references.
func Schema(raw json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var decoded any
	if decoder.Decode(&decoded) != nil {
		decoded = nil
	}
	root, _ := decoded.(map[string]any)
	p := portable{root: root, left: maxSchemaParts}
	out := p.object(p.schema(root, nil))
	adapted := encoded(out)
	if root != nil && bytes.Equal(adapted, encoded(root)) {
		return bytes.Clone(raw)
	}
	return adapted
}

// maxSchemaParts limits the schemas that references are expanded to: a few can stand for very many.
const maxSchemaParts = 2000

// portable adapts one tool's schema.
type portable struct {
	root map[string]any
	left int
}

// Members of a schema that not every provider accepts, and without which it still describes valid arguments.
var unportable = []string{
	"$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "$dynamicRef", "$dynamicAnchor", "$vocabulary",
	"not", "if", "then", "else", "dependencies", "dependentSchemas", "dependentRequired", "patternProperties", "propertyNames",
	"unevaluatedProperties", "unevaluatedItems", "additionalItems", "prefixItems", "contains", "minContains", "maxContains",
	"contentEncoding", "contentMediaType", "contentSchema",
}

// schema adapts a schema. open are the references that lead to it.
func (p *portable) schema(in map[string]any, open []string) map[string]any {
	if p.left--; p.left < 0 {
		return map[string]any{}
	}
	if ref, ok := in["$ref"].(string); ok {
		return p.referenced(in, ref, open)
	}
	in = object(in)
	oneType(in)
	out := object(in)
	for _, name := range unportable {
		delete(out, name)
	}
	if value, ok := out["const"]; ok {
		delete(out, "const")
		out["enum"] = []any{value}
	}
	p.alternatives(in, out, open)
	p.members(in, out, open)
	bounds(out)
	return out
}

// referenced replaces a reference by what it stands for. One that leads to itself or elsewhere stands for anything.
func (p *portable) referenced(in map[string]any, ref string, open []string) map[string]any {
	target, found := p.find(ref)
	if !found || slices.Contains(open, ref) {
		target = map[string]any{}
	}
	merged := object(target)
	for name, value := range in {
		if name != "$ref" {
			merged[name] = value
		}
	}
	return p.schema(merged, append(slices.Clone(open), ref))
}

func (p *portable) find(ref string) (map[string]any, bool) {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, false
	}
	current := any(p.root)
	for _, name := range strings.Split(path, "/")[1:] {
		object, _ := current.(map[string]any)
		current = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	object, ok := current.(map[string]any)
	return object, ok
}

// alternatives adapts allOf, which is merged, and anyOf and oneOf.
func (p *portable) alternatives(in, out map[string]any, open []string) {
	delete(out, "allOf")
	for _, part := range schemas(in["allOf"]) {
		for name, value := range p.schema(part, open) {
			switch name {
			case "properties":
				merged := object(out[name])
				maps.Copy(merged, object(value))
				out[name] = merged
			case "required":
				before, _ := out[name].([]any)
				more, _ := value.([]any)
				out[name] = append(slices.Clone(before), more...)
			default:
				if _, known := out[name]; !known {
					out[name] = value
				}
			}
		}
	}
	choices := append(schemas(in["anyOf"]), schemas(in["oneOf"])...)
	delete(out, "oneOf")
	delete(out, "anyOf")
	var adapted []any
	for _, choice := range choices {
		adapted = append(adapted, p.schema(choice, open))
	}
	if len(adapted) > 0 {
		out["anyOf"] = adapted
	}
}

// oneType makes a list of types one type, or alternatives. null is dropped: a member that may be null may be left out.
func oneType(in map[string]any) {
	list, ok := in["type"].([]any)
	if !ok {
		return
	}
	list = slices.DeleteFunc(slices.Clone(list), func(t any) bool { return t == "null" })
	delete(in, "type")
	switch _, hasChoices := in["anyOf"]; {
	case len(list) == 1:
		in["type"] = list[0]
	case len(list) > 1 && !hasChoices:
		choices := make([]any, len(list))
		for i, t := range list {
			choice := map[string]any{"type": t}
			switch t {
			case "array":
				moveTo(choice, in, "items", "minItems", "maxItems", "uniqueItems")
			case "object":
				moveTo(choice, in, "properties", "required", "additionalProperties")
			}
			choices[i] = choice
		}
		in["anyOf"] = choices
	}
}

func moveTo(to, from map[string]any, names ...string) {
	for _, name := range names {
		if value, ok := from[name]; ok {
			to[name] = value
			delete(from, name)
		}
	}
}

// members adapts the schemas of an object's members and of a list's items.
func (p *portable) members(in, out map[string]any, open []string) {
	switch out["type"] {
	case "string", "number", "integer", "boolean":
		for _, name := range []string{"properties", "required", "items", "additionalProperties"} {
			delete(out, name)
		}
	}
	required, isList := out["required"].([]any)
	delete(out, "required")
	if properties, ok := out["properties"].(map[string]any); ok {
		adapted := map[string]any{}
		for name, value := range properties {
			property, _ := value.(map[string]any)
			if flag, _ := property["required"].(bool); flag { // draft 3
				required, isList = append(required, name), true
			}
			adapted[name] = p.schema(property, open)
		}
		out["properties"] = adapted
	} else {
		delete(out, "properties")
	}
	if isList {
		names := slices.DeleteFunc(slices.Clone(required), func(name any) bool { _, ok := name.(string); return !ok })
		slices.SortFunc(names, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		if names = slices.Compact(names); len(names) > 0 {
			out["required"] = names
		}
	}
	if more, ok := out["additionalProperties"].(map[string]any); ok {
		out["additionalProperties"] = p.schema(more, open)
	}
	if out["type"] != "array" && in["items"] == nil {
		return
	}
	items, _ := in["items"].(map[string]any)
	if tuple := append(schemas(in["items"]), schemas(in["prefixItems"])...); len(tuple) > 0 {
		items = tuple[0]
	}
	if items == nil {
		items = map[string]any{"type": "string"} // Gemini refuses items of any type
	}
	out["items"] = p.schema(items, open)
}

// bounds adapts the bounds of draft 4, where exclusiveMinimum says how to read minimum.
func bounds(out map[string]any) {
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		flag, is := out[exclusive].(bool)
		if !is {
			continue
		}
		delete(out, exclusive)
		if value, ok := out[bound]; ok && flag {
			out[exclusive] = value
			delete(out, bound)
		}
	}
}

// object makes a schema the one of arguments: the properties of alternatives are merged into the object.
func (p *portable) object(out map[string]any) map[string]any {
	properties := object(out["properties"])
	for _, choice := range schemas(out["anyOf"]) {
		for name, value := range object(choice["properties"]) {
			if _, known := properties[name]; !known {
				properties[name] = value
			}
		}
	}
	for _, name := range []string{"anyOf", "enum", "items"} {
		delete(out, name)
	}
	out["type"], out["properties"] = "object", properties
	return out
}

// object returns a copy of an object; other values have no members.
func object(value any) map[string]any {
	if members, ok := value.(map[string]any); ok && members != nil {
		return maps.Clone(members)
	}
	return map[string]any{}
}

// schemas returns the schemas in a list.
func schemas(value any) (out []map[string]any) {
	list, _ := value.([]any)
	for _, item := range list {
		if schema, ok := item.(map[string]any); ok {
			out = append(out, schema)
		}
	}
	return out
}
