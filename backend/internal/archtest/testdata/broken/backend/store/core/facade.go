// breaks: floors of the store

package core

import (
	_ "contextinfinity/backend/store"
)
