// breaks: window

package jobs

import (
	_ "github.com/wailsapp/wails/v2/pkg/runtime"
)
