package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// endlessBody is an endless response body without line breaks.
type endlessBody struct {
	read   int64
	closed bool
}

func (e *endlessBody) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return copy(p, bytes.Repeat([]byte{'x'}, len(p))), nil
}

func (e *endlessBody) Close() error { e.closed = true; return nil }

// fakeServer returns a server that gives every request the same response.
func fakeServer(status int, contentType string, body io.ReadCloser) Server {
	return Server{Base: "http://127.0.0.1:9", Client: Client(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {contentType}}, Body: body}, nil
	})})}
}

// An endless response is read only up to its limit and then closed.
func TestEndlessResponses(t *testing.T) {
	stream := func(s Server) error {
		return s.Stream(t.Context(), "/x", nil, func(chat.RawEvent) error { return nil })
	}
	const slack = 64 << 10 // for buffers
	for _, c := range []struct {
		name        string
		status      int
		contentType string
		prefix      string
		limit       int64
		call        func(Server) error
		code        chat.Code
		retry       bool
	}{
		{"event", 200, "text/event-stream", "data: ", maxEvent, stream, chat.CodeProvider, false},
		{"comment", 200, "text/event-stream", ": ", maxEvent, stream, chat.CodeProvider, false},
		{"document", 200, "application/json", "{", maxEvent, stream, chat.CodeProvider, false},
		{"error", 400, "text/plain", "", maxErrorBody, stream, chat.CodeProvider, false},
		{"error page", 503, "text/html", "<html>", maxErrorBody, stream, chat.CodeUnavailable, true},
		{"list of models", 200, "application/json", "{", maxListing, func(s Server) error { _, _, err := s.Models(t.Context(), "/models"); return err }, chat.CodeProvider, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tail := &endlessBody{}
			body := struct {
				io.Reader
				io.Closer
			}{io.MultiReader(strings.NewReader(c.prefix), tail), tail}
			var e *llm.Error
			if err := c.call(fakeServer(c.status, c.contentType, body)); !errors.As(err, &e) || e.Code != c.code || e.Retry != c.retry {
				t.Fatalf("%v", err)
			}
			if tail.read > c.limit+slack || len(e.Message) > maxWords+len("…") {
				t.Errorf("%d bytes were read, the limit is %d; the message has %d bytes", tail.read, c.limit, len(e.Message))
			}
			if !tail.closed {
				t.Error("the response was not closed")
			}
		})
	}
	tail := &endlessBody{}
	if data, err := fakeServer(200, "application/json", tail).Post(t.Context(), "/x", nil, 100); err != nil || len(data) != 100 || !tail.closed {
		t.Errorf("%d bytes, closed %v, %v", len(data), tail.closed, err)
	}
}

// If a request is cancelled while its error is being read, the result is the cancellation, whatever the status is.
func TestCancelledWhileReadingAnError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	body := struct {
		io.Reader
		io.Closer
	}{readFunc(func([]byte) (int, error) {
		cancel(chat.Errorf(chat.CodeTimeout, "turn.idle", "silent"))
		return 0, context.Canceled
	}), io.NopCloser(nil)}
	_, err := fakeServer(500, "text/plain", body).Post(ctx, "/x", nil, 100)
	if chat.CodeOf(err) != chat.CodeTimeout {
		t.Errorf("%v", err)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// An error response whose body is cut off is classified by its status and the part that arrived.
func TestTruncatedErrorResponse(t *testing.T) {
	body := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader("slow do"), readFunc(func([]byte) (int, error) { return 0, io.ErrUnexpectedEOF })), io.NopCloser(nil)}
	_, err := fakeServer(429, "text/plain", body).Post(t.Context(), "/x", nil, 100)
	var e *llm.Error
	if !errors.As(err, &e) || e.Code != chat.CodeRateLimited || !e.Retry || e.Message != "slow do" {
		t.Errorf("%v", err)
	}
}

// If a key contains characters that a header must not contain, no request is sent, and the error is not retryable.
func TestKeyThatCannotBeSent(t *testing.T) {
	for _, key := range []llm.Secret{"sk-one\nsk-two", "sk-one\x00", "sk-one\x7f"} {
		requests := 0
		s := Server{Base: "http://127.0.0.1:9", Endpoint: llm.Endpoint{Key: key}, Client: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			requests++
			return nil, io.EOF
		})}}
		_, err := s.Post(t.Context(), "/x", nil, 1)
		var e *llm.Error
		if !errors.As(err, &e) || e.Code != chat.CodeAuth || e.Retry || strings.Contains(e.Message, "sk-") || requests != 0 {
			t.Errorf("%q: %v after %d requests", key.Reveal(), err, requests)
		}
	}
}
