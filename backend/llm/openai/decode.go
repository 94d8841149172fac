package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// decoder decodes Responses events (SRD 11.2): output is keyed by output index and, within a message, by content
// index, never by id. A recording may contain several responses: a new one begins with response.created, or when the
// previous one has ended. Their output adds up, and the last one determines the outcome.
type decoder struct {
	mode      llm.ToolsMode
	draft     wire.Draft
	responses []*response
	terminal  bool
	status    llm.StepStatus
	reason    string
	err       *llm.Error
	model     string
}

// response is one response's output in the order of its indices.
type response struct {
	id      string
	outputs []*output
	usage   *chat.Usage
	ended   bool
}

// NewDecoder implements llm.Provider.
func (*Provider) NewDecoder(mode llm.ToolsMode) llm.Decoder {
	return &decoder{mode: mode, draft: wire.Draft{Provider: Name}}
}

// event is the union of all events; members are decoded on use, so one of an unexpected type does not affect the
// others.
type event struct {
	Type         string          `json:"type"`
	Response     json.RawMessage `json:"response"`
	Item         json.RawMessage `json:"item"`
	Part         json.RawMessage `json:"part"`
	OutputIndex  int             `json:"output_index"`
	ContentIndex int             `json:"content_index"`
	SummaryIndex int             `json:"summary_index"`
	Delta        json.RawMessage `json:"delta"`
	Text         json.RawMessage `json:"text"`
	Refusal      json.RawMessage `json:"refusal"`
	Arguments    json.RawMessage `json:"arguments"`
	Input        json.RawMessage `json:"input"`
	Annotation   json.RawMessage `json:"annotation"`
}

type handler func(*decoder, *event, []byte) []llm.Delta

// handlers names every event that changes the answer. The others (progress of hosted tools, audio, future types) are
// in the journal but have no effect here: their items arrive complete.
var handlers = map[string]handler{
	"response.created":                       (*decoder).opened,
	"response.queued":                        (*decoder).opened,
	"response.in_progress":                   (*decoder).opened,
	"response.completed":                     (*decoder).ended,
	"response.incomplete":                    (*decoder).ended,
	"response.failed":                        (*decoder).ended,
	"response.cancelled":                     (*decoder).ended,
	"error":                                  (*decoder).failed,
	"response.output_item.added":             (*decoder).itemAdded,
	"response.output_item.done":              (*decoder).itemDone,
	"response.content_part.added":            (*decoder).partSettled,
	"response.content_part.done":             (*decoder).partSettled,
	"response.output_text.delta":             (*decoder).textDelta,
	"response.output_text.done":              (*decoder).textDone,
	"response.output_text.annotation.added":  (*decoder).annotated,
	"response.refusal.delta":                 (*decoder).refusalDelta,
	"response.refusal.done":                  (*decoder).refusalDone,
	"response.reasoning_summary_text.delta":  (*decoder).summaryDelta,
	"response.reasoning_text.delta":          (*decoder).thoughtDelta,
	"response.function_call_arguments.delta": (*decoder).argumentsDelta,
	"response.function_call_arguments.done":  (*decoder).argumentsDone,
	"response.custom_tool_call_input.delta":  (*decoder).argumentsDelta,
	"response.custom_tool_call_input.done":   (*decoder).argumentsDone,
}

// progress are the beginnings of the known events without an effect: the progress of hosted tools, the ends of parts
// whose content has arrived, audio, and gateways' signs of life.
var progress = []string{
	"response.audio.", "response.code_interpreter_call", "response.computer_call", "response.file_search_call.",
	"response.image_generation_call.", "response.local_shell_call", "response.mcp_call", "response.mcp_list_tools.",
	"response.reasoning_summary_part.", "response.reasoning_summary_text.done", "response.reasoning_text.done",
	"response.web_search_call.", "keepalive", "ping",
}

// Decode implements llm.Decoder.
func (d *decoder) Decode(raw chat.RawEvent) []llm.Delta {
	if raw.Type == llm.EventResponse {
		return d.unstreamed(raw.Data)
	}
	var ev event
	if !wire.Decodes(raw.Data, &ev) {
		return d.malformed(raw)
	}
	ev.Type = cmp.Or(ev.Type, raw.Type)
	handle, known := handlers[ev.Type]
	if !known {
		if !slices.ContainsFunc(progress, func(p string) bool { return strings.HasPrefix(ev.Type, p) }) {
			d.draft.Ignore(ev.Type)
		}
		return nil
	}
	return handle(d, &ev, raw.Data)
}

// endings are the events that end a response.
var endings = map[string]bool{
	"response.completed": true, "response.incomplete": true, "response.failed": true, "response.cancelled": true,
}

// malformed skips invalid JSON, except for the end of a response: some gateways damage the large final event,
// although the answer before it is complete. Missing closing braces are restored; if that is not enough, the name of
// the event determines the outcome.
func (d *decoder) malformed(raw chat.RawEvent) []llm.Delta {
	name := raw.Type
	if rest, ok := bytes.CutPrefix(raw.Data, []byte(`{"type":"`)); ok && !endings[name] {
		found, _, _ := bytes.Cut(rest, []byte{'"'})
		name = string(found)
	}
	if !endings[name] {
		return nil
	}
	var ev event
	for _, braces := range []string{"}", "}}"} {
		if wire.Decodes(append(bytes.Clone(raw.Data), braces...), &ev) {
			return d.ended(&ev, nil)
		}
	}
	return d.finish(responseBody{ID: d.current().id, Status: strings.TrimPrefix(name, "response.")})
}

// responseBody is the part of a response object that is read.
type responseBody struct {
	ID     string            `json:"id"`
	Model  string            `json:"model"`
	Status string            `json:"status"`
	Output []json.RawMessage `json:"output"`
	Error  *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input        wire.Count `json:"input_tokens"`
		Output       wire.Count `json:"output_tokens"`
		InputDetails struct {
			Cached wire.Count `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func readResponse(raw json.RawMessage) (responseBody, bool) {
	var body responseBody
	return body, wire.Decodes(raw, &body)
}

// opened begins a response, unless it announces the current one again.
func (d *decoder) opened(ev *event, _ []byte) []llm.Delta {
	body, ok := readResponse(ev.Response)
	if ok {
		created := ev.Type == "response.created"
		d.selectResponse(body, d.current().announcedBy(body.ID, created))
	}
	return nil
}

// announcedBy reports whether an announcement refers to this response. A different id alone does not: some gateways
// (GitHub Copilot's) give each event its own id.
func (r *response) announcedBy(id string, created bool) bool {
	switch {
	case id != "" && id == r.id:
		return true
	case r.ended:
		return false
	}
	return !created || id == "" || r.id == "" || len(r.outputs) == 0
}

// selectResponse returns the response that an event belongs to: the current one, or a new one.
func (d *decoder) selectResponse(body responseBody, same bool) *response {
	d.model = cmp.Or(body.Model, d.model)
	cur := d.current()
	if !same && d.draft.Accept() {
		cur = &response{}
		d.responses = append(d.responses, cur)
		d.terminal, d.status, d.reason, d.err = false, "", "", nil
	}
	cur.id = cmp.Or(cur.id, body.ID)
	return cur
}

// current returns the response that events belong to.
func (d *decoder) current() *response {
	if len(d.responses) == 0 {
		d.responses = append(d.responses, &response{})
	}
	return d.responses[len(d.responses)-1]
}

// unstreamed reads an answer that arrived without streaming.
func (d *decoder) unstreamed(data []byte) []llm.Delta {
	body, ok := readResponse(data)
	if !ok {
		return nil
	}
	if body.Status == "" {
		if words, ok := wire.ReadWords(data); ok {
			d.fail(wire.StreamError(words))
			return nil
		}
		if body.Output != nil {
			body.Status = "completed"
		}
	}
	return d.finish(body)
}

func (d *decoder) ended(ev *event, _ []byte) []llm.Delta {
	body, ok := readResponse(ev.Response)
	if !ok {
		return nil
	}
	if body.Status == "" || body.Status == "in_progress" {
		body.Status = strings.TrimPrefix(ev.Type, "response.")
	}
	return d.finish(body)
}

// finish processes the final response: it completes what the deltas left open and sets the step's outcome.
func (d *decoder) finish(body responseBody) []llm.Delta {
	cur := d.current()
	repeated := d.err != nil && body.Status == "failed" // the preceding error event already ended the response
	resp := d.selectResponse(body, repeated || cur.announcedBy(body.ID, false))
	deltas := d.reconcile(resp, body.Output)
	if u := body.Usage; u != nil {
		resp.usage = &chat.Usage{
			InputTokens: int(u.Input), OutputTokens: int(u.Output),
			CachedInputTokens: int(u.InputDetails.Cached), ReasoningTokens: int(u.OutputDetails.Reasoning),
		}
	}
	switch body.Status {
	case "completed":
		d.end(chat.StepCompleted, "")
	case "incomplete":
		reason := "max_output_tokens"
		if body.Incomplete != nil && body.Incomplete.Reason != "" {
			reason = body.Incomplete.Reason
		}
		d.end(chat.StepIncomplete, reason)
	case "cancelled":
		d.end(chat.StepIncomplete, "cancelled")
	case "failed":
		words := wire.Words{}
		if body.Error != nil {
			words.Code, words.Message = body.Error.Code, body.Error.Message
		}
		d.fail(wire.StreamError(words))
	}
	return deltas
}

func (d *decoder) end(status llm.StepStatus, reason string) {
	d.current().ended = true
	d.terminal, d.status, d.reason = true, status, reason
}

// failed reads an error event, nested or flat. The response.failed after it repeats it; the first one counts.
func (d *decoder) failed(_ *event, data []byte) []llm.Delta {
	d.fail(wire.EventError(data))
	return nil
}

func (d *decoder) fail(err *llm.Error) {
	d.err = cmp.Or(d.err, err)
	d.end(chat.StepFailed, "")
}

// Parts implements llm.Decoder.
func (d *decoder) Parts() int { return d.draft.Parts() }

// Result implements llm.Decoder.
func (d *decoder) Result() llm.Result {
	d.draft.NameCalls()
	r := llm.Result{
		Blocks: d.draft.Blocks(), Items: d.items(), Usage: d.usage(), Model: d.model, Ignored: d.draft.Ignored(),
		Terminal: d.terminal, Status: d.status, Reason: d.reason, Err: d.err,
	}
	if n := len(d.responses); n > 0 {
		r.ResponseID = d.responses[n-1].id
	}
	for _, b := range r.Blocks {
		if refusal, ok := b.(chat.Refusal); ok && refusal.Text != "" {
			r.Refused = true
		}
	}
	if !d.terminal || d.err != nil || wire.RefuseCalls(&r, d.mode) {
		return r
	}
	if r.Status == chat.StepCompleted && slices.ContainsFunc(d.current().outputs, (*output).isCall) {
		r.Status, r.Reason = chat.StepPaused, "tool_use"
	}
	return r
}

func (d *decoder) usage() *chat.Usage {
	return wire.SumUsage(lists.Map(d.responses, func(r *response) *chat.Usage { return r.usage }))
}
