package hotkey

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCombinationsAreRead(t *testing.T) {
	for keys, want := range map[string]Combination{
		"Ctrl+Alt+Space": {Ctrl: true, Alt: true, Key: "Space"}, "Super+Shift+Q": {Super: true, Shift: true, Key: "Q"}, "F12": {Key: "F12"}, "Ctrl+0": {Ctrl: true, Key: "0"},
	} {
		if got, err := Parse(keys); err != nil || got != want {
			t.Errorf("%q: %+v (%v)", keys, got, err)
		}
	}
	for _, keys := range []string{"", "Ctrl", "Ctrl+", "Hyper+A", "Ctrl+a", "Ctrl+F0", "Ctrl+F13", "Ctrl+ä"} {
		if got, err := Parse(keys); err == nil {
			t.Errorf("%q was read as %+v", keys, got)
		}
	}
	for key, want := range map[string]uint32{"A": 0x61, "Z": 0x7a, "7": 0x37, "F1": 0xffbe, "F9": 0xffc6, "F10": 0xffc7, "F12": 0xffc9, "Space": 0x20} {
		if sym, _, ok := (Combination{Key: key}).symbol(); !ok || sym != want {
			t.Errorf("%s: %#x", key, sym)
		}
	}
}

// fakeDesktop binds one combination at a time, and always refuses "Ctrl+T".
type fakeDesktop struct {
	t    *testing.T
	mu   sync.Mutex
	keys string
	end  chan struct{}
}

func (f *fakeDesktop) bind(_ context.Context, c Combination, _ string, _ func(string)) (*binding, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys != "" {
		f.t.Errorf("%s was requested while %s is held", c.Key, f.keys)
	}
	if c.Key == "T" {
		return nil, errors.New("taken")
	}
	f.keys, f.end = c.Key, make(chan struct{})
	return &binding{means: MeansX11, given: c.Key, ended: f.end, close: func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.keys = ""
	}}, nil
}

func (f *fakeDesktop) registered() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.keys
}

// endBinding ends the binding from the desktop's side.
func (f *fakeDesktop) endBinding() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.end)
}

// A Keeper follows the latest combination: each is released before the next is requested.
func TestAKeeperKeepsTheLatestCombination(t *testing.T) {
	desktop := &fakeDesktop{t: t}
	states := make(chan State, 64)
	var k *Keeper
	k = New(func() string { return "" }, func(string) {}, func() { states <- k.State() })
	k.bind = desktop.bind
	until := func(phase Phase, wanted string) State {
		t.Helper()
		for timeout := time.After(10 * time.Second); ; {
			select {
			case s := <-states:
				if s.Phase == phase && s.Requested == wanted {
					return s
				}
			case <-timeout:
				t.Fatalf("never %s for %q: %+v", phase, wanted, k.State())
			}
		}
	}
	k.Want("Ctrl+A")
	if s := until(PhaseBound, "Ctrl+A"); s.Bound != "A" || s.Means != MeansX11 {
		t.Errorf("%+v", s)
	}
	for range 20 { // faster than the bindings are created
		k.Want("Ctrl+B")
		k.Want("Ctrl+C")
	}
	until(PhaseBound, "Ctrl+C")
	k.Want("Ctrl+T")
	if s := until(PhaseFailed, "Ctrl+T"); s.Err == nil {
		t.Error("a refusal without a reason")
	}
	k.Want("Ctrl+D")
	until(PhaseBound, "Ctrl+D")
	desktop.endBinding()
	if s := until(PhaseFailed, "Ctrl+D"); s.Err == nil {
		t.Error("its end is not reported")
	}
	k.Want("Ctrl+D") // requested again after it failed
	until(PhaseBound, "Ctrl+D")
	k.Want("")
	until(PhaseOff, "")
	k.Want("Ctrl+E")
	until(PhaseBound, "Ctrl+E")
	k.Close()
	if held := desktop.registered(); held != "" || k.State().Phase != PhaseOff {
		t.Errorf("%s is still registered (%+v)", held, k.State())
	}
	k.Close()
}
