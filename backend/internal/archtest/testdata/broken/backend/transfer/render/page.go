// breaks: rendering
package render

import _ "contextinfinity/backend/turn"
