// breaks: command line

package turn

import (
	_ "github.com/spf13/cobra"
)
