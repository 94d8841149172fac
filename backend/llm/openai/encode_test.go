package openai

import (
	"testing"

	"contextinfinity/backend/llm/llmtest"
)

func TestEncode(t *testing.T) { llmtest.EncodeGolden(t, harness) }
