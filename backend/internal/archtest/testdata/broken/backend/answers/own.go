// breaks: several answers

// Package answers asks several models itself.
package answers

import (
	_ "contextinfinity/backend/llm"
)
