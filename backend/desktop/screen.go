package desktop

import (
	"context"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Space for a window's frame and the desktop's panels, in pixels.
const marginWidth, marginHeight = 16, 96

// fitScreen makes the first window fit its screen.
func fitScreen(ctx context.Context) {
	screens, err := runtime.ScreenGetAll(ctx)
	if err != nil {
		return
	}
	for _, s := range screens {
		if !s.IsCurrent && len(screens) > 1 {
			continue
		}
		if width, height := initialSize(s.Size.Width, s.Size.Height); width < firstWidth || height < firstHeight {
			runtime.WindowSetSize(ctx, width, height)
			runtime.WindowCenter(ctx)
		}
		return
	}
}

// initialSize returns the initial size on a screen of that size.
func initialSize(width, height int) (int, int) {
	return max(minWidth, min(firstWidth, width-marginWidth)), max(minHeight, min(firstHeight, height-marginHeight))
}
