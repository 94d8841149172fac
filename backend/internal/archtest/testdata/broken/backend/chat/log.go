// breaks: domain

package chat

import (
	_ "contextinfinity/backend/journal"
)
