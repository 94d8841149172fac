//go:build !windows && !darwin

package hotkey

import (
	"context"
	"errors"
	"os"

	"contextinfinity/backend/chat"
)

// systemBind tries the portal first: under Wayland only the portal receives keys while another window has the focus,
// and an X server for legacy programs would accept the combination but never deliver it.
func systemBind(ctx context.Context, c Combination, purpose string, pressed func(string)) (*binding, error) {
	b, err := bindPortal(ctx, c, purpose, pressed)
	if err == nil || chat.CodeOf(err) == chat.CodeCancelled || ctx.Err() != nil {
		return b, err
	}
	if os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("XDG_SESSION_TYPE") != "wayland" && os.Getenv("DISPLAY") != "" {
		return bindX11(c, pressed)
	}
	if errors.Is(err, errNoPortal) {
		return nil, errUnsupported("This desktop does not support global shortcuts (it has no portal for them).")
	}
	return nil, err
}
