package childenv

import (
	"slices"
	"testing"
)

func TestKeysAreRemoved(t *testing.T) {
	env := []string{
		"PATH=/bin", "HOME=/home/a", "LC_ALL=C", "DISPLAY=:0", "XDG_RUNTIME_DIR=/run", "https_proxy=http://p", "OPENAI_API_KEY=sk-1", "ANTHROPIC_API_KEY=sk-2",
		"MY_MODEL=sk-3", "SystemDrive=C:", "LD_LIBRARY_PATH=/app/lib", "ProgramW6432=C:\\Program Files", "CONTEXTINFINITY=0", "CONTEXTINFINITY_TOKEN=sk-4", "XDG_SECRET=sk-5", "=C:=C:\\", "AWS_SECRET_ACCESS_KEY=sk-6", "GITHUB_TOKEN=sk-7",
	}
	if got, want := Minimal(env), []string{"PATH=/bin", "HOME=/home/a", "LC_ALL=C", "SystemDrive=C:", "LD_LIBRARY_PATH=/app/lib"}; !slices.Equal(got, want) {
		t.Errorf("minimal: %q", got)
	}
	if got, want := Tool(append(env, "SHELL=/bin/sh", "DBUS_SESSION_BUS_ADDRESS=unix:x", "SSH_AUTH_SOCK=/s", "GODEBUG=x")), []string{"PATH=/bin", "HOME=/home/a", "LC_ALL=C", "SystemDrive=C:", "ProgramW6432=C:\\Program Files", "SHELL=/bin/sh"}; !slices.Equal(got, want) {
		t.Errorf("tool: %q", got)
	}
	want := []string{"PATH=/bin", "HOME=/home/a", "LC_ALL=C", "DISPLAY=:0", "XDG_RUNTIME_DIR=/run", "https_proxy=http://p", "SystemDrive=C:", "LD_LIBRARY_PATH=/app/lib", "ProgramW6432=C:\\Program Files", "CONTEXTINFINITY=0"}
	if got := Desktop(env); !slices.Equal(got, want) {
		t.Errorf("desktop: %q", got)
	}
}
