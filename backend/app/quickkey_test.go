package app

import (
	"testing"

	"contextinfinity/backend/api"
)

// If a desktop has no global shortcuts, the settings say so and suggest an alternative. The desktop is not asked
// before a shortcut is set.
func TestTheKeysOfQuickAskFollowTheSettings(t *testing.T) {
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	p := openPage(t, t.TempDir())
	settings := p.settings
	if v := settings.QuickKey(); v.Phase != api.QuickKeyOff {
		t.Errorf("%+v", v)
	}
	if _, err := settings.Set("desktop.quick_ask_keys", "Shift+A"); err == nil {
		t.Error("a combination that types a character was accepted")
	}
	if _, err := settings.Set("desktop.quick_ask_keys", "Ctrl+Alt+Space"); err != nil {
		t.Fatal(err)
	}
	p.eventually("the desktop's answer is not reported", func() bool { return settings.QuickKey().Phase == api.QuickKeyFailed })
	if v := settings.QuickKey(); v.Keys != "Ctrl+Alt+Space" || v.Reason.IsZero() || v.Hint.String() != "bind the command contextinfinity --quick in the desktop's own keyboard settings" {
		t.Errorf("%+v", v)
	}
	if v := settings.Updates(); v.Feed || v.At != 0 {
		t.Errorf("%+v", v)
	}
	if v := settings.CheckForUpdates(); v.Reason.IsZero() {
		t.Errorf("%+v", v)
	}
}
