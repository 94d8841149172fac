// Package hotkey registers one global key combination: through the desktop's portal
// (org.freedesktop.portal.GlobalShortcuts) if there is one, otherwise through the X server.
//
// Guarantee: if the desktop refuses, that is an error that names an alternative, never silence. A combination used by
// another program is left to it. Closing a Keeper frees the combination.
package hotkey

import (
	"context"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
)

// Means is how a combination is delivered.
type Means string

const (
	MeansPortal Means = "portal"
	MeansX11    Means = "x11"
)

// Phase is the state of a Keeper.
type Phase string

const (
	PhaseOff    Phase = "off"    // no combination is requested
	PhaseAsking Phase = "asking" // waiting for the desktop; a portal may be asking the user
	PhaseBound  Phase = "bound"
	PhaseFailed Phase = "failed" // State.Err says why
)

// State is the state of the requested combination.
type State struct {
	Phase     Phase
	Requested string // the requested combination, such as "Ctrl+Alt+Space"; empty: none
	Bound     string // for PhaseBound: the combination as the desktop describes it, possibly a different one
	Means     Means  // for PhaseBound
	Err       error  // for PhaseFailed: CodeUnavailable, CodeConflict for a combination of another program, CodeCancelled
}

// Combination is a key with modifiers.
type Combination struct {
	Ctrl, Alt, Shift, Super bool
	Key                     string // A to Z, 0 to 9, F1 to F12, or one of namedKeys
}

// namedKeys are keys with a name instead of a character, with their X keysym and its name.
var namedKeys = map[string]struct {
	sym  uint32
	name string
}{
	"Space": {0x20, "space"}, "Tab": {0xff09, "Tab"}, "Insert": {0xff63, "Insert"}, "Home": {0xff50, "Home"}, "End": {0xff57, "End"},
	"PageUp": {0xff55, "Prior"}, "PageDown": {0xff56, "Next"}, "Pause": {0xff13, "Pause"},
}

// Parse reads "Ctrl+Alt+Space".
//
// Errors: CodeInvalid.
func Parse(keys string) (Combination, error) {
	var c Combination
	parts := strings.Split(keys, "+")
	c.Key = parts[len(parts)-1]
	_, _, known := c.symbol()
	for _, part := range parts[:len(parts)-1] {
		switch part {
		case "Ctrl":
			c.Ctrl = true
		case "Alt":
			c.Alt = true
		case "Shift":
			c.Shift = true
		case "Super":
			c.Super = true
		default:
			known = false
		}
	}
	if !known {
		return c, chat.Errorf(chat.CodeInvalid, "hotkey.parse", "%q is not a key combination, such as Ctrl+Alt+Space.", keys)
	}
	return c, nil
}

// symbol returns the X keysym of the key, without modifiers, and its name.
func (c Combination) symbol() (sym uint32, name string, ok bool) {
	if named, found := namedKeys[c.Key]; found {
		return named.sym, named.name, true
	}
	switch k := c.Key; {
	case len(k) == 1 && (k >= "A" && k <= "Z"):
		return uint32(k[0]-'A') + 'a', strings.ToLower(k), true
	case len(k) == 1 && (k >= "0" && k <= "9"):
		return uint32(k[0]), k, true
	case len(k) == 2 && k[0] == 'F' && k[1] >= '1' && k[1] <= '9':
		return 0xffbe + uint32(k[1]-'1'), k, true
	case k == "F10" || k == "F11" || k == "F12":
		return 0xffbe + 9 + uint32(k[2]-'0'), k, true
	}
	return 0, "", false
}

// binding is a combination that is registered until it is closed.
type binding struct {
	means Means
	given string
	ended <-chan struct{} // closed when the desktop stops delivering it, on its own or after close
	close func()
}

// bind registers a combination. purpose is its purpose, which a portal shows to the user. pressed is called at each
// press, from a goroutine of the binding, with the token that lets a new window take the focus ("" if there is none).
type bind func(ctx context.Context, c Combination, purpose string, pressed func(token string)) (*binding, error)

// Keeper keeps at most one combination registered: the last requested one.
type Keeper struct {
	bind    bind
	purpose func() string
	pressed func(token string)
	changed func()

	mu     sync.Mutex
	state  State
	closed bool
	cancel context.CancelFunc
	done   chan struct{} // closed when the binding of the last Want has ended
}

// New creates a Keeper without a combination. purpose is called at each binding; changed, if not nil, is called
// after each change of the state, from any goroutine.
func New(purpose func() string, pressed func(token string), changed func()) *Keeper {
	if changed == nil {
		changed = func() {}
	}
	return &Keeper{bind: systemBind, purpose: purpose, pressed: pressed, changed: changed, state: State{Phase: PhaseOff}}
}

// State returns the result of the last Want.
func (k *Keeper) State() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// Want replaces the combination; empty: none. It returns at once. A combination that is already requested, and was
// not refused, is left alone. After Close it does nothing.
func (k *Keeper) Want(keys string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || keys == k.state.Requested && k.state.Phase != PhaseFailed {
		return
	}
	previous := k.end()
	if keys == "" {
		k.state = State{Phase: PhaseOff}
		go k.changed()
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel, k.done, k.state = cancel, make(chan struct{}), State{Phase: PhaseAsking, Requested: keys}
	go k.keep(ctx, keys, previous, k.done)
}

// Close unregisters the combination, and waits for that.
func (k *Keeper) Close() {
	k.mu.Lock()
	done := k.end()
	k.closed, k.state = true, State{Phase: PhaseOff}
	k.mu.Unlock()
	if done != nil {
		<-done
	}
}

// end stops the binding, and returns a channel that is closed when it has ended; nil: there was none.
func (k *Keeper) end() <-chan struct{} {
	if k.cancel != nil {
		k.cancel()
		k.cancel = nil
	}
	return k.done
}

// keep holds a binding until ctx ends. It starts after the previous one has ended, because the same combination may
// be requested again.
func (k *Keeper) keep(ctx context.Context, keys string, previous <-chan struct{}, done chan struct{}) {
	defer close(done)
	if previous != nil {
		<-previous
	}
	k.setState(ctx, State{Phase: PhaseAsking, Requested: keys})
	c, err := Parse(keys)
	var b *binding
	if err == nil {
		b, err = k.bind(ctx, c, k.purpose(), k.pressed)
	}
	if err != nil {
		k.setState(ctx, State{Phase: PhaseFailed, Requested: keys, Err: err})
		return
	}
	defer b.close()
	k.setState(ctx, State{Phase: PhaseBound, Requested: keys, Bound: b.given, Means: b.means})
	select {
	case <-ctx.Done():
	case <-b.ended:
		k.setState(ctx, State{Phase: PhaseFailed, Requested: keys, Err: chat.Errorf(chat.CodeUnavailable, "hotkey.keep", "The desktop no longer delivers %s.", keys).WithHint("switch the key combination off and on again")})
	}
}

// setState sets the state, unless another combination was requested meanwhile.
func (k *Keeper) setState(ctx context.Context, s State) {
	k.mu.Lock()
	stale := ctx.Err() != nil
	if !stale {
		k.state = s
	}
	k.mu.Unlock()
	if !stale {
		k.changed()
	}
}

// errUnsupported returns the error of a desktop that cannot register a combination.
func errUnsupported(reason string) error {
	return chat.Errorf(chat.CodeUnavailable, "hotkey.bind", "%s", reason).WithHint("bind the command contextinfinity --quick in the desktop's own keyboard settings")
}
