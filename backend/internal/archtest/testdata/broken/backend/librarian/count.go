// breaks: tiktoken

package librarian

import (
	_ "github.com/pkoukk/tiktoken-go"
)
