package harness

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/llm/llmtest"
)

// Relay is the provider's side of the wire: it records every request body, and separates the conversation's requests
// from the librarian's.
type Relay struct {
	URL string

	mu        sync.Mutex
	chat      [][]byte
	librarian [][]byte
}

// NewRelay answers the conversation with reply and the librarian with summarize; without summarize it rejects the
// librarian's requests.
func NewRelay(t testing.TB, w WireProtocol, reply func(n int) llmtest.Step, summarize func(r *http.Request, body string) llmtest.Step) *Relay {
	t.Helper()
	s := &Relay{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		play(rw, r, s.answer(r, body, reply, summarize))
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *Relay) answer(r *http.Request, body []byte, reply func(int) llmtest.Step, summarize func(*http.Request, string) llmtest.Step) llmtest.Step {
	s.mu.Lock()
	fromLibrarian := isLibrarians(body)
	if fromLibrarian {
		s.librarian = append(s.librarian, body)
	} else {
		s.chat = append(s.chat, body)
	}
	n := len(s.chat)
	s.mu.Unlock()
	switch {
	case !fromLibrarian:
		return reply(n)
	case summarize == nil:
		return llmtest.JSON(http.StatusInternalServerError, `{"error":{"message":"no librarian here","type":"server_error"}}`)
	}
	return summarize(r, string(body))
}

// play writes one step; a held one ends when the client disconnects.
func play(w http.ResponseWriter, r *http.Request, step llmtest.Step) {
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	for _, c := range step.Chunks {
		_, _ = io.WriteString(w, c)
	}
	_ = http.NewResponseController(w).Flush()
	if step.Hold {
		<-r.Context().Done()
	}
	if step.Drop {
		panic(http.ErrAbortHandler)
	}
}

// isLibrarians recognizes the librarian's requests by the beginnings of its instructions (backend/librarian/prompts).
func isLibrarians(body []byte) bool {
	for _, s := range []string{"You keep the memory of a long conversation", "You summarize one range of turns", "You shorten the memory"} {
		if strings.Contains(string(body), s) {
			return true
		}
	}
	return false
}

// Bodies returns the conversation's requests so far.
func (s *Relay) Bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte{}, s.chat...)
}

// LastBody returns the conversation's newest request.
func (s *Relay) LastBody(t testing.TB) []byte {
	t.Helper()
	all := s.Bodies()
	if len(all) == 0 {
		t.Fatal("nothing was sent")
	}
	return all[len(all)-1]
}

// Asked returns the bodies of the librarian's requests so far.
func (s *Relay) Asked() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte{}, s.librarian...)
}

// Windowed returns a model with a context window of this many tokens.
func (w WireProtocol) Windowed(name, url string, window int) string {
	return strings.Replace(strings.Replace(w.Model(name, url), "context_limit = 128000", "context_limit = "+strconv.Itoa(window), 1), "max_output = 4000", "max_output = 1000", 1)
}
