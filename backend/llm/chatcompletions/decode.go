package chatcompletions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// decoder interprets chunks: one message of text, reasoning, a refusal and calls keyed by their index. It ends with a
// finish reason; servers differ on whether usage, [DONE] or nothing follows.
type decoder struct {
	mode      llm.ToolsMode
	draft     wire.Draft
	speech    speech
	text      *wire.Part
	reasoning *wire.Part
	refusal   *wire.Part
	thoughts  thoughts
	calls     map[int]*wire.Part
	owners    map[string]int // which choice sends which content
	id, model string
	finish    string
	done      bool
	usage     *chat.Usage
	err       *llm.Error
}

// NewDecoder implements llm.Provider.
func (*Provider) NewDecoder(mode llm.ToolsMode) llm.Decoder {
	return &decoder{mode: mode, draft: wire.Draft{Provider: Name}, calls: map[int]*wire.Part{}, owners: map[string]int{}}
}

type chunk struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usageBody      `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Groq    struct {
		Usage *usageBody `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index   int             `json:"index"`
	Delta   messageBody     `json:"delta"`
	Message messageBody     `json:"message"`
	Text    json.RawMessage `json:"text"` // of the protocol for completions
	Finish  string          `json:"finish_reason"`
}

type messageBody struct {
	Content          json.RawMessage   `json:"content"`
	Refusal          json.RawMessage   `json:"refusal"`
	ReasoningContent json.RawMessage   `json:"reasoning_content"`
	Reasoning        json.RawMessage   `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"` // OpenRouter
	ToolCalls        []json.RawMessage `json:"tool_calls"`
	FunctionCall     *functionBody     `json:"function_call"`
	Annotations      []json.RawMessage `json:"annotations"`
}

type callBody struct {
	Index    *int         `json:"index"`
	ID       string       `json:"id"`
	Function functionBody `json:"function"`
}

type functionBody struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type usageBody struct {
	Prompt     wire.Count `json:"prompt_tokens"`
	Completion wire.Count `json:"completion_tokens"`
	Total      wire.Count `json:"total_tokens"`
	Details    struct {
		Cached     wire.Count `json:"cached_tokens"`
		CacheWrite wire.Count `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning wire.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit wire.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached   wire.Count `json:"cached_tokens"`           // Kimi
}

// Decode implements llm.Decoder.
func (d *decoder) Decode(raw chat.RawEvent) []llm.Delta {
	if bytes.Equal(bytes.TrimSpace(raw.Data), []byte("[DONE]")) {
		d.done = true
		return nil
	}
	var c chunk
	if !wire.Decodes(raw.Data, &c) {
		return nil
	}
	if len(c.Error) > 0 && string(c.Error) != "null" || raw.Type == "error" || c.Object == "error" {
		d.fail(raw.Data)
		return nil
	}
	if _, failed := wire.ReadWords(raw.Data); failed && raw.Type == llm.EventResponse && c.Choices == nil {
		d.fail(raw.Data)
		return nil
	}
	if c.Choices == nil && c.Object != "" && !strings.Contains(c.Object, "completion") {
		d.draft.Ignore(c.Object)
	}
	d.id = cmp.Or(c.ID, d.id)
	d.model = cmp.Or(c.Model, d.model)
	d.countUsage(cmp.Or(c.Usage, c.Groq.Usage))
	var deltas []llm.Delta
	for _, ch := range c.Choices {
		if len(ch.Text) > 0 {
			ch.Delta.Content = ch.Text
		}
		d.keepOwned(&ch.Delta, ch.Index)
		d.keepOwned(&ch.Message, ch.Index)
		deltas = append(deltas, d.message(ch.Delta, ch.Finish != "")...)
		deltas = append(deltas, d.repetition(ch.Message)...)
		d.finish = cmp.Or(ch.Finish, d.finish)
	}
	if d.finish != "" {
		deltas = append(deltas, d.say(d.speech.end())...)
	}
	return deltas
}

// keepOwned drops content that another choice sends: only one answer is requested, but gateways number its parts as they
// like.
func (d *decoder) keepOwned(m *messageBody, index int) {
	owns := func(content string) bool {
		owner, known := d.owners[content]
		if !known {
			d.owners[content] = index
		}
		return !known || owner == index
	}
	if hasText(m.Content) && !owns("text") {
		m.Content = nil
	}
	if hasText(m.ReasoningContent) || hasText(m.Reasoning) || len(m.ReasoningDetails) > 0 {
		if !owns("reasoning") {
			m.ReasoningContent, m.Reasoning, m.ReasoningDetails = nil, nil, nil
		}
	}
	if (len(m.ToolCalls) > 0 || m.FunctionCall != nil) && !owns("calls") {
		m.ToolCalls, m.FunctionCall = nil, nil
	}
}

func hasText(raw json.RawMessage) bool { return len(raw) > 2 && (raw[0] == '"' || raw[0] == '[') }

// repetition adds what a message has beyond the pieces that were sent before it or beside it.
func (d *decoder) repetition(m messageBody) []llm.Delta {
	whole := m.Content
	if len(whole) > 0 && whole[0] == '"' {
		m.Content = nil
	}
	if d.reasoning != nil && d.reasoning.Text.Len() > 0 {
		m.ReasoningContent, m.Reasoning = nil, nil
	}
	deltas := d.message(m, false)
	if len(whole) > 0 && whole[0] == '"' {
		deltas = append(deltas, d.say(d.speech.complete(whole))...)
	}
	return deltas
}

// say adds text to the answer or to the reasoning.
func (d *decoder) say(pieces []said) (deltas []llm.Delta) {
	for _, s := range pieces {
		slot, kind := &d.text, wire.PartText
		if s.thought {
			slot, kind = &d.reasoning, wire.PartReasoning
		}
		deltas = append(deltas, d.draft.AppendText(d.part(slot, kind), s.text)...)
	}
	return deltas
}

func (d *decoder) fail(data []byte) {
	d.err = cmp.Or(d.err, wire.EventError(data))
}

func (d *decoder) countUsage(u *usageBody) {
	if u == nil {
		return
	}
	// xAI and Gemini do not count reasoning among completion_tokens, but it is in the total, and paid.
	d.usage = &chat.Usage{
		InputTokens:       int(u.Prompt),
		OutputTokens:      int(max(u.Completion, u.Total-u.Prompt)),
		CachedInputTokens: int(max(u.Details.Cached, u.CacheHit, u.Cached)),
		CacheWriteTokens:  int(u.Details.CacheWrite),
		ReasoningTokens:   int(u.OutputDetails.Reasoning),
	}
}

// message adds a piece of the message. last: the answer ends with it.
func (d *decoder) message(m messageBody, last bool) []llm.Delta {
	deltas := d.addThought(m)
	deltas = append(deltas, d.content(m.Content, last)...)
	deltas = append(deltas, d.append(&d.refusal, wire.PartRefusal, m.Refusal)...)
	for i, raw := range m.ToolCalls {
		var call callBody
		if len(raw) > 0 && raw[0] == '{' && wire.Decodes(raw, &call) {
			deltas = append(deltas, d.call(i, call, raw)...)
		}
	}
	if m.FunctionCall != nil { // the form before tool_calls
		deltas = append(deltas, d.call(0, callBody{Function: *m.FunctionCall}, nil)...)
	}
	if len(m.Annotations) > 0 {
		p := d.part(&d.text, wire.PartText)
		p.Annotations = d.draft.TakesOf(m.Annotations, len(p.Annotations))
	}
	return deltas
}

// addThought adds reasoning, and records the format in which the server sent it.
func (d *decoder) addThought(m messageBody) []llm.Delta {
	member, text := memberContent, m.ReasoningContent
	if wire.Unquote(text) == "" {
		member, text = memberPlain, m.Reasoning
	}
	deltas := d.append(&d.reasoning, wire.PartReasoning, text)
	if len(deltas) > 0 {
		d.thoughts.member = member
	}
	if d.thoughts.add(m.ReasoningDetails, d.draft.Accept); len(d.thoughts.details) > 0 { // encrypted reasoning has no text
		d.draft.Place(d.part(&d.reasoning, wire.PartReasoning))
	}
	return deltas
}

func (d *decoder) part(slot **wire.Part, kind wire.PartKind) *wire.Part {
	if *slot == nil {
		*slot = &wire.Part{Kind: kind}
	}
	return *slot
}

func (d *decoder) append(slot **wire.Part, kind wire.PartKind, raw json.RawMessage) []llm.Delta {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return d.draft.Append(d.part(slot, kind), raw)
}

// content adds content, which is a string or a list of typed parts.
func (d *decoder) content(raw json.RawMessage, last bool) []llm.Delta {
	if len(raw) == 0 || raw[0] != '[' {
		return d.say(d.speech.add(raw, last))
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	var deltas []llm.Delta
	for _, part := range parts {
		deltas = append(deltas, d.contentPart(part)...)
	}
	return deltas
}

func (d *decoder) contentPart(raw json.RawMessage) []llm.Delta {
	var part struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking []struct {
			Text json.RawMessage `json:"text"`
		} `json:"thinking"`
	}
	wire.Decodes(raw, &part)
	var deltas []llm.Delta
	switch part.Type {
	case "text":
		return d.say(d.speech.add(part.Text, false))
	case "thinking":
		for _, t := range part.Thinking {
			deltas = append(deltas, d.append(&d.reasoning, wire.PartReasoning, t.Text)...)
		}
		return deltas
	}
	if d.draft.Accept() {
		d.draft.Place(&wire.Part{Kind: wire.PartOpaque, Raw: bytes.Clone(raw)})
	}
	return nil
}

func (d *decoder) call(index int, body callBody, raw json.RawMessage) []llm.Delta {
	if body.Index != nil {
		index = *body.Index
	}
	p := d.calls[index]
	if p == nil || isOtherCall(p, body) {
		if !d.draft.Accept() {
			return nil
		}
		// Some servers give every call the index 0.
		if p != nil {
			d.calls[-len(d.calls)-1] = p
		}
		p = &wire.Part{Kind: wire.PartTool}
		d.calls[index] = p
	}
	p.ID = cmp.Or(body.ID, p.ID)
	if p.Name == "" {
		p.Name = wire.OriginalToolName(body.Function.Name)
	}
	// Gemini's thought_signature is in a member of its own, and has to come back with the call.
	p.Extra = wire.Extra(p.Extra, raw, "index", "id", "type", "function")
	deltas := d.draft.Announce(p)
	args := body.Function.Arguments
	if len(args) > 0 && args[0] == '{' { // an object, although the protocol requires a string
		return append(deltas, d.draft.Take(p, args)...)
	}
	if body.Function.Name != "" && isComplete(p) && wire.Unquote(args) == p.Text.String() {
		return deltas // a repetition of the complete call
	}
	return append(deltas, d.draft.Append(p, args)...)
}

// isOtherCall reports whether a piece begins a call other than p: it has another id or, if the server sends no ids, a
// name while p has another name or is complete.
func isOtherCall(p *wire.Part, body callBody) bool {
	if body.ID != "" {
		return p.ID != "" && body.ID != p.ID
	}
	name := wire.OriginalToolName(body.Function.Name)
	return name != "" && p.Name != "" && p.ID == "" && (name != p.Name || isComplete(p))
}

// isComplete reports whether a call has all its arguments.
func isComplete(p *wire.Part) bool {
	return p.Input != nil || p.Text.Len() > 0 && json.Valid([]byte(p.Text.String()))
}

// Parts implements llm.Decoder.
func (d *decoder) Parts() int { return d.draft.Parts() }

// Result implements llm.Decoder.
func (d *decoder) Result() llm.Result {
	d.say(d.speech.end())
	d.draft.NameCalls()
	if d.text == nil && d.reasoning != nil && d.speech.state == inThought && d.finish == "stop" {
		d.reasoning.Kind = wire.PartText // the mark was part of an answer
	}
	if d.reasoning != nil {
		d.reasoning.Raw = d.thoughts.raw()
	}
	r := llm.Result{
		Blocks: d.draft.Blocks(), Usage: d.usage, ResponseID: d.id, Model: d.model, Ignored: d.draft.Ignored(),
		Terminal: d.done || d.finish != "" || d.err != nil, Err: d.err,
		Refused: d.refusal != nil && d.refusal.Text.Len() > 0,
	}
	r.Items = d.items(r.Blocks)
	if !r.Terminal {
		return r
	}
	if r.Err == nil {
		r.Status, r.Reason, r.Err = outcome(d.finish)
	}
	if r.Err != nil {
		r.Status = chat.StepFailed
		return r
	}
	isCall := func(b chat.Block) bool { _, ok := b.(chat.ToolUse); return ok }
	if !wire.RefuseCalls(&r, d.mode) && r.Status == chat.StepCompleted && slices.ContainsFunc(r.Blocks, isCall) {
		r.Status, r.Reason = chat.StepPaused, "tool_use"
	}
	return r
}

// outcome maps a finish reason.
func outcome(finish string) (llm.StepStatus, string, *llm.Error) {
	switch strings.ToLower(finish) {
	case "", "stop", "tool_calls", "function_call", "tool_use", "end_turn", "stop_sequence", "eos", "eos_token", "complete":
		return chat.StepCompleted, "", nil
	case "length", "max_tokens", "model_length", "max_output_tokens", "context_length":
		return chat.StepIncomplete, "max_output_tokens", nil
	case "content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive":
		return chat.StepIncomplete, "content_filter", nil
	}
	return chat.StepFailed, "", wire.UnknownEnd(finish)
}

// items returns the message in the form of SRD 5.3.
func (d *decoder) items(blocks chat.Blocks) chat.Items {
	items := chat.Items{}
	textBlocks := chat.Blocks{}
	var calls chat.Items
	for _, b := range blocks {
		switch b := b.(type) {
		case chat.Reasoning:
			items = append(items, chat.ReasoningItem{Summary: b.Summary, Raw: b.Raw})
		case chat.ToolUse:
			calls = append(calls, chat.ToolCall{CallID: b.ToolUseID, Name: b.Name, Arguments: b.Input})
		case chat.Unknown:
			calls = append(calls, chat.UnknownItem{Unknown: b})
		default:
			textBlocks = append(textBlocks, b)
		}
	}
	if len(textBlocks) > 0 {
		items = append(items, chat.AssistantMessage{Blocks: textBlocks})
	}
	items = append(items, calls...)
	if d.id != "" {
		items = append(items, chat.Metadata{Key: "response_id", Value: d.id})
	}
	if d.finish != "" {
		items = append(items, chat.Metadata{Key: "finish_reason", Value: d.finish})
	}
	return items
}
