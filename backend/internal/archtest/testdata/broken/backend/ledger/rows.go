// breaks: replay

package ledger

import (
	_ "contextinfinity/backend/store"
)
