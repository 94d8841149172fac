// breaks: long work

package tasks

import (
	_ "contextinfinity/backend/transfer"
)
