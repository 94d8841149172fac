// breaks: contract

package llm

import (
	_ "contextinfinity/backend/config"
)
