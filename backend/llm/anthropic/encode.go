package anthropic

import (
	"encoding/json"
	"maps"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Encode implements llm.Provider: the body of POST /v1/messages with the system prompt at the top level (SRD 11.3),
// cache breakpoints at the end of the tools, of the system prompt, of the stable prefix and of the steps so far, and
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
	messages, cacheable := encodeMessages(groups)
	body := map[string]any{
		"model":      ep.ModelID,
		"max_tokens": limit,
		"messages":   messages,
		"stream":     ep.Stream,
	}
	system, last := encodeSystem(r.Context.System())
	if len(system) > 0 {
		body["system"] = system
	}
	if ep.Temperature != nil {
		body["temperature"] = *ep.Temperature
	}
	if ep.Effort != "" {
		body["output_config"] = map[string]any{"effort": ep.Effort}
	}
	body = wire.Merge(body, ep.Options)
	tool := wire.AddTools(body, r, encodeDefinition)
	setBreakpoints(breakpoints(ep.Options), last, cacheable.stable, cacheable.cycle, tool)
	setParallel(body, ep.ParallelToolCalls)
	declareTools(body, groups)
	return wire.Marshal(body)
}

func encodeDefinition(d chat.ToolDefinition) map[string]any {
	return map[string]any{"name": d.Name, "description": d.Description, "input_schema": wire.PlainKeys(wire.Schema(d.Schema))}
}

// declareTools declares the tools of calls in the conversation if the request offers none (tools are off, or the
// calls come from another program): the API may refuse calls without any definition. Their descriptions say that they
// are not available any more.
func declareTools(body map[string]any, groups []wire.Group) {
	if wire.HasTools(body) {
		return
	}
	named := map[string]bool{}
	var tools []any
	for _, g := range groups {
		for _, b := range g.Blocks {
			if use, ok := b.(chat.ToolUse); ok && !named[use.Name] {
				named[use.Name] = true
				tools = append(tools, map[string]any{
					"name": use.Name, "description": "Not available any more.", "input_schema": wire.Schema(nil),
				})
			}
		}
	}
	if len(tools) > 0 {
		body["tools"], body["tool_choice"] = tools, map[string]any{"type": "none"}
	}
}

// maxBreakpoints is how many breakpoints the API accepts per request.
const maxBreakpoints = 4

// breakpoints counts the breakpoints that the options set.
func breakpoints(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name == "cache_control" && member != nil {
				n++
			} else {
				n += breakpoints(member)
			}
		}
	case []any:
		for _, item := range v {
			n += breakpoints(item)
		}
	}
	return n
}

// setBreakpoints marks the ends of parts worth caching, the most useful first, up to the API's limit.
func setBreakpoints(count int, blocks ...map[string]any) {
	for _, b := range blocks {
		if b != nil && count < maxBreakpoints {
			b["cache_control"] = map[string]any{"type": "ephemeral"}
			count++
		}
	}
}

// setParallel sets the tool policy, if tools are sent and the options do not set it.
func setParallel(body map[string]any, parallel bool) {
	if !wire.HasTools(body) {
		return
	}
	choice, ok := body["tool_choice"].(map[string]any)
	if body["tool_choice"] != nil && !ok {
		return
	}
	choice = maps.Clone(choice)
	if choice == nil {
		choice = map[string]any{"type": "auto"}
	}
	if _, set := choice["disable_parallel_tool_use"]; set || choice["type"] == "none" {
		return
	}
	choice["disable_parallel_tool_use"] = !parallel
	body["tool_choice"] = choice
}

func encodeSystem(parts []string) (blocks []any, last map[string]any) {
	for _, text := range parts {
		if strings.TrimSpace(text) != "" {
			last = textBlock(text)
			blocks = append(blocks, last)
		}
	}
	return blocks, last
}

// cacheableBlocks are the last blocks of parts worth caching that may have a breakpoint.
type cacheableBlocks struct {
	stable map[string]any // of the stable prefix
	cycle  map[string]any // of the steps of the turn so far, which the next step repeats
}

func encodeMessages(groups []wire.Group) ([]any, cacheableBlocks) {
	messages := []any{}
	var cacheable cacheableBlocks
	for index, g := range groups {
		content := []any{}
		isSendable := hostedPairs(g.Blocks)
		if index == len(groups)-1 && g.Role == chat.RoleAssistant {
			isSendable = func(chat.Unknown) bool { return true } // a paused answer is sent back unchanged
		}
		for i, b := range g.Blocks {
			block := encodeBlock(b)
			if u, opaque := b.(chat.Unknown); block == nil || opaque && !isSendable(u) {
				continue
			}
			if m, ok := block.(map[string]any); ok && i < g.Stable {
				cacheable.stable = m
			} else if ok && g.Cycle {
				cacheable.cycle = m
			}
			content = append(content, block)
		}
		if len(content) > 0 {
			messages = appendContent(messages, g.Role, content)
		}
	}
	return messages, cacheable
}

// appendContent adds one side's blocks. If nothing of the other side in between can be sent, they are appended to the
// previous message.
func appendContent(messages []any, role chat.Role, content []any) []any {
	if len(messages) > 0 {
		last, _ := messages[len(messages)-1].(map[string]any)
		if previous, ok := last["content"].([]any); ok && last["role"] == string(role) {
			last["content"] = append(previous, content...)
			return messages
		}
	}
	return append(messages, map[string]any{"role": string(role), "content": content})
}

// hostedHead is the data that pairs a call run by the provider with its result.
type hostedHead struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Input     json.RawMessage `json:"input"`
}

func readHosted(u chat.Unknown) (h hostedHead, call, result bool) {
	wire.Decodes(u.Raw, &h)
	return h, strings.HasSuffix(h.Type, "tool_use"), strings.HasSuffix(h.Type, "_tool_result")
}

// hostedPairs decides which opaque blocks may be sent again: a hosted call and its result both or not at all, because
// the API refuses half a pair (left by a pause or an interruption).
func hostedPairs(blocks chat.Blocks) func(chat.Unknown) bool {
	called, answered := map[string]bool{}, map[string]bool{}
	for _, b := range blocks {
		u, ok := b.(chat.Unknown)
		if !ok {
			continue
		}
		h, call, result := readHosted(u)
		if call && len(h.Input) > 0 && h.Input[0] == '{' {
			called[h.ID] = true
		}
		if result {
			answered[h.ToolUseID] = true
		}
	}
	return func(u chat.Unknown) bool {
		h, call, result := readHosted(u)
		switch {
		case call:
			return called[h.ID] && answered[h.ID]
		case result:
			return called[h.ToolUseID]
		}
		return h.Type != ""
	}
}

// encodeBlock returns a block in the wire format: a new object, raw bytes of the provider, or nil for a block that
// cannot be sent.
func encodeBlock(b chat.Block) any {
	switch b := b.(type) {
	case chat.Text:
		return textBlock(b.Text)
	case chat.Refusal:
		return textBlock(b.Text)
	case chat.Image:
		if block := encodeImage(b); block != nil {
			return block
		}
	case chat.ToolUse:
		call := wire.WithExtra(b)
		call["type"], call["id"], call["name"], call["input"] = "tool_use", b.ToolUseID, b.Name, wire.PlainArguments(wire.Arguments(b.Input))
		return call
	case chat.ToolResult:
		return encodeResult(b)
	case chat.Reasoning:
		if raw := encodeThinking(b); raw != nil {
			return raw
		}
	case chat.Unknown:
		return json.RawMessage(b.Raw)
	}
	return nil
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func encodeImage(b chat.Image) map[string]any {
	src := wire.ReadImage(b)
	switch {
	case src.Data != "":
		return map[string]any{"type": "image", "source": map[string]any{
			"type": "base64", "media_type": b.MediaType, "data": src.Data,
		}}
	case src.URL != "":
		return map[string]any{"type": "image", "source": map[string]any{"type": "url", "url": src.URL}}
	}
	return nil
}

func encodeResult(b chat.ToolResult) map[string]any {
	content := []any{}
	for _, c := range b.Content {
		switch c := c.(type) {
		case chat.Text:
			if c.Text != "" {
				content = append(content, textBlock(c.Text))
			}
		case chat.Image:
			if img := encodeImage(c); img != nil {
				content = append(content, img)
			}
		}
	}
	block := map[string]any{"type": "tool_result", "tool_use_id": b.ToolUseID, "content": content}
	if b.IsError {
		block["is_error"] = true
	}
	return block
}

// encodeThinking returns thinking unchanged; without its signature (missing in an interrupted stream) the API would
// refuse it.
func encodeThinking(b chat.Reasoning) json.RawMessage {
	var head struct{ Type, Signature, Data string }
	if json.Unmarshal(b.Raw, &head) != nil || (head.Signature == "" && head.Data == "") {
		return nil
	}
	if head.Type != "thinking" && head.Type != "redacted_thinking" {
		return nil
	}
	return b.Raw
}
