// breaks: adapters know no other

package anthropic

import (
	_ "contextinfinity/backend/llm/openai"
)
