//go:build unix

package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/tools"
)

// meter is a traffic limiter with its own clock that records what it reports.
type meter struct {
	traffic
	clock            time.Time
	changes, dropped int
	flood            error
}

func newMeter() *meter {
	m := &meter{clock: time.Unix(1, 0)}
	m.now = func() time.Time { return m.clock }
	m.onToolsChanged, m.onFirstDrop = func() { m.changes++ }, func() { m.dropped++ }
	m.abort = func(err error) { m.flood = err }
	return m
}

func (m *meter) notify(method string, n int) (passed int) {
	for range n {
		if ok, _ := m.admit([]byte(`{"jsonrpc":"2.0","method":"` + method + `","params":{}}`)); ok {
			passed++
		}
	}
	return passed
}

// Notifications over the limit are dropped, except that changes of tools are not lost, and responses always pass.
func TestNotificationsAreBounded(t *testing.T) {
	m := newMeter()
	if n := m.notify("notifications/message", 5000); n != notificationBurst || m.dropped != 1 {
		t.Errorf("%d passed, reported %d times", n, m.dropped)
	}
	if n := m.notify("notifications/tools/list_changed", 3); n != 0 || m.changes != 3 {
		t.Errorf("%d passed, %d changes", n, m.changes)
	}
	if ok, err := m.admit([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)); !ok || err != nil {
		t.Errorf("an answer: %v, %v", ok, err)
	}
	m.clock = m.clock.Add(time.Second)
	if n := m.notify("notifications/progress", 5000); n != notificationsPerSecond {
		t.Errorf("one second later %d passed", n)
	}
	m.clock = m.clock.Add(time.Hour)
	if ok, _ := m.admit([]byte(`{"method":"notifications/message","params":"` + strings.Repeat("x", 2<<20) + `"}`)); ok {
		t.Error("a notification of 2 MiB passed")
	}
	for _, hidden := range []string{`{"Method":"x","method":"notifications/message"} more`, `{"method":"m","id":null,"ID":3}`, `{"m\u0065thod":"notifications/message"}`} {
		if k, _ := kindOf([]byte(hidden)); k != kindNotification {
			t.Errorf("%s counts as %v", hidden, k)
		}
	}
}

// A server may send only a limited amount of requests before it reads the responses.
func TestRequestsAreBounded(t *testing.T) {
	m := newMeter()
	ping := []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	for range 1000 {
		if ok, err := m.admit(ping); !ok || err != nil || !m.isAnswer(answer) {
			t.Fatalf("a request that is answered at once: %v, %v", ok, err)
		}
		m.countAnswer()
	}
	if m.isAnswer(answer) || m.flood != nil {
		t.Error("an answer without a question counts")
	}
	for range maxOpenRequests {
		if ok, _ := m.admit(ping); !ok {
			t.Fatal("too few pass")
		}
	}
	if ok, err := m.admit(ping); ok || !errors.Is(err, errFlood) || !errors.Is(m.flood, errFlood) {
		t.Errorf("one too many: %v, %v, %v", ok, err, m.flood)
	}
	if _, err := newMeter().admit([]byte(`{"id":1,"method":"ping","params":"` + strings.Repeat("x", maxRequestBytes) + `"}`)); !errors.Is(err, errFlood) {
		t.Errorf("a request that is too large: %v", err)
	}
}

// An event stream loses only the events that are not passed on.
func TestEventsAreFiltered(t *testing.T) {
	m := newMeter()
	m.notify("x", notificationBurst)
	read := func(maxEvent int, stream string) (string, error) {
		f := newEventFilter(io.NopCloser(strings.NewReader(stream)), &m.traffic, maxEvent)
		raw, err := io.ReadAll(f)
		return string(raw), err
	}
	result := "id: 2\r\ndata: {\"id\":1,\r\ndata: \"result\":{}}\r\n\r\n"
	got, err := read(1<<20, ": hello\n\nid: 1\ndata: {\"method\":\ndata: \"notifications/message\"}\n\n"+result+"event: other\ndata: {\"method\":\"m\"}\n\ndata: {\"method\":\"cut off\"}")
	if want := ": hello\n\nid: 1\n\n" + result + "event: other\ndata: {\"method\":\"m\"}\n\n"; got != want || err != nil {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	large := "data: " + strings.Repeat("x", 8<<10) + "\n\ndata: y\n\n"
	if got, err := read(4<<10, large); got != large || err != nil {
		t.Errorf("an event that is too large is for the SDK to refuse: %d bytes, %v", len(got), err)
	}
	if _, err := read(1<<20, strings.Repeat("data: {\"id\":1,\"method\":\"ping\"}\n\n", maxOpenRequests+1)); !errors.Is(err, errFlood) {
		t.Errorf("a flood of requests: %v", err)
	}
}

// If a server sends requests forever and reads no response, memory does not grow without limit.
func TestAFloodOfRequestsEndsTheConnection(t *testing.T) {
	b := newFixture(t, nil, faulty("pings"))
	b.Ensure(t.Context())
	b.until("the connection is closed", func() bool { return b.status().State == StateWaiting })
	if st := b.status(); !strings.Contains(st.Full().String(), "faster than they can be answered") {
		t.Errorf("state text %q", st.Full())
	}
	web := httptest.NewServer(calling(func(http.ResponseWriter, *http.Request, json.RawMessage) {})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var m message
		_ = json.Unmarshal(raw, &m)
		switch {
		case m.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`, m.ID)
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			for i := 0; r.Context().Err() == nil; i++ {
				_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n", i)
			}
		case m.Method == "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "" && len(m.ID) > 0:
			<-r.Context().Done() // it reads no response
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})))
	t.Cleanup(web.Close)
	b = newFixture(t, nil, serverAt(web.URL))
	b.Ensure(t.Context())
	b.until("the connection is closed", func() bool { return b.status().State == StateWaiting })
	if st := b.status(); !strings.Contains(st.Full().String(), "faster than they can be answered") {
		t.Errorf("state text %q", st.Full())
	}
}

// A program that does not read its input delays neither a cancelled call nor the connection.
func TestAProgramThatDoesNotRead(t *testing.T) {
	large := json.RawMessage(`{"a":"` + strings.Repeat("x", 4<<20) + `"}`)
	for _, cancelled := range []bool{true, false} {
		b := newFixture(t, nil, faulty("deaf"))
		if b.limits.Write = time.Hour; !cancelled {
			b.limits.Write = time.Second
		}
		b.Ensure(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { _, err := b.source().Call(ctx, tools.Call{Tool: "t"}); first <- err }()
		b.until("it no longer reads", func() bool { return strings.Contains(b.logText(), "it reads no more") })
		go func() { _, err := b.source().Call(ctx, tools.Call{Tool: "t", Arguments: large}); second <- err }()
		if cancelled {
			cancel()
		}
		if err := <-second; err == nil || errors.Is(err, tools.ErrNotStarted) && !cancelled {
			t.Errorf("a call whose arguments were half written: %v", err)
		}
		if err := <-first; err == nil || errors.Is(err, tools.ErrNotStarted) {
			t.Errorf("the running call: %v", err)
		}
		if !cancelled {
			b.until("the connection is closed", func() bool { return b.status().State == StateWaiting })
			if st := b.status(); !strings.Contains(st.Full().String(), "does not read") {
				t.Errorf("state text %q", st.Full())
			}
		}
		b.Stop()
	}
}
