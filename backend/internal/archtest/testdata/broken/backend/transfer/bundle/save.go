// breaks: bundle

package bundle

import (
	_ "contextinfinity/backend/turn"
)
