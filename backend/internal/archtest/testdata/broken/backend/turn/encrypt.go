// breaks: encryption
package turn

import _ "filippo.io/age"
