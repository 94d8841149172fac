package turn

import (
	_ "contextinfinity/backend/store"
	_ "testing"
)
