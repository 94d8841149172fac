package app

import (
	_ "contextinfinity/backend/api"
	_ "contextinfinity/backend/cli"
	_ "contextinfinity/backend/llm/openai"
	_ "contextinfinity/backend/store"
)
