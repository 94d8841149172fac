// breaks: vendor sdks

package librarian

import (
	_ "github.com/anthropics/anthropic-sdk-go"
)
