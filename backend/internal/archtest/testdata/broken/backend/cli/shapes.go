// breaks: siblings

package cli

import (
	_ "contextinfinity/backend/api"
)
