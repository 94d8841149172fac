package relay

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns two connected links until the test ends.
func pair(t *testing.T, one, other Handler) (a, b *Link) {
	t.Helper()
	aIn, bOut := io.Pipe()
	bIn, aOut := io.Pipe()
	a, b = New(aIn, aOut, one), New(bIn, bOut, other)
	done := make(chan struct{}, 2)
	for _, l := range []*Link{a, b} {
		go func() {
			_ = l.Run()
			for _, end := range []io.Closer{aIn, bOut, bIn, aOut} { // a stream closes with either of its ends
				_ = end.Close()
			}
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() {
		a.End()
		<-done
		<-done
	})
	return a, b
}

func words(err error) any { return "words of " + err.Error() }

var none = Handler{Call: func(string, json.RawMessage) (any, error) { return nil, nil }, Words: words, Event: func(string, json.RawMessage) {}}

func TestCallsRunInParallel(t *testing.T) {
	var second atomic.Pointer[Link]
	first, other := pair(t, Handler{
		Call:  func(method string, args json.RawMessage) (any, error) { return method + string(args), nil },
		Words: words, Event: none.Event,
	}, Handler{
		Call: func(method string, args json.RawMessage) (any, error) {
			if method == "fail" {
				return nil, errors.New("it")
			}
			var back string // the called end calls back before it returns
			err := second.Load().Call(context.Background(), "asked by "+method, json.RawMessage("[1]"), &back)
			return back, err
		},
		Words: words, Event: none.Event,
	})
	second.Store(other)
	results := make(chan string, 8)
	for range 8 {
		go func() {
			var got string
			if err := first.Call(t.Context(), "pick", nil, &got); err != nil {
				got = err.Error()
			}
			results <- got
		}()
	}
	for range 8 {
		if got := <-results; got != "asked by pick[1]" {
			t.Errorf("%q", got)
		}
	}
	var refused *Refused
	if err := first.Call(t.Context(), "fail", nil, nil); !errors.As(err, &refused) || string(refused.Words) != `"words of it"` {
		t.Errorf("%v", err)
	}
}

func TestALargeResultArrivesAndOneOverTheLimitIsAnError(t *testing.T) {
	a, _ := pair(t, none, Handler{Call: func(method string, _ json.RawMessage) (any, error) {
		if method == "huge" {
			return strings.Repeat("x", maxFrame), nil
		}
		return strings.Repeat("x", 5<<20), nil
	}, Words: words, Event: none.Event})
	var got string
	if err := a.Call(t.Context(), "large", nil, &got); err != nil || len(got) != 5<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := a.Call(t.Context(), "huge", nil, &got); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
	if err := a.Call(t.Context(), "x", strings.Repeat("x", maxFrame), nil); err == nil {
		t.Error("arguments over the limit were sent")
	}
	if err := a.Call(t.Context(), "large", nil, nil); err != nil {
		t.Errorf("the link did not outlive what was too large: %v", err)
	}
}

func TestEventsComeInOrder(t *testing.T) {
	got := make(chan string, 100)
	a, _ := pair(t, none, Handler{Call: none.Call, Words: words, Event: func(name string, data json.RawMessage) { got <- name + string(data) }})
	for i := range 100 {
		a.Notify("n", i)
	}
	for i := range 100 {
		if want, _ := json.Marshal(i); <-got != "n"+string(want) {
			t.Fatalf("event %d is another", i)
		}
	}
}

// An end that reads nothing is given up, and calls that wait for it get an error.
func TestASlowEndIsGivenUp(t *testing.T) {
	in, hold := io.Pipe()
	_, out := io.Pipe() // nothing reads from it
	l := New(in, out, none)
	ended := make(chan error, 1)
	go func() { ended <- l.Run() }()
	waits := make(chan error, 1)
	go func() { waits <- l.Call(context.Background(), "x", nil, nil) }()
	for range maxEvents + 2 {
		l.Notify("n", nil)
	}
	<-l.Ended()
	if err := <-waits; !errors.Is(err, ErrEnded) {
		t.Errorf("the call ended with %v", err)
	}
	_, _ = hold.Close(), out.CloseWithError(io.ErrClosedPipe)
	<-ended
}

func TestACallWaitsNoLongerThanItsContext(t *testing.T) {
	hold := make(chan struct{})
	a, _ := pair(t, none, Handler{Call: func(string, json.RawMessage) (any, error) { <-hold; return nil, nil }, Words: words, Event: none.Event})
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := a.Call(ctx, "x", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(hold)
}

func TestInvalidFramesEndTheLink(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, maxFrame+1)
	for name, bad := range map[string][]byte{
		"too long": long, "no JSON": append([]byte{0, 0, 0, 2}, "[["...), "no kind": append([]byte{0, 0, 0, 2}, "{}"...), "cut off": {0, 0, 0, 9, '{'}, "nothing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			if err := New(bytes.NewReader(bad), io.Discard, none).Run(); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}
