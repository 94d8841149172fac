//go:build !windows && !darwin

package desktop

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// privateBus starts a session bus without services for one test, and returns a connection to it for mock services.
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
	address = strings.TrimSpace(address)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	services, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		leaveBus()
		_ = services.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return services
}

// serve exports an object under a name on the bus.
func serve(t *testing.T, conn *dbus.Conn, name string, path dbus.ObjectPath, methods map[string]any, iface string) {
	t.Helper()
	if err := conn.ExportMethodTable(methods, path, iface); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
}

// The window may hide to the tray only while a host is registered. It notices when hosts come and go, and when the
// watcher or the bus ends.
func TestTheTraysHostIsWatched(t *testing.T) {
	services := privateBus(t)
	reports := make(chan bool, 8)
	watchHost(func(host bool) { reports <- host })
	expect := func(want bool, when string) {
		t.Helper()
		if got := <-reports; got != want {
			t.Errorf("%s: host %v", when, got)
		}
	}
	expect(false, "with no watcher")
	var host atomic.Bool
	host.Store(true)
	serve(t, services, watcherName, watcherPath, map[string]any{
		"Get": func(iface, name string) (dbus.Variant, *dbus.Error) {
			return dbus.MakeVariant(host.Load() && iface == watcherName && name == "IsStatusNotifierHostRegistered"), nil
		},
	}, "org.freedesktop.DBus.Properties")
	expect(true, "with a watcher and a host")
	host.Store(false)
	if err := services.Emit(watcherPath, watcherName+".StatusNotifierHostUnregistered"); err != nil {
		t.Fatal(err)
	}
	expect(false, "when the host left")
	host.Store(true)
	if err := services.Emit(watcherPath, watcherName+".StatusNotifierHostRegistered"); err != nil {
		t.Fatal(err)
	}
	expect(true, "when a host came")
	if _, err := services.ReleaseName(watcherName); err != nil {
		t.Fatal(err)
	}
	expect(false, "when the watcher left")
	leaveBus()
	expect(false, "when the bus ended")
}

func TestWithoutABusThereIsNoTray(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	watchHost(func(bool) { t.Error("a host was found without a bus") })
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "autolaunch:")
	if _, err := sessionBus(); err == nil {
		t.Error("a bus was started")
	}
}

// requestLog records requests to a mock service, because the service and the test run in different goroutines.
type requestLog[T any] struct {
	mu   sync.Mutex
	list []T
}

func (a *requestLog[T]) add(request T) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, request)
	return len(a.list)
}

func (a *requestLog[T]) all() []T {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// A notification names the session, escapes markup and replaces the session's last notification. A click on it shows
// the window with the session.
func TestANotificationOpensItsSession(t *testing.T) {
	services := privateBus(t)
	type shownNotice struct {
		replaces    uint32
		title, text string
	}
	var got requestLog[shownNotice]
	serve(t, services, noticeName, noticePath, map[string]any{
		"Notify": func(_ string, replaces uint32, _, title, text string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
			n := got.add(shownNotice{replaces, title, text})
			if replaces != 0 {
				return replaces, nil
			}
			return uint32(40 + n), nil
		},
	}, noticeName)
	asked := make(chan WindowRequest, 1)
	l, window, _ := newTestLifecycle(Window{Request: func(s WindowRequest) { asked <- s }, Settings: fixedSettings(Settings{Notifications: true})})
	shown.Store(l)
	t.Cleanup(func() { shown.Store(nil) })
	Notify(Notice{Session: "s1", Title: "One <b>", Text: "1 < 2 & 3"})
	Notify(Notice{Session: "s2", Title: "Two"})
	Notify(Notice{Session: "s1", Title: "One again"})
	want := []shownNotice{{0, "One <b>", "1 &lt; 2 &amp; 3"}, {0, "Two", ""}, {41, "One again", ""}}
	if !reflect.DeepEqual(got.all(), want) {
		t.Errorf("%+v", got.all())
	}
	for _, number := range []uint32{7, 42} { // another program's, then ours
		if err := services.Emit(noticePath, noticeName+".ActivationToken", number, "token"); err != nil {
			t.Fatal(err)
		}
		if err := services.Emit(noticePath, noticeName+".ActionInvoked", number, "default"); err != nil {
			t.Fatal(err)
		}
	}
	if s := <-asked; s.Kind != RequestOpenSession || s.Session != "s2" || s.X != -1 {
		t.Errorf("%+v", s)
	}
	window.expect(t, "show")
	l.w.Settings = fixedSettings(Settings{})
	if Notify(Notice{Session: "s3", Title: "Three"}); len(got.all()) != 3 {
		t.Error("a notification was shown although the setting is off")
	}
}

// The session manager may end the session at any time, but the program saves its work before it agrees.
func TestTheSessionWaitsForTheWork(t *testing.T) {
	for _, m := range sessionManagers {
		t.Run(m.name, func(t *testing.T) {
			services := privateBus(t)
			const client = dbus.ObjectPath("/client/1")
			events := make(chan string, 8)
			dot := strings.LastIndex(m.register, ".")
			if err := services.ExportMethodTable(map[string]any{"EndSessionResponse": func(ok bool, _ string) *dbus.Error {
				if !ok {
					events <- "refused"
				}
				events <- "agreed"
				return nil
			}}, client, m.client); err != nil {
				t.Fatal(err)
			}
			serve(t, services, m.name, m.path, map[string]any{
				m.register[dot+1:]: func(name, _ string) (dbus.ObjectPath, *dbus.Error) { events <- name; return client, nil },
			}, m.register[:dot])
			l, _, _ := newTestLifecycle(Window{Close: func() { events <- "saved" }})
			l.exit = func(int) {}
			l.joinSession()
			emit := func(signal string) {
				if err := services.Emit(client, m.client+"."+signal, uint32(0)); err != nil {
					t.Fatal(err)
				}
			}
			emit("QueryEndSession")
			for _, want := range []string{"contextinfinity", "agreed"} {
				if got := <-events; got != want {
					t.Fatalf("%q before %q", got, want)
				}
			}
			if l.isQuitting() {
				t.Error("the program quits before the session ends")
			}
			emit("EndSession")
			for _, want := range []string{"saved", "agreed"} {
				if got := <-events; got != want {
					t.Fatalf("%q before %q", got, want)
				}
			}
		})
	}
}

// The file manager is asked to show the file itself, with its exact name; without a file manager on the bus, its
// folder is opened.
func TestAFileIsRevealed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "größer & 100%.cinf")
	opened := filepath.Join(dir, "opened")
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{file: "x", filepath.Join(bin, "xdg-open"): "#!/bin/sh\nprintf %s \"$1\" >" + opened + ".part\nmv " + opened + ".part " + opened + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	services := privateBus(t)
	if err := Reveal(file); err != nil {
		t.Fatal(err)
	}
	waitFor(t, opened, dir)

	var shown requestLog[[]string]
	serve(t, services, "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1", map[string]any{
		"ShowItems": func(uris []string, _ string) *dbus.Error { shown.add(uris); return nil },
	}, "org.freedesktop.FileManager1")
	err := Reveal(file)
	asked := slices.Concat(shown.all()...)
	if err != nil || len(asked) != 1 || asked[0] != fileURI(file) || !strings.HasSuffix(asked[0], "/gr%C3%B6%C3%9Fer%20&%20100%25.cinf") {
		t.Errorf("%q (%v)", asked, err)
	}
	if err := Reveal(filepath.Join(dir, "gone")); err == nil {
		t.Error("deleted content was shown")
	}
}

// waitFor polls for a file that another process writes; the test's timeout ends it.
func waitFor(t *testing.T, path, want string) {
	t.Helper()
	for {
		data, err := os.ReadFile(path)
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if string(data) != want {
			t.Errorf("opened %q, want %q", data, want)
		}
		return
	}
}
