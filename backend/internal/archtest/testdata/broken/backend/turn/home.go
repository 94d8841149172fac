// breaks: test kits

package turn

import _ "contextinfinity/test/harness"
