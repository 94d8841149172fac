package desktop

import (
	"context"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// What a window's frame and the desktop's panels may take of a screen, in pixels.
const besideWindow, aboveWindow = 16, 96

// fitScreen makes the first window small enough for the screen that it is on.
func fitScreen(ctx context.Context) {
	screens, err := runtime.ScreenGetAll(ctx)
	if err != nil {
		return
	}
	for _, s := range screens {
		if !s.IsCurrent && len(screens) > 1 {
			continue
		}
		if width, height := fitting(s.Size.Width, s.Size.Height); width < firstWidth || height < firstHeight {
			runtime.WindowSetSize(ctx, width, height)
			runtime.WindowCenter(ctx)
		}
		return
	}
}

// fitting is the first size on a screen of that size.
func fitting(width, height int) (int, int) {
	return max(minWidth, min(firstWidth, width-besideWindow)), max(minHeight, min(firstHeight, height-aboveWindow))
}
