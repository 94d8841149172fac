package harness

import (
	_ "testing"

	_ "contextinfinity/backend/llm/llmtest"
)
