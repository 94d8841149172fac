// breaks: edges

package jobs

import (
	_ "contextinfinity/backend/api"
)
