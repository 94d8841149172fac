// breaks: test kits

package turn

import (
	_ "contextinfinity/backend/llm/llmtest"
)
