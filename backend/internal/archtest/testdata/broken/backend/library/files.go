// breaks: library

package library

import (
	_ "contextinfinity/backend/transfer"
)
