// breaks: pure

package prompt

import (
	_ "os"
)
