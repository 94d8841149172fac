//go:build !dev

package desktop

import "github.com/wailsapp/wails/v2/pkg/options/assetserver"

// windowMiddleware changes nothing of what the window loads.
func windowMiddleware() assetserver.Middleware { return nil }
