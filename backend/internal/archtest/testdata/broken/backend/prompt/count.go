// breaks: assembly

package prompt

import (
	_ "contextinfinity/backend/tokens"
)
