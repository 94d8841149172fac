package openai

import (
	_ "contextinfinity/backend/llm"
	_ "contextinfinity/backend/llm/internal/wire"
	_ "github.com/openai/openai-go/v3"
)
