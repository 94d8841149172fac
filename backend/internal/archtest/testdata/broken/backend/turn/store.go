// breaks: adapters

package turn

import (
	_ "contextinfinity/backend/store"
)
