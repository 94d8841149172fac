package chatcompletions

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Encode implements llm.Provider: the body of POST /chat/completions, with provider_options merged over it. The
// output limit is max_tokens, which every server supports; options with max_completion_tokens replace it.
func (*Provider) Encode(r llm.Request) (json.RawMessage, error) {
	groups, err := wire.Conversation(r, Name, wire.ShortIDs)
	if err != nil {
		return nil, err
	}
	limit, err := wire.MaxOutput(r)
	if err != nil {
		return nil, err
	}
	ep := r.Endpoint
	body := map[string]any{
		"model":      ep.ModelID,
		"messages":   encodeMessages(r.Context.System(), groups, refusedBy(ep)),
		"max_tokens": wire.AnswerLimit(limit, ep),
		"stream":     ep.Stream,
	}
	if ep.Stream {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	if ep.Temperature != nil {
		body["temperature"] = *ep.Temperature
	}
	if ep.Effort != "" {
		body["reasoning_effort"] = ep.Effort
	}
	body = wire.Merge(body, ep.Options)
	if ep.Options["max_completion_tokens"] != nil && ep.Options["max_tokens"] == nil {
		delete(body, "max_tokens")
	}
	wire.AddTools(body, r, encodeDefinition)
	if _, set := ep.Options["parallel_tool_calls"]; !set && wire.HasTools(body) {
		body["parallel_tool_calls"] = ep.ParallelToolCalls
	}
	wire.WithoutRefused(body, ep)
	return wire.Marshal(body)
}

// refusedBy returns what the server of an endpoint refuses, learned or known: Mistral's documentation says that an answer
// must follow the results of calls.
func refusedBy(ep llm.Endpoint) []string {
	if u, err := url.Parse(ep.BaseURL); err == nil && strings.HasSuffix(u.Hostname(), "mistral.ai") {
		return append(slices.Clone(ep.Refused), llm.RefusedAfterTool)
	}
	return ep.Refused
}

func encodeMessages(system []string, groups []wire.Group, refused []string) []any {
	messages := []any{}
	if text := wire.SystemText(system); text != "" {
		if slices.Contains(refused, llm.RefusedSystem) && len(groups) > 0 && groups[0].Role == chat.RoleUser {
			first := slices.Clone(groups)
			first[0].Blocks = append(chat.Blocks{chat.Text{Text: text + "\n\n"}}, first[0].Blocks...)
			groups = first
		} else {
			messages = append(messages, map[string]any{"role": "system", "content": text})
		}
	}
	for _, g := range groups {
		if g.Role == chat.RoleAssistant {
			messages = append(messages, encodeAssistant(g))
			continue
		}
		messages = append(messages, encodeUser(g.Blocks, slices.Contains(refused, llm.RefusedAfterTool))...)
	}
	completeReasoning(messages, slices.Contains(refused, llm.RefusedNoThoughts))
	return messages
}

// encodeDefinition returns a tool in this protocol's format. It does not set "strict": not every server knows the
// member, and the schemas are from third parties.
func encodeDefinition(d chat.ToolDefinition) map[string]any {
	return map[string]any{"type": "function", "function": map[string]any{
		"name": d.Name, "description": d.Description, "parameters": wire.Schema(d.Schema),
	}}
}

// encodeAssistant returns one message: its text and its calls. The model's reasoning before the calls is sent back
// while the turn runs.
func encodeAssistant(g wire.Group) map[string]any {
	m := map[string]any{"role": "assistant", "content": nil}
	var texts, opaque, calls []any
	for _, b := range g.Blocks {
		switch b := b.(type) {
		case chat.Text:
			texts = append(texts, textPart(b.Text))
		case chat.Refusal:
			texts = append(texts, textPart(b.Text))
		case chat.ToolUse:
			calls = append(calls, encodeCall(b))
		case chat.Unknown:
			opaque = append(opaque, json.RawMessage(b.Raw))
		case chat.Reasoning:
			addReasoning(m, b)
		}
	}
	if len(opaque) > 0 {
		m["content"] = append(texts, opaque...)
	} else if len(texts) > 0 {
		m["content"] = joined(g.Blocks)
	}
	if len(calls) > 0 {
		m["tool_calls"] = calls
	} else if m["content"] == nil {
		m["content"] = ""
	}
	return m
}

func encodeCall(b chat.ToolUse) map[string]any {
	call := wire.WithExtra(b)
	call["id"], call["type"] = b.ToolUseID, "function"
	call["function"] = map[string]any{"name": b.Name, "arguments": string(wire.Arguments(b.Input))}
	return call
}

// joined returns all text of the blocks without separators, because every byte sent must be in the context's manifest.
func joined(blocks chat.Blocks) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block := block.(type) {
		case chat.Text:
			b.WriteString(block.Text)
		case chat.Refusal:
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

// encodeUser encodes the results of calls first, one message each, then the user's content: as plain text if
// possible, because some servers accept no parts. A result can only be text in this protocol, so the images of
// results follow in the user's message; a server that refuses that accepts them in the result.
func encodeUser(blocks chat.Blocks, inResults bool) []any {
	var messages, parts []any
	var texts []string
	plain := true
	image := func(b chat.Image) bool {
		url := wire.ImageURL(b)
		if url != "" {
			plain = false
			parts = append(parts, imagePart(url))
		}
		return url != ""
	}
	for _, b := range blocks {
		switch b := b.(type) {
		case chat.ToolResult:
			images := resultImages(b)
			message := map[string]any{
				"role": "tool", "tool_call_id": b.ToolUseID, "content": resultText(b, inResults),
			}
			messages = append(messages, message)
			if inResults && len(images) > 0 {
				content := []any{textPart(resultText(b, true))}
				for _, img := range images {
					content = append(content, imagePart(wire.ImageURL(img)))
				}
				message["content"] = content
				continue
			}
			for _, img := range images {
				parts = append(parts, textPart("[An image from the result of the tool call "+b.ToolUseID+":]"))
				image(img)
			}
		case chat.Text:
			texts = append(texts, b.Text)
			parts = append(parts, textPart(b.Text))
		case chat.Image:
			image(b)
		case chat.Unknown:
			plain = false
			parts = append(parts, json.RawMessage(b.Raw))
		}
	}
	switch {
	case len(parts) == 0:
	case plain:
		messages = append(messages, map[string]any{"role": "user", "content": strings.Join(texts, "")})
	default:
		messages = append(messages, map[string]any{"role": "user", "content": parts})
	}
	return messages
}

// resultText returns a result as text, with a prefix for errors, for which the protocol has no member. An image in it
// is only named, unless it is in the result.
func resultText(b chat.ToolResult, inResults bool) string {
	text := b.Content.RenderedText()
	for _, c := range b.Content {
		img, ok := c.(chat.Image)
		switch {
		case !ok:
		case wire.ImageURL(img) == "":
			text += "\n[image " + img.MediaType + " not shown]"
		case !inResults:
			text += "\n[image " + img.MediaType + ": it follows in the next message]"
		}
	}
	text = strings.TrimPrefix(text, "\n")
	if b.IsError {
		return wire.ErrorMark + text
	}
	return text
}

// resultImages returns the images of a result that can be sent.
func resultImages(b chat.ToolResult) (images []chat.Image) {
	for _, c := range b.Content {
		if img, ok := c.(chat.Image); ok && wire.ImageURL(img) != "" {
			images = append(images, img)
		}
	}
	return images
}

func imagePart(url string) map[string]any {
	return map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}
}

func textPart(text string) map[string]any { return map[string]any{"type": "text", "text": text} }
