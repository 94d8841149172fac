package store

import (
	_ "contextinfinity/backend/chat"
	_ "gorm.io/gorm"
)
