// breaks: tool policy
package tools

import _ "contextinfinity/backend/store"
