package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

func asError(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v (%T) is not a provider's error", err, err)
	}
	return e
}

func (s *suite) httpFailures(t *testing.T) {
	cases := []struct {
		name   string
		step   Step
		code   chat.Code
		retry  bool
		after  time.Duration
		status int
	}{
		{"429 with seconds", s.failure(429, "", "slow down", "Retry-After", "3"), chat.CodeRateLimited, true, 3 * time.Second, 429},
		{"429 with milliseconds", s.failure(429, "", "slow down", "Retry-After-Ms", "250"), chat.CodeRateLimited, true, 250 * time.Millisecond, 429},
		{"429 without quota", s.failure(429, "insufficient_quota", "no credit", "", ""), chat.CodeRateLimited, false, 0, 429},
		{"500", s.failure(500, "", "broken", "", ""), chat.CodeUnavailable, true, 0, 500},
		{"503 as a page", Step{Status: 503, Chunks: []string{"<html>down</html>"}}, chat.CodeUnavailable, true, 0, 503},
		{"529", s.failure(529, "overloaded_error", "busy", "", ""), chat.CodeUnavailable, true, 0, 529},
		{"408", s.failure(408, "", "late", "", ""), chat.CodeUnavailable, true, 0, 408},
		{"409", s.failure(409, "", "conflict", "", ""), chat.CodeUnavailable, true, 0, 409},
		{"400", s.failure(400, "", "no such parameter", "", ""), chat.CodeProvider, false, 0, 400},
		{"403", s.failure(403, "", "not yours", "", ""), chat.CodeAuth, false, 0, 403},
		{"404", s.failure(404, "model_not_found", "no such model", "", ""), chat.CodeProvider, false, 0, 404},
		{"413", s.failure(413, "", "big", "", ""), chat.CodeTooLarge, false, 0, 413},
		{"over the window", s.failure(400, s.Wire.TooLarge[0], s.Wire.TooLarge[1], "", ""), chat.CodeTooLarge, false, 0, 400},
		{"redirect", Step{Status: 307, Header: map[string]string{"Location": "http://elsewhere.invalid/x"}}, chat.CodeProvider, false, 0, 307},
		{"a web page", Step{Header: map[string]string{"Content-Type": "text/html"}, Chunks: []string{"<!doctype html>"}}, chat.CodeProvider, false, 0, 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.run(t.Context(), t, c.step)
			e := asError(t, err)
			if len(got) != 0 {
				t.Errorf("%d events of a failure", len(got))
			}
			if e.Code != c.code || e.Retryable() != c.retry || e.RetryAfter != c.after || e.Status != c.status {
				t.Errorf("got %+v", e)
			}
			if e.ContextTooLarge() != (c.code == chat.CodeTooLarge) || e.Error() == "" {
				t.Errorf("got %+v", e)
			}
		})
	}
	t.Run("429 with a date", func(t *testing.T) {
		when := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
		_, err := s.run(t.Context(), t, s.failure(429, "", "slow down", "Retry-After", when))
		if e := asError(t, err); e.RetryAfter < 59*time.Minute || e.RetryAfter > time.Hour {
			t.Errorf("retry after %s", e.RetryAfter)
		}
	})
}

func (s *suite) failure(status int, code, message, header, value string) Step {
	step := JSON(status, s.Wire.ErrorBody(code, message))
	if header != "" {
		step.Header[header] = value
	}
	return step
}

func (s *suite) connection(t *testing.T) {
	t.Run("dropped before the first byte", func(t *testing.T) {
		got, err := s.run(t.Context(), t, Step{Drop: true})
		e := asError(t, err)
		if len(got) != 0 || e.Code != chat.CodeUnavailable || !e.Retryable() {
			t.Errorf("%d events, %+v", len(got), e)
		}
	})
	t.Run("dropped after the first byte", func(t *testing.T) {
		step := Stream(s.Wire.Text[:len(s.Wire.Text)-s.Wire.TerminalEvents]...)
		step.Drop = true
		got, err := s.run(t.Context(), t, step)
		if e := asError(t, err); e.Code != chat.CodeUnavailable {
			t.Errorf("%+v", e)
		}
		if p := Play(t, s.provider, llm.ToolsDisabled, got); p.Result.Terminal || p.Result.Text() != "Hello, wörld 🌍" {
			t.Errorf("terminal %v, text %q", p.Result.Terminal, p.Result.Text())
		}
	})
	t.Run("dropped inside an event", func(t *testing.T) {
		step := Stream(s.Wire.Text[0])
		step.Chunks = append(step.Chunks, `data: {"type":"to`)
		step.Drop = true
		got, err := s.run(t.Context(), t, step)
		if asError(t, err); len(got) != 1 {
			t.Errorf("%d events, want the one that was complete", len(got))
		}
	})
	t.Run("refused", func(t *testing.T) {
		_, err := s.call(t.Context(), t, s.endpoint("http://127.0.0.1:1"), nil)
		if e := asError(t, err); e.Code != chat.CodeUnavailable || !e.Retryable() {
			t.Errorf("%+v", e)
		}
	})
	t.Run("not an address", func(t *testing.T) {
		_, err := s.call(t.Context(), t, s.endpoint("localhost:11434"), nil)
		if e := asError(t, err); e.Code != chat.CodeConfig || e.Retryable() {
			t.Errorf("%+v", e)
		}
	})
}

func (s *suite) cancel(t *testing.T) {
	t.Run("while streaming", func(t *testing.T) {
		step := Stream(s.Wire.Text[:2]...)
		step.Hold, step.Gone = true, make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		server := NewServer(t, step)
		got, err := s.call(ctx, t, s.endpoint(server.URL), func(chat.RawEvent) { cancel() })
		e := asError(t, err)
		if e.Code != chat.CodeCancelled || e.Retryable() || !errors.Is(err, context.Canceled) || len(got) == 0 {
			t.Errorf("%d events, %+v", len(got), e)
		}
		<-step.Gone // the connection is closed
	})
	t.Run("before an answer, with a cause", func(t *testing.T) {
		step := Step{Start: make(chan struct{}), Got: make(chan struct{})}
		server := NewServer(t, step)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := chat.Errorf(chat.CodeTimeout, "turn.idle", "silent for too long")
		go func() {
			<-step.Got
			cancel(cause)
		}()
		_, err := s.call(ctx, t, s.endpoint(server.URL), nil)
		if e := asError(t, err); e.Code != chat.CodeTimeout || !errors.Is(err, cause) {
			t.Errorf("%+v", e)
		}
	})
	t.Run("by the receiver", func(t *testing.T) {
		server := NewServer(t, Stream(s.Wire.Text...))
		ep := s.endpoint(server.URL)
		body, err := s.provider.Encode(llm.Request{Endpoint: ep, Context: Ask(t, "Hello?")})
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("the disk is full")
		seen := 0
		err = s.provider.Stream(t.Context(), ep, body, func(chat.RawEvent) error { seen++; return full })
		if !errors.Is(err, full) || err.Error() != full.Error() || seen != 1 {
			t.Errorf("%v after %d events", err, seen)
		}
	})
}

func (s *suite) request(t *testing.T) {
	picture := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{
		chat.Text{Text: "What is <this> & \u2028that?"},
		chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"data":"iVBORw0KGgo="}`)},
	}}
	r := llm.Request{Context: Prepare(t, Context{System: []string{"Be brief."}, Messages: []chat.Message{picture}})}
	t.Run("exact bytes on the wire, an image in them", func(t *testing.T) {
		server := NewServer(t, Stream(s.Wire.Text...))
		r.Endpoint = s.endpoint(server.URL)
		r.Endpoint.Options = map[string]any{"x_html": "<&>", "x_nested": map[string]any{"b": 1, "a": 2}}
		body, err := s.provider.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := s.provider.Encode(r)
		if !bytes.Equal(body, again) || !json.Valid(body) {
			t.Error("encoding is not pure")
		}
		if err := s.provider.Stream(t.Context(), r.Endpoint, body, func(chat.RawEvent) error { return nil }); err != nil {
			t.Fatal(err)
		}
		sent := server.Requests()
		if len(sent) != 1 || !bytes.Equal(sent[0].Body, body) {
			t.Fatalf("%d requests; the server received\n%s\nnot\n%s", len(sent), sent[0].Body, body)
		}
		if !bytes.Contains(body, []byte("iVBORw0KGgo=")) || !bytes.Contains(body, []byte(`"x_html":"<&>"`)) {
			t.Errorf("the body lacks the image or the options: %s", body)
		}
	})
	t.Run("path and headers", func(t *testing.T) {
		server := NewServer(t, Stream(s.Wire.Text...))
		ep := s.endpoint(server.URL + "/v1/")
		if _, err := s.call(t.Context(), t, ep, nil); err != nil {
			t.Fatal(err)
		}
		sent := server.Requests()[0]
		want := http.Header{
			"Accept": {"text/event-stream, application/json"}, "Accept-Encoding": {"gzip"}, "Content-Type": {"application/json"},
			"Content-Length": {strconv.Itoa(len(sent.Body))}, "User-Agent": {"ContextInfinity"},
		}
		for name, value := range s.Header {
			want.Set(name, value)
		}
		if sent.Method != http.MethodPost || sent.Path != s.Path || !reflect.DeepEqual(sent.Header, want) {
			t.Errorf("%s %s with %v; want POST %s with %v", sent.Method, sent.Path, sent.Header, s.Path, want)
		}
	})
	t.Run("through a proxy", func(t *testing.T) {
		proxy := NewServer(t, Stream(s.Wire.Text...))
		proxyURL, err := url.Parse(proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{Proxy: http.ProxyURL(proxyURL)}
		defer transport.CloseIdleConnections()
		throughProxy := &suite{Harness: s.Harness, provider: s.New(&http.Client{Transport: transport})}
		ep := s.endpoint("http://models.invalid")
		ep.AllowPlainHTTP = true
		if got, err := throughProxy.call(t.Context(), t, ep, nil); err != nil || len(got) != len(s.Wire.Text) {
			t.Errorf("%d events, %v", len(got), err)
		}
	})
	t.Run("a context that was not assembled is refused", func(t *testing.T) {
		if _, err := s.provider.Encode(llm.Request{Endpoint: s.endpoint("http://127.0.0.1:1")}); err == nil {
			t.Error("the zero context was encoded")
		}
	})
	t.Run("one request for a failure", func(t *testing.T) {
		for name, step := range map[string]Step{
			"500": s.failure(500, "", "broken", "", ""), "429": s.failure(429, "", "slow down", "Retry-After", "0"),
			"should retry": s.failure(503, "", "try again", "X-Should-Retry", "true"), "dropped": {Drop: true},
		} {
			server := NewServer(t, step)
			_, err := s.call(t.Context(), t, s.endpoint(server.URL), nil)
			if e := asError(t, err); len(server.Requests()) != 1 || !e.Retryable() {
				t.Errorf("%s: %d requests, %v: only the turn retries", name, len(server.Requests()), err)
			}
		}
	})
}

func (s *suite) keys(t *testing.T) {
	s.echoedKeys(t)
	s.sentKeys(t)
}

// echoedKeys checks that a key that the server repeats appears neither in errors nor in events.
func (s *suite) echoedKeys(t *testing.T) {
	t.Run("echoed in a 401", func(t *testing.T) {
		for _, step := range []Step{
			s.failure(401, "invalid_api_key", "Incorrect key provided: "+Key+".", "", ""),
			{Status: 401, Chunks: []string{"bad key " + Key}},
			{Status: 401, Chunks: []string{`{"error":"Bearer ` + Key + ` is wrong"}`}},
		} {
			_, err := s.run(t.Context(), t, step)
			e := asError(t, err)
			if e.Code != chat.CodeAuth || e.Retryable() {
				t.Errorf("%+v", e)
			}
			for err := err; err != nil; err = errors.Unwrap(err) {
				if strings.Contains(err.Error(), "canary") {
					t.Errorf("the key is in %q", err)
				}
			}
		}
	})
	t.Run("echoed in a stream", func(t *testing.T) {
		echo := chat.RawEvent{Type: "echo", Data: []byte(`{"type":"echo","key":"` + Key + `"}`)}
		got, err := s.run(t.Context(), t, Stream(echo))
		if err != nil || len(got) != 1 || bytes.Contains(got[0].Data, []byte("canary")) || !json.Valid(got[0].Data) {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("echoed in pieces", func(t *testing.T) {
		pieces := strings.NewReplacer(`"Hello, "`, `"It is `+Key[:9]+`"`, `"w\u00f6rld"`, `"`+Key[9:20]+`"`, `" 🌍"`, `"`+Key[20:]+`."`,
			`Hello, w\u00f6rld 🌍`, `It is `+Key+`.`, `Hello, wörld 🌍`, `It is `+Key+`.`)
		var events []chat.RawEvent
		for _, ev := range s.Wire.Text {
			events = append(events, chat.RawEvent{Type: ev.Type, Data: []byte(pieces.Replace(string(ev.Data)))})
		}
		got, err := s.run(t.Context(), t, Stream(events...))
		d := s.provider.NewDecoder(llm.ToolsDisabled)
		for _, ev := range got {
			d.Decode(ev)
			for _, part := range []string{Key[:9], Key[9:20], Key[20:]} {
				if bytes.Contains(ev.Data, []byte(part)) {
					t.Errorf("a part of the key is in %s", ev.Data)
				}
			}
		}
		if text := d.Result().Text(); err != nil || len(got) != len(events) || text != "It is [redacted]." {
			t.Errorf("%d of %d events, %q, %v", len(got), len(events), text, err)
		}
	})
}

// sentKeys checks that a key is sent in a single header, and only to its own server.
func (s *suite) sentKeys(t *testing.T) {
	t.Run("sent only in its header", func(t *testing.T) {
		server := NewServer(t, Stream(s.Wire.Text...))
		if _, err := s.call(t.Context(), t, s.endpoint(server.URL), nil); err != nil {
			t.Fatal(err)
		}
		r := server.Requests()[0]
		if bytes.Contains(r.Body, []byte("canary")) || strings.Contains(r.Path, "canary") {
			t.Error("the key is in the request outside its header")
		}
		found := 0
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), Key) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("the key is in %d headers", found)
		}
	})
	t.Run("not sent to the target of a redirect", func(t *testing.T) {
		elsewhere := NewServer(t, Stream(s.Wire.Text...))
		for _, status := range []int{301, 302, 303, 307, 308} {
			_, err := s.run(t.Context(), t, Step{Status: status, Header: map[string]string{"Location": elsewhere.URL + s.Path}})
			if e := asError(t, err); e.Code != chat.CodeProvider || e.Status != status || e.Retryable() {
				t.Errorf("%d: %+v", status, e)
			}
		}
		if n := len(elsewhere.Requests()); n != 0 {
			t.Errorf("%d requests followed a redirect", n)
		}
	})
	t.Run("not sent over plain http to another machine", func(t *testing.T) {
		for allowed, want := range map[bool]int{false: 0, true: 1} {
			sent := 0
			provider := s.New(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				sent++
				return nil, errors.New("no network here")
			})})
			ep := s.endpoint("http://192.0.2.1")
			ep.AllowPlainHTTP = allowed
			body, err := provider.Encode(llm.Request{Endpoint: ep, Context: Ask(t, "Hello?")})
			if err != nil {
				t.Fatal(err)
			}
			err = provider.Stream(t.Context(), ep, body, func(chat.RawEvent) error { return nil })
			if e := asError(t, err); sent != want || !allowed && (e.Code != chat.CodeConfig || e.Retryable()) {
				t.Errorf("allowed %v: %d requests, %v", allowed, sent, err)
			}
		}
	})
	t.Run("not needed for a local server", func(t *testing.T) {
		t.Setenv("OPENAI_API_KEY", Key)
		t.Setenv("ANTHROPIC_API_KEY", Key)
		t.Setenv("ANTHROPIC_AUTH_TOKEN", Key)
		server := NewServer(t, Stream(s.Wire.Text...))
		ep := s.endpoint(server.URL)
		ep.Key = ""
		if _, err := s.call(t.Context(), t, ep, nil); err != nil {
			t.Fatal(err)
		}
		h := server.Requests()[0].Header
		if h.Get("Authorization") != "" || h.Get("X-Api-Key") != "" {
			t.Error("a key from the environment was sent to a local server")
		}
	})
	t.Run("required for the vendor", func(t *testing.T) {
		ep := s.endpoint("")
		ep.BaseURL, ep.Key = "", ""
		_, err := s.call(t.Context(), t, ep, nil)
		if e := asError(t, err); e.Code != chat.CodeAuth || !strings.Contains(e.Message, "API_KEY") {
			t.Errorf("%+v", e)
		}
	})
}

func (s *suite) models(t *testing.T) {
	lister, ok := s.provider.(llm.ModelLister)
	if !ok {
		t.Fatal("the adapter cannot list models")
	}
	server := NewServer(t, JSON(200, `{"data":[{"id":"m-1"},{"id":"m-2"}],"has_more":false}`))
	ids, err := lister.ListModels(t.Context(), s.endpoint(server.URL))
	if err != nil || strings.Join(ids, " ") != "m-1 m-2" {
		t.Errorf("%v, %v", ids, err)
	}
	if p := server.Requests()[0].Path; p != "/v1/models" {
		t.Errorf("path %s", p)
	}
	if h := server.Requests()[0].Header; h.Get("Accept") != "application/json" || h.Get("Content-Type") != "" {
		t.Errorf("headers %v", h)
	}
	server = NewServer(t, s.failure(401, "", "key "+Key, "", ""))
	_, err = lister.ListModels(t.Context(), s.endpoint(server.URL))
	if e := asError(t, err); e.Code != chat.CodeAuth || strings.Contains(e.Error(), Key) {
		t.Errorf("%+v", e)
	}
}
