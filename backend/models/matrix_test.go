package models_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/anthropic"
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/llm/openai"
	"contextinfinity/backend/models"
)

// provider is a row of the matrix of providers: what each one sends, from its documentation or as it was recorded, and what
// it must become. Streams are without their beginning and end, which opened adds.
type provider struct {
	id string
	// thoughts and call are the events of an answer that reasons and calls the tool weather; back is what the next request
	// must contain of the reasoning, and absent what it must not.
	thoughts     []string
	back, absent string
	// roles are the messages of a request whose first tool result of two has an image; for the other protocols, where the
	// image is.
	roles string
	// before is the body of a refusal for the size, and status its status; inside is the same in the stream.
	status         int
	before, inside string
	limit          int // that the words name; 0: none
	// declined is an answer that the provider refused to give, and how it ends.
	declined string
	refusal  end
	// odd are reasons for the end of an answer.
	odd   map[string]end
	usage string
	want  chat.Usage
}

// end is how an answer ends.
type end string

const (
	complete  end = "complete"
	truncated end = "truncated" // by the output limit
	filtered  end = "filtered"  // by a filter
	failed    end = "failed"
	declined  end = "declined"
)

func endOf(r llm.Result) end {
	switch {
	case r.Refused:
		return declined
	case r.Status == chat.StepCompleted:
		return complete
	case r.Status == chat.StepFailed:
		return failed
	case r.Reason == "content_filter":
		return filtered
	}
	return truncated
}

// Forms that several providers share.
const (
	toolCall = `{"tool_calls":[{"index":0,"id":"call00001","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}`
	after    = "user assistant tool tool user" // the image follows in a message of its own

	responsesSize = `{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`
	responsesFail = `{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`
	vllmSize      = `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).","type":"BadRequestError","param":null,"code":400}`
)

var responsesThoughts = []string{
	`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"ENC","summary":[{"type":"summary_text","text":"Hm."}]}}`,
	`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call00001","name":"weather","arguments":"{\"city\":\"Oslo\"}","status":"completed"}}`,
}

func reasons(member string) []string { return []string{`{"` + member + `":"Hm."}`, toolCall} }

// matrix has a row for each vendor and preset.
var matrix = []provider{
	{ // platform.openai.com/docs/api-reference/responses-streaming; recorded: openai-reasoning-encrypted-content
		id: "openai", thoughts: responsesThoughts, back: `"encrypted_content":"ENC"`, roles: "function_call_output",
		status: 400, before: responsesSize, inside: responsesFail,
		declined: `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I can't."}]}}`,
		refusal:  declined,
		odd:      map[string]end{"max_output_tokens": truncated, "content_filter": filtered},
		usage:    `{"input_tokens":1000,"input_tokens_details":{"cached_tokens":800},"output_tokens":510,"output_tokens_details":{"reasoning_tokens":500},"total_tokens":1510}`,
		want:     chat.Usage{InputTokens: 1000, OutputTokens: 510, CachedInputTokens: 800, ReasoningTokens: 500},
	},
	{ // learn.microsoft.com/azure/ai-foundry/openai/how-to/responses: the same protocol
		id: "azure", thoughts: responsesThoughts, back: `"encrypted_content":"ENC"`, roles: "function_call_output",
		status: 400, before: responsesSize, inside: responsesFail,
		declined: `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I can't."}]}}`,
		refusal:  declined,
		odd:      map[string]end{"content_filter": filtered},
		usage:    `{"input_tokens":10,"input_tokens_details":null,"output_tokens":5,"output_tokens_details":null,"total_tokens":15}`,
		want:     chat.Usage{InputTokens: 10, OutputTokens: 5},
	},
	{ // docs.claude.com/en/api/messages-streaming, /errors, /handling-stop-reasons; recorded: anthropic-refusal
		id: "anthropic", thoughts: []string{
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIG"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call00001","name":"weather","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Oslo\"}"}}`,
			`{"type":"content_block_stop","index":1}`,
		},
		back: `"signature":"SIG","thinking":"Hm."`, roles: "tool_result",
		status: 400, before: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`,
		inside:   `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`,
		limit:    200000,
		declined: `{"type":"message_delta","delta":{"stop_reason":"refusal"}}`, refusal: declined,
		odd: map[string]end{
			"stop_sequence": complete, "max_tokens": truncated, "model_context_window_exceeded": truncated, "gremlins": failed,
		},
		usage: `{"input_tokens":100,"cache_creation_input_tokens":1000,"cache_read_input_tokens":10000,"output_tokens":100}`,
		want:  chat.Usage{InputTokens: 11100, OutputTokens: 100, CachedInputTokens: 10000, CacheWriteTokens: 1000},
	},
	{ // openrouter.ai/docs/use-cases/reasoning-tokens, /api-reference/errors (mid-stream), /use-cases/usage-accounting
		id: "openrouter", thoughts: []string{
			`{"reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","format":"anthropic-claude-v1","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.text","signature":"SIG","format":"anthropic-claude-v1","index":0}]}`, toolCall,
		},
		back: `"reasoning_details":[{"format":"anthropic-claude-v1","index":0,"signature":"SIG","text":"Hm."`, roles: after,
		status: 400, before: `{"error":{"message":"This endpoint's maximum context length is 8192 tokens. However, you requested about 9100 tokens (5100 of text input, 4000 in the output).","code":400,"metadata":{"provider_name":null}}}`,
		inside:   `{"id":"x","object":"chat.completion.chunk","error":{"code":400,"message":"This endpoint's maximum context length is 8192 tokens. However, you requested about 9100 tokens."},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`,
		declined: `{"refusal":"I can't."}`, refusal: declined,
		odd:   map[string]end{"error": failed, "length": truncated, "content_filter": filtered},
		usage: `{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"cost":0.0123,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":500}}`,
		want:  chat.Usage{InputTokens: 1000, OutputTokens: 100, CacheWriteTokens: 500},
	},
	{ // console.groq.com/docs/reasoning, /errors
		id: "groq", thoughts: reasons("reasoning"), back: `"reasoning":"Hm."`, roles: after,
		status: 400, before: `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		inside:   `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"length": truncated},
		usage: `{"queue_time":0.1,"prompt_tokens":30,"prompt_time":0.1,"completion_tokens":40,"completion_time":0.2,"total_tokens":70}`,
		want:  chat.Usage{InputTokens: 30, OutputTokens: 40},
	},
	{ // docs.mistral.ai/capabilities/reasoning, /api (finish_reason of Chat Completions)
		id: "mistral", thoughts: []string{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}`, toolCall},
		absent: "Hm.", roles: "user assistant tool tool",
		status: 400, before: `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_invalid_args","param":null,"code":"3051"}`,
		inside:   `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","code":"3051"}`,
		limit:    32768,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"model_length": truncated, "length": truncated, "error": failed},
		usage: `{"prompt_tokens":10,"total_tokens":15,"completion_tokens":5}`,
		want:  chat.Usage{InputTokens: 10, OutputTokens: 5},
	},
	{ // ai.google.dev/gemini-api/docs/openai, /thought-signatures; finish reasons of GenerateContent in either case
		id: "gemini", thoughts: []string{
			`{"content":"<thought>Hm.</thought>"}`,
			`{"tool_calls":[{"index":0,"id":"call00001","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"},"extra_content":{"google":{"thought_signature":"SIG"}}}]}`,
		},
		back: `"extra_content":{"google":{"thought_signature":"SIG"}}`, roles: after,
		status: 400, before: `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`,
		inside:   `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
		limit:    1048576,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"MAX_TOKENS": truncated, "SAFETY": filtered, "PROHIBITED_CONTENT": filtered, "STOP": complete, "MALFORMED_FUNCTION_CALL": failed},
		usage: `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":610}`,
		want:  chat.Usage{InputTokens: 100, OutputTokens: 510},
	},
	{ // api-docs.deepseek.com/guides/thinking_mode, /api/create-chat-completion
		id: "deepseek", thoughts: reasons("reasoning_content"), back: `"reasoning_content":"Hm."`, roles: after,
		status: 400, before: `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (136000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		inside:   `{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000 tokens (136000 in the messages, 4000 in the completion).","type":"invalid_request_error"}}`,
		limit:    127072,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"length": truncated, "content_filter": filtered, "insufficient_system_resource": failed},
		usage: `{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"prompt_cache_hit_tokens":800,"prompt_cache_miss_tokens":200,"completion_tokens_details":{"reasoning_tokens":60}}`,
		want:  chat.Usage{InputTokens: 1000, OutputTokens: 100, CachedInputTokens: 800, ReasoningTokens: 60},
	},
	{ // docs.x.ai/docs/guides/reasoning; tokens of reasoning are beside those of the completion
		id: "xai", thoughts: reasons("reasoning_content"), back: `"reasoning_content":"Hm."`, roles: after,
		status: 400, before: `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`,
		inside:   `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`,
		limit:    131072,
		declined: `{"refusal":"I can't."}`, refusal: declined,
		odd:   map[string]end{"length": truncated},
		usage: `{"prompt_tokens":100,"completion_tokens":10,"total_tokens":610,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":500}}`,
		want:  chat.Usage{InputTokens: 100, OutputTokens: 510, ReasoningTokens: 500},
	},
	{ // docs.together.ai/docs/deepseek-r1, /reference/chat-completions-1
		id: "together", thoughts: []string{`{"content":"<think>Hm."}`, `{"content":"</think>"}`, toolCall}, absent: "Hm.", roles: after,
		status: 422, before: "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`\",\"type\":\"invalid_request_error\",\"param\":\"max_tokens\",\"code\":null}}",
		inside:   "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`\"}}",
		limit:    7681,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"eos": complete, "length": truncated},
		usage: `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"cached_tokens":4}`,
		want:  chat.Usage{InputTokens: 10, OutputTokens: 5, CachedInputTokens: 4},
	},
	{ // docs.ollama.com/openai, /capabilities/thinking
		id: "ollama", thoughts: reasons("reasoning"), back: `"reasoning":"Hm."`, roles: after,
		status: 400, before: `{"error":{"message":"prompt too long; exceeded max context length by 1200 tokens","type":"api_error"}}`,
		inside:   `{"error":{"message":"prompt too long; exceeded max context length by 1200 tokens","type":"api_error"}}`,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"length": truncated, "load": failed},
		usage: `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`,
		want:  chat.Usage{InputTokens: 10, OutputTokens: 5},
	},
	{ // lmstudio.ai/docs/developer/openai-compat
		id: "lmstudio", thoughts: reasons("reasoning_content"), back: `"reasoning_content":"Hm."`, roles: after,
		status: 400, before: `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`,
		inside:   `{"error":{"message":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}}`,
		limit:    4096,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"length": truncated},
		usage: `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":3}}`,
		want:  chat.Usage{InputTokens: 10, OutputTokens: 5, ReasoningTokens: 3},
	},
	{ // github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
		id: "llamacpp", thoughts: reasons("reasoning_content"), back: `"reasoning_content":"Hm."`, roles: after,
		status: 400, before: `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`,
		inside:   `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error"}}`,
		limit:    4096,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"length": truncated},
		usage: `{"completion_tokens":5,"prompt_tokens":10,"total_tokens":15}`,
		want:  chat.Usage{InputTokens: 10, OutputTokens: 5},
	},
	{ // docs.vllm.ai/en/latest/features/reasoning_outputs.html, /serving/openai_compatible_server.html
		id: "vllm", thoughts: reasons("reasoning"), back: `"reasoning":"Hm."`, roles: after,
		status: 400, before: vllmSize, inside: `{"error":` + vllmSize + `}`, limit: 1024,
		declined: `{"content":"I can't."}`, refusal: complete,
		odd:   map[string]end{"length": truncated, "abort": failed},
		usage: `{"prompt_tokens":10,"total_tokens":15,"completion_tokens":5,"prompt_tokens_details":null}`,
		want:  chat.Usage{InputTokens: 10, OutputTokens: 5},
	},
}

var adapters = map[string]llm.Provider{
	config.ProviderOpenAI: openai.New(nil), config.ProviderAnthropic: anthropic.New(nil),
	config.ProviderChatCompletions: chatcompletions.New(nil),
}

// stream returns the events of an answer with the parts of a protocol around its own: with the reason of its end, and its
// usage.
func stream(protocol, reason, usage string, parts ...string) []chat.RawEvent {
	var all []string
	switch protocol {
	case config.ProviderOpenAI:
		kind, status, details := "completed", "completed", ""
		if reason != "" {
			kind, status, details = "incomplete", "incomplete", `,"incomplete_details":{"reason":"`+reason+`"}`
		}
		all = append(all, `{"type":"response.created","response":{"id":"r","status":"in_progress"}}`)
		all = append(all, parts...)
		all = append(all, fmt.Sprintf(`{"type":"response.%s","response":{"id":"r","status":%q%s,"usage":%s}}`, kind, status, details, usage))
	case config.ProviderAnthropic:
		all = append(all, `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":`+usage+`}}`)
		all = append(all, parts...)
		if reason != "" {
			all = append(all, `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"}}`)
		}
		all = append(all, `{"type":"message_stop"}`)
	default:
		for _, delta := range parts {
			all = append(all, `{"id":"c","choices":[{"index":0,"delta":`+delta+`,"finish_reason":null}]}`)
		}
		all = append(all, `{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"`+reason+`"}]}`)
		all = append(all, `{"id":"c","choices":[],"usage":`+usage+`}`, "[DONE]")
	}
	return llmtest.Events(all...)
}

// said is a part of an answer with the text Half.
var said = map[string]string{
	config.ProviderOpenAI:          `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Half","annotations":[]}]}}`,
	config.ProviderAnthropic:       `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Half"}}`,
	config.ProviderChatCompletions: `{"content":"Half"}`,
}

// usual are the reasons with which an answer ends, and with which it calls tools.
var usual = map[string][2]string{
	config.ProviderOpenAI:          {"", ""},
	config.ProviderAnthropic:       {"end_turn", "tool_use"},
	config.ProviderChatCompletions: {"stop", "tool_calls"},
}

// Every provider's reasoning with tools, images in results, overflows before and inside the stream, refusals, ends and
// usage become the same things.
func TestProvidersMatrix(t *testing.T) {
	places := map[string]models.Preset{
		"openai": {Protocol: config.ProviderOpenAI}, "anthropic": {Protocol: config.ProviderAnthropic},
	}
	for _, p := range models.Presets() {
		places[p.ID] = p
		if !slices.ContainsFunc(matrix, func(row provider) bool { return row.id == p.ID }) {
			t.Errorf("%s has no row", p.ID)
		}
	}
	for _, row := range matrix {
		t.Run(row.id, func(t *testing.T) {
			place := places[row.id]
			c := cell{provider: row, t: t, place: place, adapter: adapters[place.Protocol]}
			c.reasoning()
			c.images()
			c.overflow()
			c.ends()
		})
	}
}

// cell is a provider while its cells are tested.
type cell struct {
	provider
	t       *testing.T
	place   models.Preset
	adapter llm.Provider
}

func (c cell) play(events []chat.RawEvent) llm.Result {
	return llmtest.Play(c.t, c.adapter, llm.ToolsEnabled, events).Result
}

// request encodes a request of the running turn after these steps.
func (c cell) request(steps ...chat.Message) string {
	c.t.Helper()
	messages := append([]chat.Message{chat.UserText("Weather?")}, steps...)
	body, err := c.adapter.Encode(llm.Request{
		Endpoint: llm.Endpoint{ModelID: "m", BaseURL: c.place.BaseURL, ToolsMode: llm.ToolsEnabled, Stream: true},
		Context: llmtest.Prepare(c.t, llmtest.Context{
			Messages: messages, Cycle: len(steps), Tools: []chat.ToolDefinition{llmtest.Weather, llmtest.Search},
		}),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	// Mistral accepts images in results, which Chat Completions does not describe.
	if err := llmtest.RuleViolation(c.place.Protocol, body); err != nil && !(c.id == "mistral" && strings.Contains(string(body), "image_url")) {
		c.t.Errorf("%v\n%s", err, body)
	}
	return string(body)
}

func (c cell) reasoning() {
	r := c.play(stream(c.place.Protocol, usual[c.place.Protocol][1], c.usage, c.thoughts...))
	thought := ""
	var calls []chat.ToolUse
	for _, b := range r.Blocks {
		switch b := b.(type) {
		case chat.Reasoning:
			thought += b.Summary
		case chat.ToolUse:
			calls = append(calls, b)
		}
	}
	if r.Status != chat.StepPaused || thought != "Hm." || r.Text() != "" || len(calls) != 1 || string(calls[0].Input) != `{"city":"Oslo"}` {
		c.t.Fatalf("reasoning with a call: %s %q %q %+v", r.Status, thought, r.Text(), calls)
	}
	if r.Usage == nil || *r.Usage != c.want {
		c.t.Errorf("usage %+v, want %+v", r.Usage, c.want)
	}
	result := chat.ToolResult{ToolUseID: calls[0].ToolUseID, Content: chat.Blocks{chat.Text{Text: "rain"}}}
	body := c.request(chat.Message{Role: chat.RoleAssistant, Blocks: r.Blocks}, chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{result}})
	if !strings.Contains(body, c.back) || c.absent != "" && strings.Contains(body, c.absent) {
		c.t.Errorf("the next request must contain %s, and not %q: %s", c.back, c.absent, body)
	}
}

func (c cell) images() {
	calls := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.ToolUse{ToolUseID: "call00001", Name: "weather", Input: []byte(`{}`)},
		chat.ToolUse{ToolUseID: "call00002", Name: "search", Input: []byte(`{}`)},
	}}
	image := chat.NewImage("image/png", []byte("png"))
	body := c.request(calls, chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{
		chat.ToolResult{ToolUseID: "call00001", Content: chat.Blocks{chat.Text{Text: "a map"}, image}},
		chat.ToolResult{ToolUseID: "call00002", Content: chat.Blocks{chat.Text{Text: "two"}}},
	}})
	var sent struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(body), &sent); err != nil {
		c.t.Fatal(err)
	}
	var roles []string
	for _, m := range sent.Messages {
		roles = append(roles, m.Role)
		if strings.Contains(string(m.Content), `"type":"tool_result"`) && strings.Contains(string(m.Content), `"type":"image"`) {
			roles = []string{"tool_result"}
			break
		}
	}
	for _, item := range sent.Input {
		if strings.Contains(string(item.Output), "input_image") {
			roles = append(roles, item.Type)
		}
	}
	if got := strings.Join(roles, " "); got != c.roles || strings.Count(body, "cG5n") != 1 { // png in Base64
		c.t.Errorf("an image of a result: %s, want %s: %s", got, c.roles, body)
	}
}

func (c cell) overflow() {
	server := llmtest.NewServer(c.t, llmtest.JSON(c.status, c.before))
	ep := llm.Endpoint{ModelID: "m", BaseURL: server.URL, Key: "key-of-the-test"}
	err := c.adapter.Stream(c.t.Context(), ep, []byte("{}"), func(chat.RawEvent) error { return nil })
	c.tooLarge("before the stream", err)
	events := llmtest.Events(c.inside)
	if c.place.Protocol == config.ProviderOpenAI {
		events = append(llmtest.Events(`{"type":"response.created","response":{"id":"r","status":"in_progress"}}`), events...)
	}
	r := c.play(events)
	if r.Err == nil {
		c.t.Fatalf("an overflow inside the stream: %+v", r)
	}
	c.tooLarge("inside the stream", r.Err)
}

func (c cell) tooLarge(where string, err error) {
	var e *llm.Error
	if !errors.As(err, &e) || !e.ContextTooLarge() || c.limit > 0 && e.SizeLimit != c.limit {
		c.t.Errorf("an overflow %s: %+v", where, err)
	}
}

func (c cell) ends() {
	protocol := c.place.Protocol
	reason := usual[protocol][0]
	if protocol == config.ProviderAnthropic {
		reason = ""
	}
	if r := c.play(stream(protocol, reason, c.usage, c.declined)); endOf(r) != c.refusal {
		c.t.Errorf("a refusal: %s, %+v", endOf(r), r)
	}
	for reason, want := range c.odd {
		r := c.play(stream(protocol, reason, c.usage, said[protocol]))
		if got := endOf(r); got != want || r.Text() != "Half" {
			c.t.Errorf("%s: %s %q, want %s", reason, got, r.Text(), want)
		}
	}
}
