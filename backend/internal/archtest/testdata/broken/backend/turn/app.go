// breaks: composition

package turn

import _ "contextinfinity/backend/app"
