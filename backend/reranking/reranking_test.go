package reranking

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func serve(t *testing.T, status int, body string, got func(*http.Request, request)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in request
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if got != nil {
			got(r, in)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestRerank: scores are returned in the order of the passages, whatever the order and additional fields of the
// server's response.
func TestRerank(t *testing.T) {
	const body = `{"id":"1","model":"m","usage":{"total_tokens":9},"results":[{"index":1,"relevance_score":0.9,"document":{"text":"b"}},{"index":0,"relevance_score":-2.5}]}`
	for _, tail := range []string{"/v1", "/v1/", "/v1/rerank", "/v1/rerank/"} {
		base := serve(t, 200, body, func(r *http.Request, in request) {
			if r.URL.Path != "/v1/rerank" || r.Header.Get("Authorization") != "Bearer k" || in.Model != "m" || in.Query != "q" || !slices.Equal(in.Documents, []string{"a", "b"}) {
				t.Errorf("%s %v %+v", r.URL.Path, r.Header, in)
			}
		})
		r, err := New(Options{BaseURL: base + tail, Key: "k", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Rerank(t.Context(), "q", []string{"a", "b"})
		if err != nil || !slices.Equal(got, []float64{-2.5, 0.9}) {
			t.Errorf("%s: %v, %v", tail, got, err)
		}
	}
	base := serve(t, 200, `{"results":[{"index":0,"relevance_score":1}]}`, func(r *http.Request, _ request) {
		if r.URL.Path != "/rerank" || r.Header.Get("Authorization") != "" {
			t.Errorf("without a key: %s %v", r.URL.Path, r.Header)
		}
	})
	r, err := New(Options{BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rerank(t.Context(), "q", []string{"a"}); err != nil {
		t.Error(err)
	}
}

// TestRerankRefuses: a response that does not score each passage exactly once is an error, and no error contains the
// key.
func TestRerankRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		code   chat.Code
	}{
		"no JSON":        {200, "<html>", chat.CodeProvider},
		"nothing":        {200, "{}", chat.CodeProvider},
		"one of two":     {200, `{"results":[{"index":0,"relevance_score":1}]}`, chat.CodeProvider},
		"one twice":      {200, `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":2}]}`, chat.CodeProvider},
		"of a third":     {200, `{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":2}]}`, chat.CodeProvider},
		"without scores": {200, `{"results":[{"index":0},{"index":1}]}`, chat.CodeProvider},
		"key refused":    {401, `{"error":{"message":"Bad key secret-key."}}`, chat.CodeAuth},
		"no endpoint":    {404, "not found", chat.CodeProvider},
	} {
		r, err := New(Options{BaseURL: serve(t, c.status, c.body, nil), Key: "secret-key"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Rerank(t.Context(), "q", []string{"a", "b"})
		if chat.CodeOf(err) != c.code || strings.Contains(err.Error()+chat.AsError(err).Hint, "secret-key") {
			t.Errorf("%s: %v (%s)", name, err, chat.CodeOf(err))
		}
		if message := chat.AsError(err).Message; strings.HasSuffix(message, "..") {
			t.Errorf("%s: the sentence ends twice: %s", name, message)
		}
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	r, err := New(Options{BaseURL: gone.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rerank(t.Context(), "q", []string{"a"}); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("without an answer: %v", err)
	}
	if _, err := New(Options{BaseURL: "ftp://x"}); chat.CodeOf(err) != chat.CodeConfig {
		t.Errorf("not the web: %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A key is sent to another machine over plain http only if that is allowed.
func TestAKeyOverPlainHTTP(t *testing.T) {
	for allowed, want := range map[bool]int{false: 0, true: 1} {
		sent := 0
		client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			sent++
			return nil, http.ErrHandlerTimeout
		})}
		r, err := New(Options{BaseURL: "http://192.0.2.1", Key: "sk-a-key", AllowPlainHTTP: allowed, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Rerank(t.Context(), "q", []string{"a"})
		if err == nil || sent != want || !allowed && !strings.Contains(err.Error(), "plain http") {
			t.Errorf("allowed %v: %d requests, %v", allowed, sent, err)
		}
	}
}
