// breaks: imports

package importing

import (
	_ "contextinfinity/backend/models"
)
