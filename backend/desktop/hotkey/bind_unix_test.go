//go:build !windows && !darwin

package hotkey

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"

	"contextinfinity/backend/chat"
)

// noDesktop sets an environment without a bus and without a display.
func noDesktop(t *testing.T) {
	t.Helper()
	for _, name := range []string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
}

func TestADesktopWithoutShortcutsSuggestsAnAlternative(t *testing.T) {
	noDesktop(t)
	for _, wayland := range []string{"", "wayland-0"} {
		t.Setenv("WAYLAND_DISPLAY", wayland)
		if wayland != "" {
			t.Setenv("DISPLAY", ":7") // of XWayland: it would accept the combination but never deliver it
		}
		_, err := systemBind(t.Context(), Combination{Ctrl: true, Key: "A"}, "", nil)
		if chat.CodeOf(err) != chat.CodeUnavailable || !strings.Contains(chat.AsError(err).Hint, "contextinfinity --quick") {
			t.Errorf("%q: %v", wayland, err)
		}
	}
}

// startXServer starts an X server as this process's display until the test ends or end is called.
func startXServer(t *testing.T) (end func()) {
	t.Helper()
	noDesktop(t)
	server, err := exec.LookPath("Xvfb")
	if err != nil {
		t.Skip("there is no Xvfb here")
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(server, "-displayfd", "3", "-screen", "0", "320x240x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(end)
	_ = write.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	_ = read.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(number))
	return end
}

// keyboard sends key events to the display.
type keyboard struct {
	t    *testing.T
	conn *xgb.Conn
	g    *grabber
}

func newKeyboard(t *testing.T) *keyboard {
	t.Helper()
	conn, err := xgb.NewConn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := xtest.Init(conn); err != nil {
		t.Fatal(err)
	}
	return &keyboard{t: t, conn: conn, g: &grabber{conn: conn}}
}

// move presses or releases the first key for a keysym.
func (k *keyboard) move(sym uint32, kind byte) {
	k.t.Helper()
	lowest, width, syms, err := k.g.keyboard()
	if err != nil {
		k.t.Fatal(err)
	}
	for i, have := range syms {
		if uint32(have) == sym {
			code := byte(lowest) + byte(i/width)
			if err := xtest.FakeInputChecked(k.conn, kind, code, 0, xproto.Setup(k.conn).DefaultScreen(k.conn).Root, 0, 0, 0).Check(); err != nil {
				k.t.Fatal(err)
			}
			return
		}
	}
	k.t.Fatalf("no key produces %#x", sym)
}

// pause waits before each combination, because a press within a millisecond of the last release would count as a
// repetition.
func (k *keyboard) pause() { time.Sleep(5 * time.Millisecond) }

func (k *keyboard) press(syms ...uint32) {
	k.pause()
	for _, sym := range syms {
		k.move(sym, xproto.KeyPress)
	}
	for i := range syms {
		k.move(syms[len(syms)-1-i], xproto.KeyRelease)
	}
}

const (
	symControl, symAlt, symCapsLock = 0xffe3, 0xffe9, 0xffe5
	symSpace                        = 0x20
)

// Under X11 a combination arrives wherever the focus is, also with Caps Lock and Num Lock, and once while it is held
// down.
func TestX11DeliversACombination(t *testing.T) {
	startXServer(t)
	presses := make(chan string, 16)
	c := Combination{Ctrl: true, Alt: true, Key: "Space"}
	b, err := systemBind(t.Context(), c, "", func(string) { presses <- "pressed" })
	if err != nil {
		t.Fatal(err)
	}
	if b.means != MeansX11 || b.given != "Ctrl+Alt+Space" {
		t.Errorf("%+v", b)
	}
	keys := newKeyboard(t)
	expectPress := func(when string) {
		t.Helper()
		select {
		case <-presses:
		case <-time.After(10 * time.Second):
			t.Fatalf("no press was reported %s", when)
		}
	}
	keys.press(symControl, symSpace) // another combination
	keys.press(symControl, symAlt, symSpace)
	expectPress("of the combination")
	for _, lock := range []uint32{symCapsLock, symNumLock} {
		keys.press(lock)
		keys.press(symControl, symAlt, symSpace)
		expectPress("with a lock on")
	}
	keys.pause()
	for _, sym := range []uint32{symControl, symAlt, symSpace} {
		keys.move(sym, xproto.KeyPress)
	}
	expectPress("of a key that stays down")
	time.Sleep(1200 * time.Millisecond) // the server repeats the key during this time
	for _, sym := range []uint32{symSpace, symAlt, symControl} {
		keys.move(sym, xproto.KeyRelease)
	}
	if n := len(presses); n != 0 {
		t.Errorf("%d more presses were reported", n)
	}

	if _, err := systemBind(t.Context(), c, "", nil); chat.CodeOf(err) != chat.CodeConflict || !strings.Contains(err.Error(), "Another program already uses Ctrl+Alt+Space.") {
		t.Errorf("a second program: %v", err)
	}
	b.close()
	again, err := systemBind(t.Context(), c, "", nil)
	if err != nil {
		t.Fatalf("the combination was not released: %v", err)
	}
	again.close()
}

func TestTheEndOfTheDisplayIsReported(t *testing.T) {
	end := startXServer(t)
	b, err := bindX11(Combination{Key: "F9"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.ended:
		t.Error("it ended by itself")
	default:
	}
	end()
	<-b.ended
	b.close()
}

// fakePortal responds like xdg-desktop-portal: with a Request object and its Response signal.
type fakePortal struct {
	t       *testing.T
	conn    *dbus.Conn
	bound   chan map[string]dbus.Variant // properties of the requested shortcut
	outcome uint32                       // of BindShortcuts
	given   string                       // the description of its trigger; empty: the shortcut is left out
	closed  chan struct{}
}

const fakeSession = dbus.ObjectPath("/org/freedesktop/portal/desktop/session/x/contextinfinity")

type fakeShortcut struct {
	ID   string
	Data map[string]dbus.Variant
}

func (f *fakePortal) answer(sender dbus.Sender, options map[string]dbus.Variant, outcome uint32, results map[string]dbus.Variant) dbus.ObjectPath {
	token, _ := options["handle_token"].Value().(string)
	path := dbus.ObjectPath("/org/freedesktop/portal/desktop/request/" + strings.ReplaceAll(strings.TrimPrefix(string(sender), ":"), ".", "_") + "/" + token)
	// Sent before the method returns: the signal may arrive before the path, which is why both sides compute it in
	// advance.
	if err := f.conn.Emit(path, requestInterface+".Response", outcome, results); err != nil {
		f.t.Error(err)
	}
	return path
}

func startPortal(t *testing.T, f *fakePortal) {
	t.Helper()
	noDesktop(t)
	f.t, f.conn, f.bound, f.closed = t, privateBus(t), make(chan map[string]dbus.Variant, 1), make(chan struct{}, 1)
	export := func(methods map[string]any, path dbus.ObjectPath, iface string) {
		if err := f.conn.ExportMethodTable(methods, path, iface); err != nil {
			t.Fatal(err)
		}
	}
	export(map[string]any{"Get": func(iface, name string) (dbus.Variant, *dbus.Error) {
		if iface != portalInterface || name != "version" {
			return dbus.Variant{}, dbus.MakeFailedError(os.ErrNotExist)
		}
		return dbus.MakeVariant(uint32(1)), nil
	}}, portalPath, "org.freedesktop.DBus.Properties")
	export(map[string]any{
		"CreateSession": func(sender dbus.Sender, options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
			if options["session_handle_token"].Value() != "contextinfinity" {
				t.Errorf("%v", options)
			}
			return f.answer(sender, options, 0, map[string]dbus.Variant{"session_handle": dbus.MakeVariant(string(fakeSession))}), nil
		},
		"BindShortcuts": func(sender dbus.Sender, session dbus.ObjectPath, shortcuts []fakeShortcut, _ string, options map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
			if session != fakeSession || len(shortcuts) != 1 {
				t.Errorf("%s: %+v", session, shortcuts)
			}
			f.bound <- shortcuts[0].Data
			given := []fakeShortcut{}
			if f.given != "" {
				given = append(given, fakeShortcut{shortcuts[0].ID, map[string]dbus.Variant{"trigger_description": dbus.MakeVariant(f.given)}})
			}
			return f.answer(sender, options, f.outcome, map[string]dbus.Variant{"shortcuts": dbus.MakeVariant(given)}), nil
		},
	}, portalPath, portalInterface)
	export(map[string]any{"Close": func() *dbus.Error { f.closed <- struct{}{}; return nil }}, fakeSession, sessionInterface)
	if _, err := f.conn.RequestName(portalName, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
}

func privateBus(t *testing.T) *dbus.Conn {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("there is no dbus-daemon here")
	}
	conf := filepath.Join(t.TempDir(), "bus.conf")
	if err := os.WriteFile(conf, []byte(`<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
		<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(daemon, "--config-file="+conf, "--print-address", "--nofork", "--nopidfile")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	conn, err := dbus.Connect(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return conn
}

// The portal gets the combination in its own format, and passes on each press with the activation token for a window.
func TestThePortalDeliversACombination(t *testing.T) {
	f := &fakePortal{given: "Press <Control><Alt>space"}
	startPortal(t, f)
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	tokens := make(chan string, 4)
	b, err := systemBind(t.Context(), Combination{Ctrl: true, Alt: true, Key: "Space"}, "Quick ask", func(token string) { tokens <- token })
	if err != nil {
		t.Fatal(err)
	}
	asked := <-f.bound
	if asked["preferred_trigger"].Value() != "CTRL+ALT+space" || asked["description"].Value() != "Quick ask" {
		t.Errorf("%v", asked)
	}
	if b.means != MeansPortal || b.given != f.given {
		t.Errorf("%+v", b)
	}
	press := func(session dbus.ObjectPath, id string, options map[string]dbus.Variant) {
		if err := f.conn.Emit(portalPath, portalInterface+".Activated", session, id, uint64(1), options); err != nil {
			t.Fatal(err)
		}
	}
	press("/another/session", shortcutID, nil)
	press(fakeSession, "another", nil)
	press(fakeSession, shortcutID, map[string]dbus.Variant{"activation_token": dbus.MakeVariant("t1")})
	press(fakeSession, shortcutID, map[string]dbus.Variant{})
	for _, want := range []string{"t1", ""} {
		if got := <-tokens; got != want {
			t.Errorf("token %q, want %q", got, want)
		}
	}
	b.close()
	<-f.closed // the session was closed
	if len(tokens) != 0 {
		t.Error("key presses of other sessions or shortcuts were delivered")
	}
}

func TestTheBindingEndsWhenThePortalEndsTheSession(t *testing.T) {
	f := &fakePortal{given: "F9"}
	startPortal(t, f)
	b, err := bindPortal(t.Context(), Combination{Key: "F9"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.conn.Emit(fakeSession, sessionInterface+".Closed", map[string]dbus.Variant{}); err != nil {
		t.Fatal(err)
	}
	<-b.ended
	b.close()
}

// A portal's refusal is reported, and X11 is not used to circumvent it.
func TestAPortalsRefusalIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		portal *fakePortal
		code   chat.Code
		words  string
	}{
		"not allowed": {&fakePortal{outcome: responseCancelled}, chat.CodeCancelled, "was not allowed"},
		"left out":    {&fakePortal{}, chat.CodeConflict, "did not give the program this combination"},
		"failed":      {&fakePortal{outcome: 2}, chat.CodeUnavailable, "gave an unexpected answer"},
	} {
		t.Run(name, func(t *testing.T) {
			startPortal(t, c.portal)
			t.Setenv("WAYLAND_DISPLAY", "wayland-0")
			_, err := systemBind(t.Context(), Combination{Ctrl: true, Key: "A"}, "", nil)
			if chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) || chat.AsError(err).Hint == "" {
				t.Errorf("%v", err)
			}
		})
	}
}

// The program can stop while it waits for the portal.
func TestAPortalThatAsksCanBeCancelled(t *testing.T) {
	noDesktop(t)
	conn := privateBus(t)
	if _, err := conn.RequestName(portalName, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	called := make(chan struct{})
	methods := map[string]any{"CreateSession": func(dbus.Sender, map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
		close(called)
		return "/org/freedesktop/portal/desktop/request/x", nil
	}}
	if err := conn.ExportMethodTable(methods, portalPath, portalInterface); err != nil {
		t.Fatal(err)
	}
	get := map[string]any{"Get": func(string, string) (dbus.Variant, *dbus.Error) { return dbus.MakeVariant(uint32(1)), nil }}
	if err := conn.ExportMethodTable(get, portalPath, "org.freedesktop.DBus.Properties"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-called; cancel() }()
	if _, err := systemBind(ctx, Combination{Key: "F9"}, "", nil); err == nil {
		t.Error("it was bound")
	}
}
