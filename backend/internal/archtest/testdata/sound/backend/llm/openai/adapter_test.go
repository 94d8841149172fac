package openai

import (
	_ "contextinfinity/backend/llm/llmtest"
)
