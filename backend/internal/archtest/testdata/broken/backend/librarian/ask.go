// breaks: anthropic sdk

package librarian

import (
	_ "github.com/anthropics/anthropic-sdk-go"
)
