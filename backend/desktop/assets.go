//go:build !dev

package desktop

import "github.com/wailsapp/wails/v2/pkg/options/assetserver"

// windowMiddleware is nil: the window loads its files unchanged.
func windowMiddleware() assetserver.Middleware { return nil }
