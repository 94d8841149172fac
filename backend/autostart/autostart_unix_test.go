//go:build !windows && !darwin

package autostart

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func entry(t *testing.T, program string) (*Entry, string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("APPIMAGE", program)
	e, err := New("--hidden", "--data-dir", `/data/50% "off" $HOME\x`)
	if err != nil {
		t.Skipf("no autostart here: %v", err)
	}
	return e, filepath.Join(dir, "autostart", "contextinfinity.desktop")
}

// Turning autostart on writes an entry into the desktop's folder in its format; turning it off removes it.
func TestTurningAutostartOnAndOff(t *testing.T) {
	e, path := entry(t, "/opt/a b/Context Infinity")
	expectState := func(want State) {
		t.Helper()
		want.Place = path
		if got, err := e.State(); err != nil || got != want {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
	}
	expectState(State{})
	if err := e.Set(true); err != nil {
		t.Fatal(err)
	}
	expectState(State{On: true})
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `Exec="/opt/a b/Context Infinity" "--hidden" "--data-dir" "/data/50%% \\"off\\" \\$HOME\\\\x"`+"\n") {
		t.Errorf("%s (%v)", text, err)
	}
	for range 2 { // the second time there is nothing to remove
		if err := e.Set(false); err != nil {
			t.Fatal(err)
		}
	}
	expectState(State{})
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

// Changes made in the system's settings are noticed, and an entry of another copy of the program is reported and
// replaced.
func TestTheStateFollowsTheSystem(t *testing.T) {
	e, path := entry(t, "/usr/bin/contextinfinity")
	for text, want := range map[string]State{
		"[Desktop Entry]\nExec=contextinfinity\nHidden=true\n":                              {},
		"[Desktop Entry]\nExec=/usr/bin/contextinfinity\nX-GNOME-Autostart-enabled=false\n": {},
		"[Desktop Entry]\nExec=/usr/bin/contextinfinity --hidden\n":                         {On: true},
		"[Desktop Entry]\nExec=\"/old place/contextinfinity\" --hidden\n":                   {On: true, Other: "/old place/contextinfinity"},
		"[Desktop Entry]\nExec=/usr/bin/contextinfinity\n[Desktop Action x]\nHidden=true\n": {On: true},
		"[Other]\nExec=/usr/bin/contextinfinity\n":                                          {},
		"": {},
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want.Place = path
		if got, err := e.State(); err != nil || got != want {
			t.Errorf("%q: %+v (%v), want %+v", text, got, err, want)
		}
	}
	if err := e.Set(true); err != nil {
		t.Fatal(err)
	}
	if got, err := e.State(); err != nil || !got.On || got.Other != "" {
		t.Errorf("%+v (%v)", got, err)
	}
}

func TestAnUnwritableFolderIsReported(t *testing.T) {
	e, path := entry(t, "/usr/bin/contextinfinity")
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil { // a file in place of the folder
		t.Fatal(err)
	}
	if err := e.Set(true); err == nil || !strings.Contains(err.Error(), "sign-in") {
		t.Errorf("%v", err)
	}
	if _, err := e.State(); err == nil {
		t.Error("an unreadable state was returned")
	}
}

func TestCommandsRoundTrip(t *testing.T) {
	for _, want := range [][]string{{"/a"}, {"/a b", "", `x"y`, "`$HOME`", `back\slash\\`, "100%%", "größer\ttab\nline"}} {
		if got := unquote(quote(want)); !reflect.DeepEqual(got, want) {
			t.Errorf("%q came back as %q (%s)", want, got, quote(want))
		}
	}
}
