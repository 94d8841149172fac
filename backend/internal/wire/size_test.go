package wire

import (
	"testing"

	"contextinfinity/backend/chat"
)

// Response bodies with which servers reject a request because of its size, with the numbers in them, and some that only
// look similar.
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
		{400, `{"message":"too many tokens: size limit exceeded by 500 tokens. Try using shorter or fewer inputs. The limit for this model is 4096 tokens."}`, chat.CodeTooLarge, 4096, 0},
		{400, `{"error":{"message":"Requested generation length 200 is not possible! The provided prompt is 130000 tokens long, so generating 200 tokens requires a sequence length of 130200, but the maximum supported sequence length is just 128000!"}}`, chat.CodeTooLarge, 127800, 130000},
		{422, "{\"error\":{\"message\":\"Input validation error: `inputs` must have less than 8192 tokens. Given: 9000\"}}", chat.CodeTooLarge, 8192, 9000},
		{400, `{"error_code":336007,"error_msg":"the max input characters is 11200"}`, chat.CodeTooLarge, 11200, 0},
		{400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"error":{"code":"1210","message":"输入内容超出模型最大长度限制"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens. Request id: 021"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"error":{"message":"Input length 40000 exceeds the maximum length 32768. Request id: 0211712345678"}}`, chat.CodeTooLarge, 32768, 40000},
		{400, `{"error":{"message":"Sequence length 5000 exceeds model's maximum sequence length of 4096"}}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"error":{"message":"Your prompt contains 5000 tokens, which exceeds the limit of 4096 tokens"}}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"error":{"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"error":{"message":"Conversation is too long","code":"conversation_too_long"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"detail":[{"loc":["body"],"msg":"Value error, prompt is longer than 8192 tokens"}]}`, chat.CodeTooLarge, 0, 0},
		{400, `{"errors":[{"message":"AiError: The estimated number of input and maximum output tokens (5000) exceeded this model context window limit (4096).","code":5021}],"success":false}`, chat.CodeTooLarge, 4096, 5000},
		{400, `{"fault":{"faultstring":"Context length exceeded"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"base_resp":{"status_code":1039,"status_msg":"invalid params, token limit exceeded"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"error":{"message":"Error: input tokens (9001) + max_tokens (1000) > context window (8192)"}}`, chat.CodeTooLarge, 7192, 9001},
		{400, `{"error":{"message":"Too large prompt: 9001 tokens (max 8192)"}}`, chat.CodeTooLarge, 8192, 9001},
		{400, `{"error":{"message":"Input text is too long. Maximum allowed is 8192 tokens."}}`, chat.CodeTooLarge, 8192, 0},
		{400, `{"error":{"message":"Number of input tokens (9001) has exceeded max_total_tokens (8192)"}}`, chat.CodeTooLarge, 8192, 9001},
		{400, `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 2000 input tokens (32000 > 32768 - 2000)."}}`, chat.CodeProvider, 0, 0},
		{400, `{"error":{"message":"Invalid 'metadata': string too long. Expected a string with maximum length 512, but got a string with length 600 instead.","param":"metadata","code":"string_above_max_length"}}`, chat.CodeProvider, 0, 0},
		{400, `{"error":{"message":"Invalid 'messages[0].content': string too long.","param":"messages[0].content","code":"string_above_max_length"}}`, chat.CodeTooLarge, 0, 0},
		{400, `{"error":{"message":"image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"}}`, chat.CodeProvider, 0, 0},
		{400, `{"error":{"message":"tool name too long: maximum 64"}}`, chat.CodeProvider, 0, 0},
		{400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.","code":"array_above_max_length"}}`, chat.CodeProvider, 0, 0},
		{429, `{"error":{"message":"Your token limit for this minute has been exceeded"}}`, chat.CodeRateLimited, 0, 0},
		{401, `{"error":{"message":"token length invalid: token exceeded 512"}}`, chat.CodeAuth, 0, 0},
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
