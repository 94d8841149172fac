//go:build unix

package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"contextinfinity/backend/tools"
)

// calling answers tool calls with answer, and passes everything else to a well-behaved server.
func calling(answer func(w http.ResponseWriter, r *http.Request, id json.RawMessage)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			var m message
			if json.Unmarshal(body, &m) == nil && m.Method == "tools/call" || r.Header.Get("Last-Event-ID") != "" {
				answer(w, r, m.ID)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		})
	}
}

// A server that forgets its sessions during a call may have executed it, so the call must not be repeated. If it
// rejects the call itself, it has not.
func TestOnlyARefusedCallCountsAsNotStarted(t *testing.T) {
	for name, c := range map[string]struct {
		stateless bool
		status    int // HTTP status of the call's own request; 0: the response begins but cannot be resumed
		resume    int
		started   bool
	}{
		"the session ended before the call":   {false, http.StatusNotFound, 0, false},
		"sign-in is required before the call": {true, http.StatusUnauthorized, 0, false},
		"the session ended during the call":   {false, 0, http.StatusNotFound, true},
		"sign-in is required during the call": {false, 0, http.StatusUnauthorized, true},
		"it works and there is no session":    {true, 0, http.StatusNotFound, true},
		"the server fails":                    {false, http.StatusInternalServerError, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var ran atomic.Int32
			b := newFixture(t, nil, serverAt(honest(t, c.stateless, calling(func(w http.ResponseWriter, r *http.Request, _ json.RawMessage) {
				switch {
				case r.Method == http.MethodGet:
					w.WriteHeader(c.resume)
				case c.status != 0:
					w.WriteHeader(c.status)
				default:
					ran.Add(1)
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "id: 1\nretry: 1\ndata: \n\n")
				}
			})).URL))
			b.Ensure(t.Context())
			_, err := b.call(t.Context(), "ask")
			if err == nil || errors.Is(err, tools.ErrNotStarted) == c.started {
				t.Errorf("the call ran %d times and ended with %v", ran.Load(), err)
			}
		})
	}
}

// A rejected call does not end another one that is running.
func TestARefusedCallDoesNotEndOthers(t *testing.T) {
	began, proceed := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	b := newFixture(t, nil, serverAt(honest(t, false, calling(func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
		if calls.Add(1) > 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		close(began)
		<-proceed
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"paid"}]}}`, id)
	})).URL))
	b.Ensure(t.Context())
	done := make(chan string, 1)
	go func() {
		out, err := b.call(t.Context(), "ask")
		done <- textOf(out.Content) + errText(err)
	}()
	<-began
	for range 2 {
		if _, err := b.call(t.Context(), "ask"); !errors.Is(err, tools.ErrNotStarted) {
			t.Errorf("a call that was refused: %v", err)
		}
	}
	close(proceed)
	if got := <-done; got != "paid" {
		t.Errorf("the call that worked ended with %q", got)
	}
	b.until("a sign-in is required", func() bool { return b.status().State == StateSignIn })
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls were sent", n)
	}
}
