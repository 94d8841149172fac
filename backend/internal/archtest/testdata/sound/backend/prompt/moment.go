package prompt

import (
	"time"
)

const patience = 2 * time.Second
