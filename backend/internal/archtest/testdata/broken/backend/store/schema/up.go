// breaks: floors of the store

package schema

import (
	_ "contextinfinity/backend/store/records"
)
