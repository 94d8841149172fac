// breaks: provider adapters

package turn

import (
	_ "contextinfinity/backend/llm/openai"
)
