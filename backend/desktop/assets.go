//go:build !dev

package desktop

import "github.com/wailsapp/wails/v2/pkg/options/assetserver"

// Middleware is nil: the window loads its files unchanged.
func Middleware() assetserver.Middleware { return nil }
