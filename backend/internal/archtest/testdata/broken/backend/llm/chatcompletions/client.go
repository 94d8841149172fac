// breaks: openai sdk

package chatcompletions

import (
	_ "github.com/openai/openai-go/v3"
)
