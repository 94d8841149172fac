package ollama

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

// server responds like Ollama and records the requests.
type server struct {
	*httptest.Server
	paths, bodies, auth []string
}

func serve(t *testing.T, status int, out string) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.paths, s.bodies, s.auth = append(s.paths, r.Method+" "+r.URL.Path), append(s.bodies, string(body)), append(s.auth, r.Header.Get("Authorization"))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, out)
	}))
	t.Cleanup(s.Close)
	return s
}

const two = `{"model":"m","embeddings":[[1,0],[0,1]],"total_duration":14143917}`

func TestRequest(t *testing.T) {
	cases := []struct {
		name, tail string
		o          Options
		kind       embedding.Kind
		want, auth string
	}{
		{"plain", "", Options{Model: "bge-m3"}, embedding.Query, `{"model":"bge-m3","input":["a","b"],"truncate":true}`, ""},
		{"its other protocol's address", "/v1/", Options{Model: "bge-m3"}, embedding.Query, `{"model":"bge-m3","input":["a","b"],"truncate":true}`, ""},
		{"the endpoint's address", "/api/embed", Options{Model: "bge-m3"}, embedding.Query, `{"model":"bge-m3","input":["a","b"],"truncate":true}`, ""},
		{"prefix", "", Options{Model: "nomic-embed-text"}, embedding.Passage,
			`{"model":"nomic-embed-text","input":["search_document: a","search_document: b"],"truncate":true}`, ""},
		{"dimension and key", "/", Options{Model: "x", Dimension: 2, Ask: true, Key: "gateway-key"}, embedding.Passage,
			`{"model":"x","input":["a","b"],"truncate":true,"dimensions":2}`, "Bearer gateway-key"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, 200, two)
			c.o.BaseURL = s.URL + c.tail
			e, err := New(t.Context(), c.o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Embed(t.Context(), c.kind, []string{"a", "b"})
			if err != nil || !slices.Equal(got[0], []float32{1, 0}) || !slices.Equal(got[1], []float32{0, 1}) {
				t.Fatalf("%v, %v", got, err)
			}
			if s.paths[0] != "POST /api/embed" || s.bodies[0] != c.want || s.auth[0] != c.auth {
				t.Errorf("%s %s, authorization %q; want %s", s.paths[0], s.bodies[0], s.auth[0], c.want)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	for model, want := range map[string]string{
		"nomic-embed-text:latest": "ollama/nomic-embed-text:latest/768/v2", "mxbai-embed-large": "ollama/mxbai-embed-large/1024/v4",
		"bge-m3": "ollama/bge-m3/1024/v1", "all-minilm": "ollama/all-minilm/384/v1", "nobody-knows": "ollama/nobody-knows/3/v1",
	} {
		s := serve(t, 200, `{"embeddings":[[1,2,3]]}`)
		e, err := New(t.Context(), Options{BaseURL: s.URL, Model: model})
		if err != nil || e.Identity().String() != want || (len(s.bodies) == 1) != (model == "nobody-knows") {
			t.Errorf("%v, %v after %d requests, want %s", e.Identity(), err, len(s.bodies), want)
		}
	}
}

func TestFailures(t *testing.T) {
	cases := []struct {
		name    string
		status  int
		body    string
		code    chat.Code
		retry   bool
		message string
	}{
		{"not pulled", 404, `{"error":"model \"m\" not found, try pulling it first"}`, chat.CodeNotFound, false, "ollama pull m"},
		{"no such path", 404, `404 page not found`, chat.CodeProvider, false, "page not found"},
		{"no embedding model", 400, `{"error":"this model does not support embeddings"}`, chat.CodeProvider, false, "does not support"},
		{"too long", 400, `{"error":"the input length exceeds the context length"}`, chat.CodeTooLarge, false, "context length"},
		{"broken", 500, `{"error":"llama runner process has terminated"}`, chat.CodeUnavailable, true, "terminated"},
		{"busy", 503, `{"error":"server busy, please try again. maximum pending requests exceeded"}`, chat.CodeUnavailable, true, "busy"},
		{"no JSON", 200, `<html>`, chat.CodeProvider, false, "could not be read"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.status, c.body)
			e, err := New(t.Context(), Options{BaseURL: s.URL, Model: "m", Dimension: 2})
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Embed(t.Context(), embedding.Passage, []string{"a"})
			var again *embedding.Retry
			if chat.CodeOf(err) != c.code || errors.As(err, &again) != c.retry || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%v (%s, retry %v); want %s, retry %v, words %q", err, chat.CodeOf(err), again != nil, c.code, c.retry, c.message)
			}
		})
	}
}

// TestVectorsAreChecked: the adapter passes invalid vectors on, and Checked refuses them.
func TestVectorsAreChecked(t *testing.T) {
	for name, body := range map[string]string{
		"none": `{}`, "one for two": `{"embeddings":[[1,2]]}`, "empty": `{"embeddings":[[],[1,2]]}`,
		"zeros": `{"embeddings":[[0,0],[1,2]]}`, "longer": `{"embeddings":[[1,2,3],[1,2,3]]}`,
	} {
		s := serve(t, 200, body)
		e, err := New(t.Context(), Options{BaseURL: s.URL, Model: "m", Dimension: 2})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := embedding.Checked(e).Embed(t.Context(), embedding.Passage, []string{"a", "b"}); chat.CodeOf(err) != chat.CodeProvider {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	s := serve(t, 200, two)
	s.Close()
	if _, err := New(t.Context(), Options{BaseURL: s.URL, Model: "unknown"}); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("a server that does not run: %v", err)
	}
	if _, err := New(t.Context(), Options{BaseURL: "localhost:11434", Model: "m"}); chat.CodeOf(err) != chat.CodeConfig {
		t.Errorf("an address without a scheme: %v", err)
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
		e, err := New(t.Context(), Options{BaseURL: "http://192.0.2.1", Key: "sk-a-key", AllowPlainHTTP: allowed, Client: client, Model: "m", Dimension: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Embed(t.Context(), embedding.Passage, []string{"a"})
		if err == nil || sent != want || !allowed && !strings.Contains(err.Error(), "plain http") {
			t.Errorf("allowed %v: %d requests, %v", allowed, sent, err)
		}
	}
}
