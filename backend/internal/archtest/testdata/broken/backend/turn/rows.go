// breaks: database

package turn

import (
	_ "gorm.io/gorm"
)
