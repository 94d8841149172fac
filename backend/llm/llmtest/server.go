package llmtest

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
)

// Step is the server's response to one request.
type Step struct {
	Status int // 0 is 200
	Header map[string]string
	Chunks []string // written and flushed one by one
	// Drop closes the connection after the chunks instead of ending the response. Without chunks it is closed before
	// any byte of a response.
	Drop bool
	// Start, if set, delays the response.
	Start <-chan struct{}
	// Hold keeps the response open after the chunks until the client disconnects.
	Hold bool
	// Got, if set, is closed when the request was received; Sent when the chunks were sent; Gone when a held client
	// has disconnected.
	Got, Sent, Gone chan struct{}
}

// Request is what the server received, byte for byte. Headers are for tests: no product code records them.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Server responds to requests with its steps, in order; the last one is used for all further requests.
type Server struct {
	URL string

	mu       sync.Mutex
	steps    []Step
	requests []Request
}

// NewServer starts a server that is stopped when the test ends.
func NewServer(t testing.TB, steps ...Step) *Server {
	t.Helper()
	s := &Server{steps: steps}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Requests returns the requests received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	step := s.next(Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	if step.Got != nil {
		close(step.Got)
	}
	if step.Start != nil {
		select {
		case <-step.Start:
		case <-r.Context().Done():
			return
		}
	}
	if step.Drop && len(step.Chunks) == 0 {
		panic(http.ErrAbortHandler)
	}
	write(w, step)
	if step.Sent != nil {
		close(step.Sent)
	}
	if step.Hold {
		<-r.Context().Done()
	}
	if step.Gone != nil {
		close(step.Gone)
	}
	if step.Drop {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) next(r Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return s.steps[min(len(s.requests), len(s.steps))-1]
}

func write(w http.ResponseWriter, step Step) {
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	status := step.Status
	status = cmp.Or(status, http.StatusOK)
	w.WriteHeader(status)
	flush := func() { _ = http.NewResponseController(w).Flush() }
	flush()
	for _, c := range step.Chunks {
		_, _ = io.WriteString(w, c)
		flush()
	}
}

// Stream returns a step that sends events and ends.
func Stream(events ...chat.RawEvent) Step {
	step := Step{}
	for _, ev := range events {
		step.Chunks = append(step.Chunks, SSE(ev))
	}
	return step
}

// JSON returns a step that responds with one document.
func JSON(status int, body string) Step {
	return Step{Status: status, Header: map[string]string{"Content-Type": "application/json"}, Chunks: []string{body}}
}

// SSE returns an event in wire format, in which one of type "message" has no name.
func SSE(ev chat.RawEvent) string {
	var sb strings.Builder
	if ev.Type != "message" {
		sb.WriteString("event: " + ev.Type + "\n")
	}
	for line := range strings.SplitSeq(string(ev.Data), "\n") {
		sb.WriteString("data: " + line + "\n")
	}
	return sb.String() + "\n"
}
