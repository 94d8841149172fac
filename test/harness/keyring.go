package harness

import (
	"bufio"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Keyring is the keyring of a desktop: the Secret Service on a bus of its own.
type Keyring struct {
	Address string // of the bus

	mu      sync.Mutex
	conn    *dbus.Conn
	state   KeyringState
	secrets map[dbus.ObjectPath]secret
}

// KeyringState is how a keyring answers.
type KeyringState int

const (
	KeyringOpen    KeyringState = iota
	KeyringLocked               // it asks for its password, and nobody gives it
	KeyringRefuses              // every request is an error
	KeyringGone                 // there is none on the bus
)

// secretOnBus is the struct Secret of the protocol.
type secretOnBus struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

type secret struct {
	secretOnBus
	attributes map[string]string
}

const (
	secretsName    = "org.freedesktop.secrets"
	secretsPath    = "/org/freedesktop/secrets"
	secretsLogin   = secretsPath + "/collection/login"
	secretsService = "org.freedesktop.Secret.Service"
)

// NewKeyring starts a keyring, which is open.
func NewKeyring(t testing.TB) *Keyring {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the keyring of this system cannot be replaced")
	}
	config := filepath.Join(t.TempDir(), "bus.conf")
	WriteFile(t, config, []byte(`<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`))
	bus := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--print-address")
	out, err := bus.StdoutPipe()
	if err == nil {
		err = bus.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bus.Process.Kill(); _ = bus.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	k := &Keyring{Address: strings.TrimSpace(address), secrets: map[dbus.ObjectPath]secret{}}
	if k.conn, err = dbus.Connect(k.Address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.conn.Close() })
	for _, export := range []struct {
		methods map[string]any
		of      string
	}{
		{map[string]any{"OpenSession": k.openSession, "Unlock": k.unlock}, secretsService},
		{map[string]any{"SearchItems": k.search, "CreateItem": k.create}, "org.freedesktop.Secret.Collection"},
		{map[string]any{"GetSecret": k.get, "Delete": k.remove}, "org.freedesktop.Secret.Item"},
		{map[string]any{"Prompt": func(string) *dbus.Error { return nil }}, "org.freedesktop.Secret.Prompt"},
		{map[string]any{"Close": func() *dbus.Error { return nil }}, "org.freedesktop.Secret.Session"},
		{map[string]any{"Get": func(_, _ string) (dbus.Variant, *dbus.Error) {
			return dbus.MakeVariant([]dbus.ObjectPath{secretsLogin}), nil
		}}, "org.freedesktop.DBus.Properties"},
	} {
		if err := k.conn.ExportSubtreeMethodTable(export.methods, secretsPath, export.of); err != nil {
			t.Fatal(err)
		}
	}
	k.Set(t, KeyringOpen)
	return k
}

// Copy starts another keyring, with the same secrets.
func (k *Keyring) Copy(t testing.TB) *Keyring {
	t.Helper()
	other := NewKeyring(t)
	k.mu.Lock()
	secrets := maps.Clone(k.secrets)
	k.mu.Unlock()
	other.mu.Lock()
	defer other.mu.Unlock()
	other.secrets = secrets
	return other
}

// Set changes how the keyring answers from now on.
func (k *Keyring) Set(t testing.TB, state KeyringState) {
	t.Helper()
	k.mu.Lock()
	k.state = state
	k.mu.Unlock()
	var err error
	if state == KeyringGone {
		_, err = k.conn.ReleaseName(secretsName)
	} else {
		_, err = k.conn.RequestName(secretsName, dbus.NameFlagDoNotQueue)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Names returns the names of the secrets, each followed by a space.
func (k *Keyring) Names() (names string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.secrets {
		names += s.attributes["username"] + " "
	}
	return names
}

// Replace gives every secret another value.
func (k *Keyring) Replace(value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for path, s := range k.secrets {
		s.Value = []byte(value)
		k.secrets[path] = s
	}
}

func (k *Keyring) refuses() *dbus.Error {
	if k.state == KeyringRefuses {
		return dbus.MakeFailedError(dbus.ErrClosed)
	}
	return nil
}

func (k *Keyring) openSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return dbus.MakeVariant(""), secretsPath + "/session/s", k.refuses()
}

func (k *Keyring) unlock(objects []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state == KeyringLocked {
		return nil, secretsPath + "/prompt/p", nil
	}
	return objects, "/", k.refuses()
}

func (k *Keyring) search(attributes map[string]string) (found []dbus.ObjectPath, _ *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for path, s := range k.secrets {
		if s.attributes["username"] == attributes["username"] {
			found = append(found, path)
		}
	}
	return found, k.refuses()
}

func (k *Keyring) create(properties map[string]dbus.Variant, s secretOnBus, _ bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	attributes, _ := properties["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)
	path := dbus.ObjectPath(secretsLogin + "/" + strconv.Itoa(len(k.secrets)))
	for existing, other := range k.secrets {
		if other.attributes["username"] == attributes["username"] {
			path = existing
		}
	}
	k.secrets[path] = secret{s, attributes}
	return path, "/", k.refuses()
}

func (k *Keyring) get(m dbus.Message, _ dbus.ObjectPath) (secretOnBus, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	return k.secrets[path].secretOnBus, k.refuses()
}

func (k *Keyring) remove(m dbus.Message) (dbus.ObjectPath, *dbus.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	path, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	delete(k.secrets, path)
	return "/", k.refuses()
}
