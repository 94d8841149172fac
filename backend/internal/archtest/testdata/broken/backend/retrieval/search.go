// breaks: vectors

package retrieval

import (
	_ "github.com/philippgille/chromem-go"
)
