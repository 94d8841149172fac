//go:build !windows && !darwin

package desktop

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

// bus is this package's own connection to the session bus. The connection that the libraries share is not used: each
// library receives the others' signals, and one of them closes the connection.
var bus struct {
	mu   sync.Mutex
	conn *dbus.Conn
}

var errNoBus = errors.New("there is no session bus")

// sessionBus connects on first use, and reconnects after the connection was lost. It does not start a bus, although
// the library would.
func sessionBus() (*dbus.Conn, error) {
	bus.mu.Lock()
	defer bus.mu.Unlock()
	if bus.conn != nil && bus.conn.Connected() {
		return bus.conn, nil
	}
	if !hasBus() {
		return nil, errNoBus
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return nil, err
	}
	bus.conn = conn
	return conn, nil
}

func hasBus() bool {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return !strings.HasPrefix(address, "autolaunch:")
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, "bus")) //nolint:gosec // the session names its own directory
	return err == nil
}

// leaveBus closes the connection, which stops its listeners. It does not wait for a connection attempt in progress,
// which ends with the process.
func leaveBus() {
	if !bus.mu.TryLock() {
		return
	}
	defer bus.mu.Unlock()
	if bus.conn != nil {
		_ = bus.conn.Close()
		bus.conn = nil
	}
}
