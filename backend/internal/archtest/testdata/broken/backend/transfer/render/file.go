// breaks: pure rendering
package render

import _ "os"
