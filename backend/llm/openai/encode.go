package openai

import (
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Encode implements llm.Provider: the body of POST /responses with the parameters required by SRD 11.2, and
// provider_options merged over it.
func (*Provider) Encode(r llm.Request) (json.RawMessage, error) {
	groups, err := wire.Conversation(r, Name, wire.PlainIDs)
	if err != nil {
		return nil, err
	}
	limit, err := wire.MaxOutput(r)
	if err != nil {
		return nil, err
	}
	ep := r.Endpoint
	continues := r.Continues != nil && continuable(groups)
	if continues {
		ep.Store = true // an answer must be stored to be continued
	}
	body := map[string]any{
		"model":             ep.ModelID,
		"input":             encodeInput(groups, r, ep.Store, continues),
		"max_output_tokens": limit,
		"truncation":        "disabled",
		"store":             ep.Store,
		"stream":            ep.Stream,
	}
	if continues {
		body["previous_response_id"] = r.Continues.ResponseID
	}
	if ep.Truncation != "" {
		body["truncation"] = ep.Truncation
	}
	if text := wire.SystemText(r.Context.System()); text != "" {
		body["instructions"] = text
	}
	if ep.CacheKey != "" {
		body["prompt_cache_key"] = ep.CacheKey
	}
	if ep.Temperature != nil {
		body["temperature"] = *ep.Temperature
	}
	if ep.Effort != "" {
		body["reasoning"] = map[string]any{"effort": ep.Effort}
	}
	if supportsReasoning(ep) && (!ep.Store || len(wire.Definitions(r)) > 0) {
		// Without storage, and when a turn continues after the server has forgotten its stored items, this is the
		// only way to send reasoning back.
		body["include"] = []any{"reasoning.encrypted_content"}
	}
	body = wire.Merge(body, ep.Options)
	wire.AddTools(body, r, encodeDefinition)
	if _, set := ep.Options["parallel_tool_calls"]; !set && wire.HasTools(body) {
		body["parallel_tool_calls"] = ep.ParallelToolCalls
	}
	return wire.Marshal(body)
}

// encodeDefinition returns a tool in this protocol's format. It is not strict, because the schemas are from third
// parties and a strict schema has no optional members.
func encodeDefinition(d chat.ToolDefinition) map[string]any {
	return map[string]any{
		"type": "function", "name": d.Name, "description": d.Description,
		"parameters": wire.Schema(d.Schema), "strict": false,
	}
}

// continuable reports whether the provider's stored items can be used: there is something new to send, and no result in
// it refers to a call by an id other than the provider's.
func continuable(groups []wire.Group) bool {
	hasNew := false
	for i, g := range groups {
		for _, b := range g.Blocks[g.AlreadySent:] {
			if _, result := b.(chat.ToolResult); result && i > 0 && groups[i-1].Renamed && groups[i-1].AlreadySent > 0 {
				return false
			}
			hasNew = true
		}
	}
	return hasNew
}

// supportsReasoning reports whether the model supports reasoning: others reject a request for encrypted reasoning.
func supportsReasoning(ep llm.Endpoint) bool {
	if ep.Effort != "" {
		return true
	}
	model := ep.ModelID
	if i := strings.LastIndexByte(model, '/'); i >= 0 { // gateways write "openai/gpt-5"
		model = model[i+1:]
	}
	if strings.Contains(model, "chat") { // gpt-5-chat has no reasoning
		return false
	}
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6", "codex"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

// input builds the list of items; open is the message that further parts may join.
type input struct {
	items     []any
	open      map[string]any
	store     bool
	functions map[string]bool // the offered tools, all of which take objects
	custom    map[string]bool // ids of calls whose input is plain text
}

// encodeInput returns the conversation as items, without the part that the provider has stored.
func encodeInput(groups []wire.Group, r llm.Request, store, continues bool) []any {
	in := &input{store: store, functions: map[string]bool{}, custom: map[string]bool{}}
	for _, d := range wire.Definitions(r) {
		in.functions[d.Name] = true
	}
	for _, g := range groups {
		for _, b := range g.Blocks {
			if use, ok := b.(chat.ToolUse); ok && in.isCustom(use) {
				in.custom[use.ToolUseID] = true
			}
		}
		if continues {
			g.Blocks = g.Blocks[g.AlreadySent:]
		}
		in.open = nil
		for _, b := range g.Blocks {
			in.add(g.Role, b)
		}
	}
	return in.items
}

// isCustom reports whether a call is of a tool with plain text input, which a ToolUse stores as a JSON string. A tool
// offered as a function is never custom.
func (in *input) isCustom(b chat.ToolUse) bool {
	return len(b.Input) > 0 && b.Input[0] == '"' && !in.functions[b.Name]
}

func (in *input) add(role chat.Role, b chat.Block) {
	switch b := b.(type) {
	case chat.Text:
		in.part(role, b.Phase, textPart(role, b.Text))
	case chat.Refusal:
		in.part(role, "", map[string]any{"type": "refusal", "refusal": b.Text})
	case chat.Image:
		if url := wire.ImageURL(b); url != "" {
			in.part(role, "", map[string]any{"type": "input_image", "image_url": url, "detail": "auto"})
		}
	case chat.ToolUse:
		in.item(in.call(b))
	case chat.ToolResult:
		in.item(map[string]any{
			"type": in.outputType(b.ToolUseID), "call_id": b.ToolUseID, "output": encodeOutput(b),
		})
	case chat.Reasoning:
		if raw := encodeReasoning(b, in.store); raw != nil {
			in.item(raw)
		}
	case chat.Unknown:
		if replayable(b.Raw) {
			in.item(json.RawMessage(b.Raw))
		}
	}
}

// part adds to the open message, or opens one: a message has one phase.
func (in *input) part(role chat.Role, phase string, part map[string]any) {
	if in.open == nil || in.open["phase"] != phaseValue(phase) {
		in.open = map[string]any{"type": "message", "role": string(role), "content": []any{}}
		if phase != "" {
			in.open["phase"] = phase
		}
		in.items = append(in.items, in.open)
	}
	content, _ := in.open["content"].([]any)
	in.open["content"] = append(content, part)
}

// phaseValue returns a phase as it is read from a message: nil if the message has none.
func phaseValue(phase string) any {
	if phase == "" {
		return nil
	}
	return phase
}

func (in *input) item(item any) {
	in.open = nil
	in.items = append(in.items, item)
}

func textPart(role chat.Role, text string) map[string]any {
	if role == chat.RoleAssistant {
		return map[string]any{"type": "output_text", "text": text}
	}
	return map[string]any{"type": "input_text", "text": text}
}

// call returns a call in its original form. Arguments of a function that are not an object are wrapped in one.
func (in *input) call(b chat.ToolUse) map[string]any {
	item := wire.WithExtra(b)
	if !in.store || !knownID(item["id"]) {
		delete(item, "id")
	}
	item["call_id"], item["name"] = b.ToolUseID, b.Name
	if in.custom[b.ToolUseID] {
		item["type"], item["input"] = "custom_tool_call", wire.Unquote(b.Input)
		return item
	}
	item["type"], item["arguments"] = "function_call", string(wire.Arguments(b.Input))
	return item
}

// knownID reports whether an id is in OpenAI's format: those of gateways are refused.
func knownID(id any) bool {
	raw, _ := id.(json.RawMessage)
	text := wire.Unquote(raw)
	return strings.HasPrefix(text, "fc") || strings.HasPrefix(text, "ct")
}

// outputType matches a result to the kind of its call.
func (in *input) outputType(callID string) string {
	if in.custom[callID] {
		return "custom_tool_call_output"
	}
	return "function_call_output"
}

// encodeOutput returns a result as text, or as a list if it contains images.
func encodeOutput(b chat.ToolResult) any {
	var parts []any
	mark := ""
	if b.IsError {
		mark = wire.ErrorMark
	}
	onlyText := true
	for _, c := range b.Content {
		switch c := c.(type) {
		case chat.Text:
			parts = append(parts, map[string]any{"type": "input_text", "text": c.Text})
		case chat.Image:
			if url := wire.ImageURL(c); url != "" {
				parts = append(parts, map[string]any{"type": "input_image", "image_url": url, "detail": "auto"})
				onlyText = false
			}
		}
	}
	if onlyText {
		return mark + b.Content.RenderedText()
	}
	if mark != "" {
		parts = append([]any{map[string]any{"type": "input_text", "text": mark}}, parts...)
	}
	return parts
}

// encodeReasoning returns reasoning to send back. Without storage the server does not know any ids, so only encrypted
// reasoning can be sent, without its id.
func encodeReasoning(b chat.Reasoning, store bool) any {
	item := map[string]json.RawMessage{}
	if json.Unmarshal(b.Raw, &item) != nil || wire.Unquote(item["type"]) != "reasoning" {
		if b.EncryptedContent == "" {
			return nil
		}
		return map[string]any{"type": "reasoning", "summary": []any{}, "encrypted_content": b.EncryptedContent}
	}
	if store {
		return b.Raw
	}
	if b.EncryptedContent == "" {
		return nil
	}
	delete(item, "id")
	delete(item, "status")
	return item
}

// replayable reports whether an opaque item is complete: an unfinished one from an interrupted stream would be
// rejected.
func replayable(raw []byte) bool {
	var head struct{ Type, Status string }
	if json.Unmarshal(raw, &head) != nil || head.Type == "" {
		return false
	}
	return head.Status == "" || head.Status == "completed"
}
