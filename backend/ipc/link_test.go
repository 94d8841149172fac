package ipc

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// pair returns two links of a window that are connected until the test ends.
func pair(t *testing.T, handlerA, handlerB Handler) (a, b *Link) {
	t.Helper()
	connA, connB := net.Pipe()
	a, b = NewLink(connA, handlerA), NewLink(connB, handlerB)
	done := make(chan struct{}, 2)
	for _, l := range []*Link{a, b} {
		go func() {
			_ = l.Run()
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

func encodeError(err error) any { return "error: " + err.Error() }

var emptyHandler = Handler{
	Call:        func(string, json.RawMessage) (any, error) { return nil, nil },
	EncodeError: encodeError,
	Event:       func(string, json.RawMessage) {},
}

func TestCallsRunInParallel(t *testing.T) {
	var second atomic.Pointer[Link]
	first, other := pair(t, Handler{
		Call:        func(method string, args json.RawMessage) (any, error) { return method + string(args), nil },
		EncodeError: encodeError, Event: emptyHandler.Event,
	}, Handler{
		Call: func(method string, args json.RawMessage) (any, error) {
			if method == "fail" {
				return nil, errors.New("it")
			}
			var back string // the called end calls back before it returns
			err := second.Load().Call(context.Background(), "called by "+method, json.RawMessage("[1]"), &back)
			return back, err
		},
		EncodeError: encodeError, Event: emptyHandler.Event,
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
		if got := <-results; got != "called by pick[1]" {
			t.Errorf("%q", got)
		}
	}
	var refused *RemoteError
	if err := first.Call(t.Context(), "fail", nil, nil); !errors.As(err, &refused) || string(refused.Data) != `"error: it"` {
		t.Errorf("%v", err)
	}
}

func TestALargeResultArrivesAndOneOverTheLimitIsAnError(t *testing.T) {
	a, _ := pair(t, emptyHandler, Handler{Call: func(method string, _ json.RawMessage) (any, error) {
		if method == "huge" {
			return strings.Repeat("x", windowLimits.frame), nil
		}
		return strings.Repeat("x", 5<<20), nil
	}, EncodeError: encodeError, Event: emptyHandler.Event})
	var got string
	if err := a.Call(t.Context(), "large", nil, &got); err != nil || len(got) != 5<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := a.Call(t.Context(), "huge", nil, &got); err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("%v", err)
	}
	if err := a.Call(t.Context(), "x", strings.Repeat("x", windowLimits.frame), nil); err == nil {
		t.Error("arguments over the limit were sent")
	}
	if err := a.Call(t.Context(), "large", nil, nil); err != nil {
		t.Errorf("the link ended after data over the limit: %v", err)
	}
}

func TestEventsComeInOrder(t *testing.T) {
	got := make(chan string, 100)
	a, _ := pair(t, emptyHandler, Handler{Call: emptyHandler.Call, EncodeError: encodeError, Event: func(name string, data json.RawMessage) { got <- name + string(data) }})
	for i := range 100 {
		a.Notify("n", i)
	}
	for i := range 100 {
		if want, _ := json.Marshal(i); <-got != "n"+string(want) {
			t.Fatalf("event %d is out of order", i)
		}
	}
}

// If the other end reads nothing, the link ends, and waiting calls get an error.
func TestALinkToASlowReceiverEnds(t *testing.T) {
	conn, other := net.Pipe() // nothing reads from the other end
	defer func() { _ = other.Close() }()
	l := NewLink(conn, emptyHandler)
	ended := make(chan error, 1)
	go func() { ended <- l.Run() }()
	callErr := make(chan error, 1)
	go func() { callErr <- l.Call(context.Background(), "x", nil, nil) }()
	for range windowLimits.queue + 2 {
		l.Notify("n", nil)
	}
	<-l.Ended()
	if err := <-callErr; !errors.Is(err, ErrEnded) {
		t.Errorf("the call ended with %v", err)
	}
	<-ended
}

func TestACallWaitsNoLongerThanItsContext(t *testing.T) {
	block := make(chan struct{})
	a, _ := pair(t, emptyHandler, Handler{Call: func(string, json.RawMessage) (any, error) { <-block; return nil, nil }, EncodeError: encodeError, Event: emptyHandler.Event})
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := a.Call(ctx, "x", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(block)
}

func TestInvalidFramesEndTheLink(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, uint32(windowLimits.frame+1))
	for name, bad := range map[string][]byte{
		"too long": long, "no JSON": append([]byte{0, 0, 0, 2}, "[["...), "no kind": append([]byte{0, 0, 0, 2}, "{}"...), "cut off": {0, 0, 0, 9, '{'}, "nothing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			conn, other := net.Pipe()
			go func() {
				_, _ = other.Write(bad)
				_ = other.Close()
			}()
			if err := NewLink(conn, emptyHandler).Run(); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}
