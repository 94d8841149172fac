package transfer

import (
	"encoding/json"

	"contextinfinity/backend/chat"
)

// usageFields are a usage's, as providers and programs name them.
type usageFields struct {
	Input            count        `json:"input_tokens"`
	Prompt           count        `json:"prompt_tokens"`
	PromptEval       count        `json:"prompt_eval_count"`
	Output           count        `json:"output_tokens"`
	Completion       count        `json:"completion_tokens"`
	Eval             count        `json:"eval_count"`
	CacheRead        count        `json:"cache_read_input_tokens"`
	Cached           count        `json:"cached_input_tokens"`
	CacheWrite       count        `json:"cache_creation_input_tokens"`
	Reasoning        count        `json:"reasoning_output_tokens"`
	OutputDetails    usageDetails `json:"output_tokens_details"`
	CompletionDetail usageDetails `json:"completion_tokens_details"`
}

type usageDetails struct {
	Reasoning count `json:"reasoning_tokens"`
}

// readUsage is nil where nothing was told.
func readUsage(raw json.RawMessage) *chat.Usage {
	var f usageFields
	if isNull(raw) {
		return nil
	}
	_ = json.Unmarshal(raw, &f) // what does not fit stays zero
	u := chat.Usage{
		InputTokens:       int(max(f.Input, f.Prompt, f.PromptEval)),
		OutputTokens:      int(max(f.Output, f.Completion, f.Eval)),
		CachedInputTokens: int(max(f.CacheRead, f.Cached)),
		CacheWriteTokens:  int(f.CacheWrite),
		ReasoningTokens:   int(max(f.Reasoning, f.OutputDetails.Reasoning, f.CompletionDetail.Reasoning)),
	}
	if u == (chat.Usage{}) {
		return nil
	}
	return u.Checked(0)
}
