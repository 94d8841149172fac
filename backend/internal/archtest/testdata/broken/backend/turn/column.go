// breaks: rooms of the store

package turn

import (
	_ "contextinfinity/backend/store/codec"
)
