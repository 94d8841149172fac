package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/wire"
)

// items returns everything the provider returned, in order, with the facts about each response after its output (SRD
// 5.3).
func (d *decoder) items() chat.Items {
	out := chat.Items{}
	for _, resp := range d.responses {
		for _, o := range resp.outputs {
			out = append(out, d.itemsOf(o)...)
		}
		if resp.id != "" {
			out = append(out, chat.Metadata{Key: "response_id", Value: resp.id})
		}
	}
	return out
}

func (d *decoder) itemsOf(o *output) chat.Items {
	switch {
	case o.kind == "message" || o.content != nil:
		return chat.Items{chat.AssistantMessage{Blocks: d.contentBlocks(o)}}
	case o.main == nil:
		return nil
	case o.main.Kind != wire.PartOpaque:
		return chat.Items{d.draft.Item(o.main)}
	}
	return hostedItems(o)
}

func (d *decoder) contentBlocks(o *output) chat.Blocks {
	return lists.Map(slices.Sorted(maps.Keys(o.content)), func(i int) chat.Block { return d.draft.Block(o.content[i]) })
}

// hostedItem is the part that is read of an item that the provider ran itself.
type hostedItem struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Action    json.RawMessage `json:"action"`
	Queries   json.RawMessage `json:"queries"`
	Results   json.RawMessage `json:"results"`
	Code      json.RawMessage `json:"code"`
	Container json.RawMessage `json:"container_id"`
	Outputs   json.RawMessage `json:"outputs"`
	Output    json.RawMessage `json:"output"`
	Error     json.RawMessage `json:"error"`
	Result    json.RawMessage `json:"result"`
	Prompt    json.RawMessage `json:"revised_prompt"`
	Label     json.RawMessage `json:"server_label"`
	Tools     json.RawMessage `json:"tools"`
}

// hostedTools names, by type of item, the members with a hosted call's arguments and result.
var hostedTools = map[string]func(hostedItem) (args, result json.RawMessage){
	"web_search_call": func(h hostedItem) (json.RawMessage, json.RawMessage) { return firstJSON(h.Action), nil },
	"file_search_call": func(h hostedItem) (json.RawMessage, json.RawMessage) {
		return object("queries", h.Queries), firstJSON(h.Results)
	},
	"code_interpreter_call": func(h hostedItem) (json.RawMessage, json.RawMessage) {
		return object("code", h.Code, "container_id", h.Container), firstJSON(h.Outputs)
	},
	"image_generation_call": func(h hostedItem) (json.RawMessage, json.RawMessage) {
		return object("revised_prompt", h.Prompt), firstJSON(h.Result)
	},
	"mcp_call": func(h hostedItem) (json.RawMessage, json.RawMessage) {
		return arguments(h.Arguments), firstJSON(h.Output, h.Error)
	},
	"mcp_list_tools": func(h hostedItem) (json.RawMessage, json.RawMessage) {
		return object("server_label", h.Label), firstJSON(h.Tools, h.Error)
	},
	"tool_search_call": func(h hostedItem) (json.RawMessage, json.RawMessage) { return arguments(h.Arguments), nil },
	"shell_call":       func(h hostedItem) (json.RawMessage, json.RawMessage) { return firstJSON(h.Action), nil },
	"local_shell_call": func(h hostedItem) (json.RawMessage, json.RawMessage) { return firstJSON(h.Action), nil },
	"computer_call":    func(h hostedItem) (json.RawMessage, json.RawMessage) { return firstJSON(h.Action), nil },
	"function_call":    func(h hostedItem) (json.RawMessage, json.RawMessage) { return arguments(h.Arguments), nil },
}

func hostedItems(o *output) chat.Items {
	var h hostedItem
	if !wire.Decodes(o.main.Raw, &h) {
		return chat.Items{unknownItem(o)}
	}
	id := o.callID
	id = cmp.Or(id, o.id)
	if strings.HasSuffix(o.kind, "_output") && o.callID != "" {
		return chat.Items{chat.ToolOutput{CallID: id, Output: firstJSON(h.Output, h.Tools, o.main.Raw)}}
	}
	parts, known := hostedTools[o.kind]
	if !known {
		return chat.Items{unknownItem(o)}
	}
	args, result := parts(h)
	if args == nil {
		args = json.RawMessage("{}")
	}
	name := h.Name
	if name == "" {
		name = strings.TrimSuffix(o.kind, "_call")
	}
	items := chat.Items{chat.ToolCall{CallID: id, Name: name, Arguments: args, ServerSide: true}}
	if result != nil {
		items = append(items, chat.ToolOutput{CallID: id, Output: result})
	}
	return items
}

func unknownItem(o *output) chat.UnknownItem {
	return chat.UnknownItem{Unknown: chat.Unknown{Provider: Name, Raw: o.main.Raw}}
}

// arguments returns the arguments of a call, which arrive as JSON or as a string that should contain JSON.
func arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) > 0 && raw[0] == '"' {
		return chat.RawJSON([]byte(wire.Unquote(raw)))
	}
	return firstJSON(raw)
}

// firstJSON returns the first value that is not missing or null.
func firstJSON(values ...json.RawMessage) json.RawMessage {
	for _, v := range values {
		if len(v) > 0 && !bytes.Equal(v, []byte("null")) {
			return bytes.Clone(v)
		}
	}
	return nil
}

// object builds an object of the members that are not missing or null.
func object(pairs ...any) json.RawMessage {
	members := map[string]json.RawMessage{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		value, _ := pairs[i+1].(json.RawMessage)
		if v := firstJSON(value); v != nil {
			members[name] = v
		}
	}
	raw, err := chat.MarshalJSON(members)
	if err != nil {
		return nil
	}
	return raw
}
