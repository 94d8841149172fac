package anthropic

import (
	"testing"

	"contextinfinity/backend/llm/llmtest"
)

func FuzzStream(f *testing.F) { llmtest.FuzzStream(f, harness) }
