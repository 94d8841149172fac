// breaks: confinement
package turn

import _ "github.com/landlock-lsm/go-landlock/landlock"
