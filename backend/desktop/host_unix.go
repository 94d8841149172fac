//go:build !windows && !darwin

package desktop

import (
	"context"

	"github.com/godbus/dbus/v5"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = dbus.ObjectPath("/StatusNotifierWatcher")
	busName     = "org.freedesktop.DBus"
)

// watchHost calls changed with whether a tray host is registered: once now, and whenever that may have changed, until
// the connection ends. Without a session bus there is no host.
func watchHost(changed func(host bool)) {
	conn, err := sessionBus()
	if err != nil {
		return
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface(watcherName)},
		{dbus.WithMatchSender(busName), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcherName)},
	} {
		if err := conn.AddMatchSignal(match...); err != nil {
			return
		}
	}
	changed(hostRegistered(conn))
	go func() {
		for s := range signals {
			if aboutHost(s) {
				changed(hostRegistered(conn))
			}
		}
		changed(false)
	}()
}

// aboutHost filters signals, because the connection also receives those for other listeners.
func aboutHost(s *dbus.Signal) bool {
	switch s.Name {
	case watcherName + ".StatusNotifierHostRegistered", watcherName + ".StatusNotifierHostUnregistered":
		return true
	case busName + ".NameOwnerChanged":
		return len(s.Body) > 0 && s.Body[0] == watcherName
	}
	return false
}

func hostRegistered(conn *dbus.Conn) bool {
	ctx, cancel := context.WithTimeout(context.Background(), busTimeout)
	defer cancel()
	var registered bool
	err := conn.Object(watcherName, watcherPath).
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, watcherName, "IsStatusNotifierHostRegistered").
		Store(&registered)
	return err == nil && registered
}
