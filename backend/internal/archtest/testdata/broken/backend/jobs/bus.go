// breaks: session bus
package jobs

import _ "github.com/godbus/dbus/v5"
