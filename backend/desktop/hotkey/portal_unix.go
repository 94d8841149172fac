//go:build !windows && !darwin

package hotkey

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"contextinfinity/backend/chat"
)

const (
	portalName       = "org.freedesktop.portal.Desktop"
	portalPath       = dbus.ObjectPath("/org/freedesktop/portal/desktop")
	portalInterface  = "org.freedesktop.portal.GlobalShortcuts"
	requestInterface = "org.freedesktop.portal.Request"
	sessionInterface = "org.freedesktop.portal.Session"
	registry         = "org.freedesktop.host.portal.Registry"

	// appID is the name of the program's desktop entry, under which portals store shortcuts.
	appID = "contextinfinity"
	// shortcutID is the id of the program's only shortcut.
	shortcutID = "quick-ask"
	// portalTime limits the wait for a portal without user interaction: the first call may start it.
	portalTime = 10 * time.Second
	// signalQueueSize is the size of the signal queue; further presses are lost.
	signalQueueSize = 32
)

var errNoPortal = errors.New("there is no portal for global shortcuts")

// Outcomes of a request to a portal.
const (
	responseDone      = 0
	responseCancelled = 1
)

// portal is one binding's connection to the desktop's portal.
type portal struct {
	conn    *dbus.Conn
	signals chan *dbus.Signal
}

// bindPortal registers a combination. It waits while the portal asks the user.
func bindPortal(ctx context.Context, c Combination, purpose string, pressed func(string)) (*binding, error) {
	p, err := openPortal(ctx)
	if err != nil {
		return nil, err
	}
	session, given, err := p.bind(ctx, c, purpose)
	if err != nil {
		_ = p.conn.Close()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.deliver(session, pressed)
	}()
	return &binding{means: MeansPortal, given: given, ended: ended, close: func() {
		timeoutCtx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.conn.Object(portalName, session).CallWithContext(timeoutCtx, sessionInterface+".Close", 0).Err
		_ = p.conn.Close()
		<-ended
	}}, nil
}

// openPortal connects to the session bus and looks for the portal. It does not start a bus.
func openPortal(ctx context.Context) (*portal, error) {
	if !hasBus() {
		return nil, errNoPortal
	}
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		return nil, errNoPortal
	}
	p := &portal{conn: conn, signals: make(chan *dbus.Signal, signalQueueSize)}
	timeoutCtx, cancel := context.WithTimeout(ctx, portalTime)
	defer cancel()
	// Programs outside a sandbox register their id first; portals without this method detect it.
	_ = p.call(timeoutCtx, registry+".Register", appID, map[string]dbus.Variant{}).Err
	var version dbus.Variant
	if err := p.call(timeoutCtx, "org.freedesktop.DBus.Properties.Get", portalInterface, "version").Store(&version); err != nil {
		_ = conn.Close()
		return nil, errNoPortal
	}
	conn.Signal(p.signals)
	for _, iface := range []string{requestInterface, portalInterface, sessionInterface} {
		if err := conn.AddMatchSignalContext(timeoutCtx, dbus.WithMatchSender(portalName), dbus.WithMatchInterface(iface)); err != nil {
			_ = conn.Close()
			return nil, portalError(err)
		}
	}
	return p, nil
}

func hasBus() bool {
	if address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return !strings.HasPrefix(address, "autolaunch:")
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus")) //nolint:gosec // the session names its own directory
	return os.Getenv("XDG_RUNTIME_DIR") != "" && err == nil
}

func (p *portal) call(ctx context.Context, method string, args ...any) *dbus.Call {
	return p.conn.Object(portalName, portalPath).CallWithContext(ctx, method, 0, args...)
}

// bind creates a shortcuts session with one shortcut, and returns the combination as the desktop describes it.
func (p *portal) bind(ctx context.Context, c Combination, purpose string) (session dbus.ObjectPath, given string, err error) {
	timeoutCtx, cancel := context.WithTimeout(ctx, portalTime)
	defer cancel()
	results, err := p.request(timeoutCtx, "session", func(options map[string]dbus.Variant) *dbus.Call {
		options["session_handle_token"] = dbus.MakeVariant("contextinfinity")
		return p.call(timeoutCtx, portalInterface+".CreateSession", options)
	})
	if err != nil {
		return "", "", err
	}
	var handle string // the specification says o, but portals send s
	switch v := results["session_handle"].Value().(type) {
	case string:
		handle = v
	case dbus.ObjectPath:
		handle = string(v)
	}
	session = dbus.ObjectPath(handle)
	if !session.IsValid() {
		return "", "", portalError(errors.New("it created no session"))
	}
	type shortcut struct {
		ID   string
		Data map[string]dbus.Variant
	}
	wanted := []shortcut{{shortcutID, map[string]dbus.Variant{
		"description": dbus.MakeVariant(purpose), "preferred_trigger": dbus.MakeVariant(c.trigger()),
	}}}
	results, err = p.request(ctx, "bind", func(options map[string]dbus.Variant) *dbus.Call {
		return p.call(ctx, portalInterface+".BindShortcuts", session, wanted, "", options)
	})
	if err != nil {
		return "", "", err
	}
	var bound []shortcut
	if list, ok := results["shortcuts"]; ok {
		_ = list.Store(&bound)
	}
	for _, s := range bound {
		if s.ID == shortcutID {
			given, _ := s.Data["trigger_description"].Value().(string)
			return session, given, nil
		}
	}
	return "", "", chat.Errorf(chat.CodeConflict, "hotkey.portal", "The desktop did not give the program this combination. It may belong to another program.").
		WithHint("choose another combination, or give it one in the desktop's settings for shortcuts of programs")
}

// request makes a call with a response signal, and waits for it.
func (p *portal) request(ctx context.Context, token string, call func(options map[string]dbus.Variant) *dbus.Call) (map[string]dbus.Variant, error) {
	sender := strings.ReplaceAll(strings.TrimPrefix(p.conn.Names()[0], ":"), ".", "_")
	path := dbus.ObjectPath("/org/freedesktop/portal/desktop/request/" + sender + "/" + token)
	var assigned dbus.ObjectPath // portals before 0.9 chose the path themselves
	if err := call(map[string]dbus.Variant{"handle_token": dbus.MakeVariant(token)}).Store(&assigned); err != nil {
		return nil, portalError(err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil, portalError(ctx.Err())
		case s, open := <-p.signals:
			if !open {
				return nil, portalError(errors.New("the session bus ended"))
			}
			if s.Name != requestInterface+".Response" || s.Path != path && s.Path != assigned {
				continue
			}
			var outcome uint32
			results := map[string]dbus.Variant{}
			if err := dbus.Store(s.Body, &outcome, &results); err != nil {
				return nil, portalError(err)
			}
			switch outcome {
			case responseDone:
				return results, nil
			case responseCancelled:
				return nil, chat.Errorf(chat.CodeCancelled, "hotkey.portal", "The desktop asked you, and the combination was not allowed.").WithHint("switch the key combination off and on to be asked again")
			}
			return nil, portalError(errors.New("it ended the request"))
		}
	}
}

// deliver receives presses until the session or the connection ends.
func (p *portal) deliver(session dbus.ObjectPath, pressed func(string)) {
	for s := range p.signals {
		switch {
		case s.Name == sessionInterface+".Closed" && s.Path == session:
			return
		case s.Name == portalInterface+".Activated" && len(s.Body) >= 4 && s.Body[0] == session && s.Body[1] == shortcutID:
			options, _ := s.Body[3].(map[string]dbus.Variant)
			token, _ := options["activation_token"].Value().(string)
			pressed(token)
		}
	}
}

// portalError wraps an error of an existing portal.
func portalError(err error) error {
	return chat.WrapError(chat.CodeUnavailable, "hotkey.portal", err, "The desktop's portal for global shortcuts gave an unexpected answer: %s.", err).
		WithHint("bind the command contextinfinity --quick in the desktop's own keyboard settings")
}

// trigger returns the combination in the format of the shortcuts specification: CTRL+ALT+space.
func (c Combination) trigger() string {
	_, name, _ := c.symbol()
	var parts []string
	for _, m := range []struct {
		active bool
		name   string
	}{{c.Ctrl, "CTRL"}, {c.Alt, "ALT"}, {c.Shift, "SHIFT"}, {c.Super, "LOGO"}} {
		if m.active {
			parts = append(parts, m.name)
		}
	}
	return strings.Join(append(parts, name), "+")
}
