// breaks: rooms of the store, adapters

package turn

import (
	_ "contextinfinity/backend/store/codec"
)
