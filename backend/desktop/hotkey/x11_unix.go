//go:build !windows && !darwin

package hotkey

import (
	"errors"
	"io"
	"log"
	"slices"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"contextinfinity/backend/chat"
)

func init() { xgb.Logger = log.New(io.Discard, "", 0) } // what it logs is also returned as errors

const (
	symSuperLeft = 0xffeb
	symNumLock   = 0xff7f
)

// grabber registers a combination with an X server.
type grabber struct {
	conn  *xgb.Conn
	root  xproto.Window
	c     Combination
	grabs []grab
}

type grab struct {
	code xproto.Keycode
	mods uint16
}

// bindX11 grabs the combination on the root window.
//
// Errors: CodeConflict if another program has grabbed it, CodeUnavailable if the server is not accessible or the keyboard
// has no key for it.
func bindX11(c Combination, pressed func(string)) (*binding, error) {
	conn, err := xgb.NewConn()
	if err != nil {
		return nil, x11Error(err)
	}
	g := &grabber{conn: conn, root: xproto.Setup(conn).DefaultScreen(conn).Root, c: c}
	if err := g.grab(); err != nil {
		conn.Close()
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.deliver(pressed)
	}()
	return &binding{means: MeansX11, given: c.String(), ended: ended, close: func() {
		conn.Close() // also releases the grabs
		<-ended
	}}, nil
}

// grab grabs the combination in all states of Caps Lock and Num Lock. It keeps the existing grabs if they are still the
// required ones.
func (g *grabber) grab() error {
	required, err := g.requiredGrabs()
	if err != nil {
		return err
	}
	if slices.Equal(required, g.grabs) {
		return nil
	}
	g.release()
	for _, key := range required {
		err := xproto.GrabKeyChecked(g.conn, true, g.root, key.mods, key.code, xproto.GrabModeAsync, xproto.GrabModeAsync).Check()
		var accessErr xproto.AccessError
		switch {
		case errors.As(err, &accessErr):
			g.release()
			return chat.Errorf(chat.CodeConflict, "hotkey.x11", "Another program already uses %s.", g.c).WithHint("choose another combination")
		case err != nil:
			g.release()
			return x11Error(err)
		}
		g.grabs = append(g.grabs, key)
	}
	return nil
}

// requiredGrabs returns the grabs that the combination needs on this keyboard.
func (g *grabber) requiredGrabs() ([]grab, error) {
	codes, err := g.codes()
	if err != nil {
		return nil, err
	}
	locks, mods, err := g.modifiers()
	if err != nil {
		return nil, err
	}
	var required []grab
	for _, code := range codes {
		for _, lock := range locks {
			required = append(required, grab{code, mods | lock})
		}
	}
	return required, nil
}

func (g *grabber) release() {
	for _, key := range g.grabs {
		xproto.UngrabKey(g.conn, key.code, g.root, key.mods)
	}
	g.grabs = nil
}

// keyboard returns the keysyms of all keys in the order of their keycodes, beginning with the lowest; width is the number
// of keysyms per key.
func (g *grabber) keyboard() (lowest xproto.Keycode, width int, syms []xproto.Keysym, err error) {
	setup := xproto.Setup(g.conn)
	lowest = setup.MinKeycode
	reply, err := xproto.GetKeyboardMapping(g.conn, lowest, byte(setup.MaxKeycode-lowest+1)).Reply()
	if err != nil {
		return 0, 0, nil, x11Error(err)
	}
	return lowest, max(int(reply.KeysymsPerKeycode), 1), reply.Keysyms, nil
}

// codes returns the keycodes of the keys that produce the combination's symbol without modifiers. If there are none, it
// returns the first that produces it with modifiers.
func (g *grabber) codes() ([]xproto.Keycode, error) {
	lowest, width, syms, err := g.keyboard()
	if err != nil {
		return nil, err
	}
	symbol, _, _ := g.c.symbol()
	var plainCodes, shiftedCodes []xproto.Keycode
	for i, sym := range syms {
		code := lowest + xproto.Keycode(i/width)
		switch {
		case uint32(sym) != symbol:
		case i%width == 0:
			plainCodes = append(plainCodes, code)
		default:
			shiftedCodes = append(shiftedCodes, code)
		}
	}
	if len(plainCodes) > 0 {
		return plainCodes, nil
	}
	if len(shiftedCodes) > 0 {
		return shiftedCodes[:1], nil
	}
	return nil, chat.Errorf(chat.CodeUnavailable, "hotkey.x11", "This keyboard has no key for %s.", g.c.Key).WithHint("choose another combination")
}

// modifiers returns the modifiers of each state of Caps Lock and Num Lock, and those of the combination.
func (g *grabber) modifiers() (locks []uint16, mods uint16, err error) {
	super, num, err := g.masks()
	if err != nil {
		return nil, 0, err
	}
	for _, m := range []struct {
		active bool
		mask   uint16
	}{{g.c.Ctrl, xproto.ModMaskControl}, {g.c.Alt, xproto.ModMask1}, {g.c.Shift, xproto.ModMaskShift}, {g.c.Super, super}} {
		if m.active {
			mods |= m.mask
		}
	}
	locks = []uint16{0, xproto.ModMaskLock}
	if num != 0 {
		locks = append(locks, num, num|xproto.ModMaskLock)
	}
	return locks, mods, nil
}

// masks returns the modifier masks of the Super and Num Lock keys on this keyboard; num is 0 if Num Lock has none.
func (g *grabber) masks() (super, num uint16, err error) {
	lowest, width, syms, err := g.keyboard()
	if err != nil {
		return 0, 0, err
	}
	reply, err := xproto.GetModifierMapping(g.conn).Reply()
	if err != nil {
		return 0, 0, x11Error(err)
	}
	super = xproto.ModMask4
	for i, code := range reply.Keycodes {
		start := (int(code) - int(lowest)) * width
		if code == 0 || start < 0 || start+width > len(syms) {
			continue
		}
		mask := uint16(1) << (i / int(reply.KeycodesPerModifier))
		for _, sym := range syms[start : start+width] {
			switch sym {
			case symNumLock:
				num = mask
			case symSuperLeft:
				super = mask
			}
		}
	}
	return super, num, nil
}

// deliver calls pressed for each press until the connection ends. A key that is held down is one press: the server
// reports each repetition as a release and a press at the same time.
func (g *grabber) deliver(pressed func(string)) {
	var releaseTime xproto.Timestamp
	for {
		event, err := g.conn.WaitForEvent()
		if event == nil && err == nil {
			return
		}
		switch e := event.(type) {
		case xproto.KeyReleaseEvent:
			releaseTime = e.Time
		case xproto.KeyPressEvent:
			if e.Time != releaseTime {
				pressed("")
			}
		case xproto.MappingNotifyEvent: // another keyboard or layout may have other keycodes
			if e.Request != xproto.MappingPointer && g.grab() != nil {
				g.conn.Close()
			}
		}
	}
}

func (c Combination) String() string {
	keys := ""
	for _, m := range []struct {
		active bool
		name   string
	}{{c.Ctrl, "Ctrl+"}, {c.Alt, "Alt+"}, {c.Shift, "Shift+"}, {c.Super, "Super+"}} {
		if m.active {
			keys += m.name
		}
	}
	return keys + c.Key
}

func x11Error(err error) error {
	return chat.WrapError(chat.CodeUnavailable, "hotkey.x11", err, "The X server did not register the combination: %s.", err).
		WithHint("bind the command contextinfinity --quick in the desktop's own keyboard settings")
}
