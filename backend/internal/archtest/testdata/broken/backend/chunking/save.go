// breaks: chunking

package chunking

import (
	_ "contextinfinity/backend/journal"
)
