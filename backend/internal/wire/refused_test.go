package wire

import (
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// The part that a refusal is about, in the words of servers; refusals of other kinds name none.
func TestRefusedPart(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`, "max_tokens"},
		{422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, "stream_options"},
		{400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model.","param":"temperature","code":"unsupported_value"}}`, "temperature"},
		{400, `{"error":{"message":"max_tokens is too large: 9000. This model supports at most 2048 completion tokens.","param":"max_tokens"}}`, "max_tokens=2048"},
		{400, `{"error":{"message":"System role not supported"}}`, llm.RefusedSystem},
		{400, `{"error":{"message":"Developer instruction is not enabled for models/gemma-3"}}`, llm.RefusedSystem},
		{400, `{"message":"Unexpected role 'user' after role 'tool'"}`, llm.RefusedAfterTool},
		{400, "{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\"}}", llm.RefusedNoThoughts},

		{400, `{"object":"error","message":"Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 9000 tokens: 5000 tokens from the input messages and 4000 tokens for the completion.","code":400}`, "max_tokens=1024"},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion)."}}`, ""},
		{400, `{"error":{"message":"We include no support for this; please restore the temperature of the room, unknown error"}}`, ""},
		{400, `{"error":{"message":"Invalid schema for function 'a': array schema missing items."}}`, llm.RefusedTool + "a"},
		{401, `{"error":{"message":"max_tokens is not supported"}}`, ""},
		{500, `{"error":{"message":"max_tokens is not supported"}}`, ""},
	} {
		words, _ := ReadWords([]byte(c.body))
		if got := classify(c.status, words).Refused; got != c.want {
			t.Errorf("%d %s: %q, want %q", c.status, c.body, got, c.want)
		}
	}
}

// What lifts a refusal differs: credit, another place, a key, or time.
func TestKindsOfRefusal(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		code   chat.Code
		unpaid bool
		retry  bool
	}{
		{402, `{"error":{"message":"Insufficient Balance","code":"invalid_request_error"}}`, chat.CodeRateLimited, true, false},
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}`, chat.CodeRateLimited, true, false},
		{400, `{"error":{"message":"Your credit balance is too low to access the API."}}`, chat.CodeRateLimited, true, false},
		{429, `[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 2.3s.","status":"RESOURCE_EXHAUSTED"}}]`, chat.CodeRateLimited, false, true},
		{403, `{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}`, chat.CodeProvider, false, false},
		{403, `{"error":{"message":"This key may not use the model"}}`, chat.CodeAuth, false, false},
		{401, `{"error":{"message":"Incorrect API key provided"}}`, chat.CodeAuth, false, false},
	} {
		words, _ := ReadWords([]byte(c.body))
		if e := classify(c.status, words); e.Code != c.code || e.Unpaid != c.unpaid || e.Retry != c.retry {
			t.Errorf("%d %s: %+v", c.status, c.body, e)
		}
	}
}
