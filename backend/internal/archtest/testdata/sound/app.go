package main

import (
	_ "contextinfinity/backend/llm/openai"
	_ "contextinfinity/backend/store"
	_ "github.com/wailsapp/wails/v2"
)
