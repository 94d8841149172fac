// breaks: root

package turn

import (
	_ "contextinfinity/scripts/tally"
)
