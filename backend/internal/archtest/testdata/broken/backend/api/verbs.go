// breaks: api and cli

package api

import (
	_ "contextinfinity/backend/cli"
)
