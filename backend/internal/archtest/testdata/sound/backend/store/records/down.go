package records

import (
	_ "contextinfinity/backend/store/core"
	_ "contextinfinity/backend/store/schema"
)
