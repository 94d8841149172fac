// breaks: vendor sdks

package openai

import (
	_ "github.com/openai/openai-go/v3"
)
