package desktop

import (
	"context"
	"os"

	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Space for a window's frame and the desktop's panels, in pixels.
const marginWidth, marginHeight = 16, 96

// fitScreen makes a window of that size fit its screen.
func fitScreen(ctx context.Context, size Size) {
	screens, err := runtime.ScreenGetAll(ctx)
	if err != nil {
		return
	}
	for _, s := range screens {
		if !s.IsCurrent && len(screens) > 1 {
			continue
		}
		if width, height := size.on(s.Size.Width, s.Size.Height); width < size.Width || height < size.Height {
			runtime.WindowSetSize(ctx, width, height)
			runtime.WindowCenter(ctx)
		}
		return
	}
}

// Background returns the color of the window until the page is drawn: that of its theme, or with the system's theme that
// of the system's windows.
func (w Window) Background() *options.RGBA {
	switch w.Theme {
	case "light":
		return options.NewRGB(0xfd, 0xfd, 0xfc)
	case "dark":
		return options.NewRGB(0x17, 0x18, 0x1b)
	case "contrast":
		return options.NewRGB(0, 0, 0)
	}
	return options.NewRGBA(0, 0, 0, 0)
}

// cascade moves an additional window, which the system opens where the first one was opened, so that it does not cover
// the others.
func cascade(ctx context.Context) {
	x, y := runtime.WindowGetPosition(ctx)
	offset := cascadeOffset(os.Getpid())
	runtime.WindowSetPosition(ctx, x+offset, y+offset)
}

// cascadeOffset is how far an additional window is from the first one, in pixels. Windows are processes, and those opened
// one after another seldom have the same number in this small range.
func cascadeOffset(process int) int { return 28 * (1 + process%6) }

// on returns the initial size on a screen of that size.
func (s Size) on(width, height int) (int, int) {
	return max(s.MinWidth, min(s.Width, width-marginWidth)), max(s.MinHeight, min(s.Height, height-marginHeight))
}
