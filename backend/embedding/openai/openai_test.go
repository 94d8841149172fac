package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

const key = "sk-test-0123456789abcdef"

// server responds to every request with a status and a body, and records the requests.
type server struct {
	*httptest.Server
	paths, bodies, auth []string
}

func serve(t *testing.T, answer func(body string) (status int, header http.Header, out string)) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.paths, s.bodies, s.auth = append(s.paths, r.URL.Path), append(s.bodies, string(body)), append(s.auth, r.Header.Get("Authorization"))
		status, header, out := answer(string(body))
		for k, v := range header {
			w.Header()[k] = v
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, out)
	}))
	t.Cleanup(s.Close)
	return s
}

func ok(out string) func(string) (int, http.Header, string) {
	return func(string) (int, http.Header, string) { return 200, nil, out }
}

func newEmbedder(t *testing.T, s *server, o Options) *Embedder {
	t.Helper()
	o.BaseURL = s.URL
	e, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRequest(t *testing.T) {
	two := `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`
	cases := []struct {
		name string
		o    Options
		kind embedding.Kind
		want string
	}{
		{"plain", Options{Model: "text-embedding-3-small", Key: key}, embedding.Passage,
			`{"model":"text-embedding-3-small","input":["größer","b\n"]}`},
		{"dimension requested", Options{Model: "text-embedding-3-small", Dimension: 2, Ask: true}, embedding.Query,
			`{"model":"text-embedding-3-small","input":["größer","b\n"],"dimensions":2}`},
		{"dimension known", Options{Model: "else", Dimension: 2}, embedding.Query, `{"model":"else","input":["größer","b\n"]}`},
		{"query prefix", Options{Model: "nomic-embed-text"}, embedding.Query,
			`{"model":"nomic-embed-text","input":["search_query: größer","search_query: b\n"]}`},
		{"passage prefix", Options{Model: "nomic-embed-text"}, embedding.Passage,
			`{"model":"nomic-embed-text","input":["search_document: größer","search_document: b\n"]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("OPENAI_API_KEY", "sk-of-the-environment-000")
			s := serve(t, ok(two))
			got, err := newEmbedder(t, s, c.o).Embed(t.Context(), c.kind, []string{"größer", "b\n"})
			if err != nil || !slices.Equal(got[0], []float32{1, 0}) || !slices.Equal(got[1], []float32{0, 1}) {
				t.Fatalf("%v, %v; vectors are assigned by index", got, err)
			}
			if s.bodies[0] != c.want || s.paths[0] != "/v1/embeddings" {
				t.Errorf("sent %s to %s, want %s", s.bodies[0], s.paths[0], c.want)
			}
			want := ""
			if c.o.Key != "" {
				want = "Bearer " + key
			}
			if s.auth[0] != want {
				t.Errorf("authorization %q, want %q", s.auth[0], want)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	cases := []struct {
		o      Options
		want   string
		probed bool
	}{
		{Options{Model: "text-embedding-3-small"}, "openai/text-embedding-3-small/1536/v1", false},
		{Options{Model: "text-embedding-3-large", Dimension: 256, Ask: true}, "openai/text-embedding-3-large/256/v1", false},
		{Options{Model: "nomic-embed-text"}, "openai/nomic-embed-text/768/v2", false},
		{Options{Model: "nobody-knows"}, "openai/nobody-knows/3/v1", true},
		{Options{Model: "nobody-knows", Dimension: 5}, "openai/nobody-knows/5/v1", false},
	}
	for _, c := range cases {
		s := serve(t, ok(`{"data":[{"index":0,"embedding":[1,2,3]}]}`))
		if got := newEmbedder(t, s, c.o).Identity().String(); got != c.want || (len(s.bodies) > 0) != c.probed {
			t.Errorf("%s after %d requests, want %s", got, len(s.bodies), c.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	raw := make([]byte, 8)
	binary.LittleEndian.PutUint32(raw, math.Float32bits(0.25))
	binary.LittleEndian.PutUint32(raw[4:], math.Float32bits(-1))
	packed := base64.StdEncoding.EncodeToString(raw)
	cases := []struct{ name, body, message string }{
		{"base64", `{"data":[{"index":0,"embedding":"` + packed + `"}]}`, ""},
		{"numbers", `{"data":[{"index":0,"embedding":[0.25,-1]}]}`, ""},
		{"base64 of half a number", `{"data":[{"index":0,"embedding":"` + base64.StdEncoding.EncodeToString(raw[:6]) + `"}]}`, "could not be read"},
		{"no base64", `{"data":[{"index":0,"embedding":"!!"}]}`, "could not be read"},
		{"null", `{"data":[{"index":0,"embedding":null}]}`, "could not be read"},
		{"words", `{"data":[{"index":0,"embedding":["a"]}]}`, "could not be read"},
		{"no vector", `{"data":[]}`, "one vector for each text"},
		{"two for one", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, "one vector for each text"},
		{"wrong index", `{"data":[{"index":7,"embedding":[1]}]}`, "assign its vectors to the texts"},
		{"no JSON", `<html>`, "could not be read"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, ok(c.body))
			got, err := newEmbedder(t, s, Options{Model: "m", Dimension: 2}).Embed(t.Context(), embedding.Passage, []string{"a"})
			if c.message == "" {
				if err != nil || !slices.Equal(got[0], []float32{0.25, -1}) {
					t.Errorf("%v, %v", got, err)
				}
				return
			}
			if chat.CodeOf(err) != chat.CodeProvider || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%v, want an error that says %q", err, c.message)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	errorBody := func(s string) string { return fmt.Sprintf(`{"error":{"message":%q,"type":"x"}}`, s) }
	cases := []struct {
		name    string
		status  int
		header  http.Header
		body    string
		code    chat.Code
		retry   bool
		after   time.Duration
		message string
	}{
		{"refused key", 401, nil, errorBody("Incorrect API key provided: " + key), chat.CodeAuth, false, 0, "Settings"},
		{"too fast", 429, http.Header{"Retry-After": {"3"}}, errorBody("slow down"), chat.CodeRateLimited, true, 3 * time.Second, "slow down"},
		{"no money", 429, nil, `{"error":{"message":"quota","code":"insufficient_quota"}}`, chat.CodeRateLimited, false, 0, "quota"},
		{"broken", 500, nil, errorBody("broken"), chat.CodeUnavailable, true, 0, "broken"},
		{"a proxy's page", 502, nil, "<html>", chat.CodeUnavailable, true, 0, "502"},
		{"no such model", 404, nil, errorBody("model m does not exist"), chat.CodeProvider, false, 0, "does not exist"},
		{"too long", 400, nil, errorBody("This model's maximum context length is 8192 tokens"), chat.CodeTooLarge, false, 0, "8192"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(string) (int, http.Header, string) { return c.status, c.header, c.body })
			_, err := newEmbedder(t, s, Options{Model: "m", Dimension: 2, Key: key}).Embed(t.Context(), embedding.Passage, []string{"a"})
			var again *embedding.Retry
			if chat.CodeOf(err) != c.code || errors.As(err, &again) != c.retry || !strings.Contains(err.Error(), c.message) {
				t.Fatalf("%v (%s, retry %v); want %s, retry %v, words %q", err, chat.CodeOf(err), again != nil, c.code, c.retry, c.message)
			}
			if c.retry && again.After != c.after {
				t.Errorf("retry after %v, want %v", again.After, c.after)
			}
			if strings.Contains(err.Error(), key) {
				t.Errorf("the error contains the key: %v", err)
			}
			if len(s.bodies) != 1 {
				t.Errorf("%d requests: the adapter must not retry", len(s.bodies))
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	s := serve(t, ok(""))
	e := newEmbedder(t, s, Options{Model: "m", Dimension: 2, Key: key})
	s.Close()
	_, err := e.Embed(t.Context(), embedding.Passage, []string{"a"})
	var again *embedding.Retry
	if chat.CodeOf(err) != chat.CodeUnavailable || !errors.As(err, &again) {
		t.Errorf("error %v", err)
	}
	if _, err := New(t.Context(), Options{BaseURL: s.URL, Model: "unknown"}); chat.CodeOf(err) != chat.CodeUnavailable || errors.As(err, &again) {
		t.Errorf("a probe that fails: %v", err)
	}
	if _, err := New(t.Context(), Options{BaseURL: "ftp://x", Model: "m"}); chat.CodeOf(err) != chat.CodeConfig {
		t.Errorf("an invalid address: %v", err)
	}
}

// TestVendorNeedsAKey: without a key nothing is sent to the vendor.
func TestVendorNeedsAKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment-000")
	sent := 0
	client := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		sent++
		return nil, errors.New("no network in tests")
	})}
	e, err := New(t.Context(), Options{Client: client, Model: "text-embedding-3-small"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), embedding.Passage, []string{"a"}); chat.CodeOf(err) != chat.CodeAuth || sent != 0 {
		t.Errorf("%v after %d requests", err, sent)
	}
	var body struct {
		Encoding string `json:"encoding_format"`
	}
	client.Transport = transport(func(r *http.Request) (*http.Response, error) {
		sent++
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("authorization %q", r.Header.Get("Authorization"))
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		return nil, errors.New("no network in tests")
	})
	e, err = New(t.Context(), Options{Client: client, Model: "text-embedding-3-small", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), embedding.Passage, []string{"a"}); err == nil || body.Encoding != "base64" || sent != 1 {
		t.Errorf("%v, encoding %q, %d requests", err, body.Encoding, sent)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

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
