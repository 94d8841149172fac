// breaks: database

package turn

import (
	_ "github.com/glebarez/sqlite"
)
