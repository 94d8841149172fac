package openai

import (
	_ "contextinfinity/backend/llm"
	_ "contextinfinity/backend/llm/internal/wire"
	_ "net/http"
)
