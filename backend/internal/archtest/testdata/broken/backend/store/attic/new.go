// breaks: floors of the store

package attic

import (
	_ "contextinfinity/backend/store/schema"
)
