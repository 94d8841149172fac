package chat

import (
	_ "github.com/oklog/ulid/v2"
	_ "time"
)
