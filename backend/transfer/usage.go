package transfer

import (
	"encoding/json"

	"contextinfinity/backend/chat"
)

// usageFields are the fields of token usage in the formats of providers and programs.
type usageFields struct {
	Input            count        `json:"input_tokens"`
	Prompt           count        `json:"prompt_tokens"`
	PromptEval       count        `json:"prompt_eval_count"`
	InputCamel       count        `json:"inputTokens"`
	Output           count        `json:"output_tokens"`
	Completion       count        `json:"completion_tokens"`
	Eval             count        `json:"eval_count"`
	OutputCamel      count        `json:"outputTokens"`
	CacheRead        count        `json:"cache_read_input_tokens"`
	CacheReadShort   count        `json:"cache_read_tokens"`
	Cached           count        `json:"cached_input_tokens"`
	CachedCamel      count        `json:"cachedInputTokens"`
	CacheWrite       count        `json:"cache_creation_input_tokens"`
	CacheWriteShort  count        `json:"cache_creation_tokens"`
	Reasoning        count        `json:"reasoning_output_tokens"`
	ReasoningCamel   count        `json:"reasoningTokens"`
	OutputDetails    usageDetails `json:"output_tokens_details"`
	CompletionDetail usageDetails `json:"completion_tokens_details"`
}

type usageDetails struct {
	Reasoning count `json:"reasoning_tokens"`
}

// readUsage is nil if there are no numbers.
func readUsage(raw json.RawMessage) *chat.Usage {
	var f usageFields
	if isNull(raw) {
		return nil
	}
	_ = json.Unmarshal(raw, &f) // unexpected fields stay zero
	u := chat.Usage{
		InputTokens:       int(max(f.Input, f.InputCamel, f.Prompt, f.PromptEval)),
		OutputTokens:      int(max(f.Output, f.OutputCamel, f.Completion, f.Eval)),
		CachedInputTokens: int(max(f.CacheRead, f.CacheReadShort, f.Cached, f.CachedCamel)),
		CacheWriteTokens:  int(max(f.CacheWrite, f.CacheWriteShort)),
		ReasoningTokens:   int(max(f.Reasoning, f.ReasoningCamel, f.OutputDetails.Reasoning, f.CompletionDetail.Reasoning)),
	}
	if u == (chat.Usage{}) {
		return nil
	}
	return u.Checked(0)
}
