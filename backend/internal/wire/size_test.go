package wire

import (
	"testing"

	"contextinfinity/backend/chat"
)

// Bodies with which servers refuse a request for its size, each with the numbers in it,
// and some that only look like it.
func TestRefusalsOfServers(t *testing.T) {
	for _, c := range []struct {
		status         int
		body           string
		code           chat.Code
		limit, counted int
	}{
		{400, `{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.","code":"context_length_exceeded"}}`, chat.CodeTooLarge, 272000, 300123},
		{429, `{"error":{"message":"Request too large for gpt-4o in organization org-9 on tokens per min (TPM): Limit 30000, Requested 48123.","code":"rate_limit_exceeded"}}`, chat.CodeTooLarge, 30000, 48123},
		{429, `{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4812.","code":"rate_limit_exceeded"}}`, chat.CodeRateLimited, 0, 0},
		{400, `[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INVALID_ARGUMENT"}}]`, chat.CodeTooLarge, 1048576, 0},
		{400, `{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 140001 tokens."}`, chat.CodeTooLarge, 131072, 140001},
		{400, `{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 9000."}`, chat.CodeTooLarge, 4081, 9000},
		{422, "{\"error\":{\"message\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 7900 `inputs` tokens and 2000 `max_new_tokens`\"}}", chat.CodeTooLarge, 6193, 7900},
		{400, `{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","code":400}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5000>= n_ctx: 4096)."}`, chat.CodeTooLarge, 4096, 5000},
		{500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum context length is 32768 tokens. However, you requested 40000 tokens\"}}"}}}`, chat.CodeTooLarge, 32768, 40000},
		{400, `{"message":"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192"}`, chat.CodeTooLarge, 8192, 9000},
		{413, `{"error":{"message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`, chat.CodeTooLarge, 8000, 0},
		{400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192"}}`, chat.CodeTooLarge, 8192, 0},
		{400, `{"error":{"message":"<400> InvalidParameter: Range of input length should be [1, 30720]"}}`, chat.CodeTooLarge, 30720, 0},
		{400, `{"error":{"message":"prompt token count of 70001 exceeds the limit of 64000"}}`, chat.CodeTooLarge, 64000, 70001},
		{400, `{"detail":"Prompt has 5000 tokens but max supported is 4096"}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"error":{"message":"Prompt length 5000 is greater than max_seq_len 4096"}}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"error":"The estimated number of input and maximum output tokens (5000) exceeded this model context window limit (4096)."}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"error":{"message":"max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000."}}`, chat.CodeProvider, 0, 0},
		{400, `{"error":{"message":"max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-3-5"}}`, chat.CodeProvider, 0, 0},
		{400, `{"error":{"message":"Invalid value for temperature: exceeds the maximum of 2"}}`, chat.CodeProvider, 0, 0},
	} {
		words, ok := ReadWords([]byte(c.body))
		if e := classify(c.status, words); !ok || e.Code != c.code || e.SizeLimit != c.limit || e.SizeCounted != c.counted {
			t.Errorf("%s: %v, limit %d, counted %d, want %v, %d, %d", c.body, e.Code, e.SizeLimit, e.SizeCounted, c.code, c.limit, c.counted)
		}
	}
}
