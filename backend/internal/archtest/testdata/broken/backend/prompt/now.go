// breaks: clock

package prompt

import (
	moment "time"
)

var born = moment.Now()
