package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// Wire is how one protocol says what every protocol can say. A nil member means
// that the protocol has no such thing; Why says so for the reader of a skip.
type Wire struct {
	Text           []chat.RawEvent // "Hello, wörld 🌍", 12 tokens in (4 cached), 5 out, id resp_1, model m-1
	TwoItems       []chat.RawEvent // "First." and "Second." as separate outputs
	Reasoning      []chat.RawEvent // thinks "Let me think." then says "Done."
	Refusal        []chat.RawEvent // refuses with "I cannot help with that."
	ToolCall       []chat.RawEvent // "Checking." then get_weather {"city":"Berlin"}, id call_1
	Unknown        []chat.RawEvent // "Known." beside an event and a block holding "never_seen"
	ErrorEvent     []chat.RawEvent // "Partial" then an error that says overloaded
	DuplicateStart []chat.RawEvent // the start twice, then "Once."
	EmptyDelta     []chat.RawEvent // an empty first delta, then "Late."
	Truncated      []chat.RawEvent // "Cut" then the output limit
	Surrogates     []chat.RawEvent // "🌍" cut in two between deltas, whole only together
	Whole          string          // "Hello, whole" unstreamed

	// TerminalEvents is how many events at the end of Text make its end.
	TerminalEvents int
	// ErrorBody is a failure's body; code is the vendor's own, may be empty.
	ErrorBody func(code, message string) string
	// TooLarge is a vendor's code and words for a request over its window.
	TooLarge [2]string
	Why      string
}

// Harness is an adapter under test.
type Harness struct {
	New func(*http.Client) llm.Provider
	// Endpoint is for a server at base.
	Endpoint func(base string) llm.Endpoint
	Wire     Wire
}

// canary is a key that must appear nowhere but in its header.
const canary = "sk-canary-4f9a1c77d2e84b0fa6"

type suite struct {
	Harness
	provider llm.Provider
}

// Conformance runs the suite that every adapter of a network protocol passes.
func Conformance(t *testing.T, h Harness) {
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	s := &suite{Harness: h, provider: h.New(client)}
	t.Run("answers", s.answers)
	t.Run("tools", s.tools)
	t.Run("failures inside a stream", s.streamFailures)
	t.Run("failures before a stream", s.httpFailures)
	t.Run("connection", s.connection)
	t.Run("cancel", s.cancel)
	t.Run("request", s.request)
	t.Run("keys", s.keys)
	t.Run("models", s.models)
}

func (s *suite) endpoint(base string) llm.Endpoint {
	ep := s.Endpoint(base)
	ep.Key, ep.Stream = canary, true
	return ep
}

// run sends a question to a server that answers by step.
func (s *suite) run(t *testing.T, ctx context.Context, step Step) ([]chat.RawEvent, error) {
	t.Helper()
	server := NewServer(t, step)
	ep := s.endpoint(server.URL)
	return s.call(t, ctx, ep, nil)
}

func (s *suite) call(t *testing.T, ctx context.Context, ep llm.Endpoint, onEvent func(chat.RawEvent)) ([]chat.RawEvent, error) {
	t.Helper()
	body, err := s.provider.Encode(llm.Request{Endpoint: ep, Context: Ask(t, "Hello?")})
	if err != nil {
		t.Fatal(err)
	}
	var got []chat.RawEvent
	err = s.provider.Stream(ctx, ep, body, func(ev chat.RawEvent) error {
		got = append(got, ev)
		if onEvent != nil {
			onEvent(ev)
		}
		return nil
	})
	return got, err
}

// play sends events through a real server, proves that each came out byte for
// byte, and decodes them.
func (s *suite) play(t *testing.T, mode llm.ToolsMode, events []chat.RawEvent) Played {
	t.Helper()
	if events == nil {
		t.Skip(s.Wire.Why)
	}
	got, err := s.run(t, t.Context(), Stream(events...))
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, got, events)
	return Play(t, s.provider, mode, got)
}

func sameEvents(t *testing.T, got, want []chat.RawEvent) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d events arrived, %d were sent", len(got), len(want))
	}
	for i := range want {
		if got[i].Type != want[i].Type || !bytes.Equal(got[i].Data, want[i].Data) {
			t.Fatalf("event %d arrived as %s %q, was sent as %s %q", i, got[i].Type, got[i].Data, want[i].Type, want[i].Data)
		}
	}
}

func wantText(t *testing.T, p Played, text string, status llm.StepStatus) {
	t.Helper()
	if got := p.Result.Text(); got != text {
		t.Errorf("text is %q, want %q", got, text)
	}
	if !p.Result.Terminal || p.Result.Status != status {
		t.Errorf("terminal %v, status %s, want %s", p.Result.Terminal, p.Result.Status, status)
	}
}

func (s *suite) answers(t *testing.T) {
	t.Run("text", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.Text)
		wantText(t, p, "Hello, wörld 🌍", chat.StepCompleted)
		r := p.Result
		if r.Usage == nil || r.Usage.InputTokens != 12 || r.Usage.OutputTokens != 5 || r.Usage.CachedInputTokens != 4 {
			t.Errorf("usage is %+v", r.Usage)
		}
		if r.ResponseID != "resp_1" || r.Model != "m-1" {
			t.Errorf("response %q of model %q", r.ResponseID, r.Model)
		}
	})
	t.Run("several output items", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.TwoItems)
		wantText(t, p, "First.\n\nSecond.", chat.StepCompleted)
	})
	t.Run("reasoning", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.Reasoning)
		wantText(t, p, "Done.", chat.StepCompleted)
		thought, ok := p.Result.Blocks[0].(chat.Reasoning)
		if !ok || thought.Summary != "Let me think." || thought.Provider != s.provider.Name() {
			t.Errorf("first block is %+v", p.Result.Blocks[0])
		}
	})
	t.Run("refusal", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.Refusal)
		wantText(t, p, "I cannot help with that.", chat.StepCompleted)
		if !p.Result.Refused {
			t.Error("a refusal is not reported as one")
		}
	})
	t.Run("unknown events and blocks", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.Unknown)
		wantText(t, p, "Known.", chat.StepCompleted)
		kept := false
		for _, b := range p.Result.Blocks {
			u, ok := b.(chat.Unknown)
			kept = kept || ok && u.Provider == s.provider.Name() && bytes.Contains(u.Raw, []byte("never_seen"))
		}
		if !kept {
			t.Error("an unknown block was not kept raw")
		}
	})
	t.Run("duplicate start", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.DuplicateStart)
		wantText(t, p, "Once.", chat.StepCompleted)
	})
	t.Run("empty first delta", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.EmptyDelta)
		wantText(t, p, "Late.", chat.StepCompleted)
	})
	t.Run("output limit", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.Truncated)
		wantText(t, p, "Cut", chat.StepIncomplete)
		if p.Result.Reason != "max_output_tokens" {
			t.Errorf("reason is %q", p.Result.Reason)
		}
	})
	t.Run("a character cut between deltas", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.Surrogates)
		wantText(t, p, "🌍", chat.StepCompleted)
	})
	t.Run("not streaming", s.notStreaming)
}

func (s *suite) notStreaming(t *testing.T) {
	server := NewServer(t, JSON(http.StatusOK, s.Wire.Whole))
	ep := s.endpoint(server.URL)
	ep.Stream = false
	got, err := s.call(t, t.Context(), ep, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, got, []chat.RawEvent{{Type: llm.EventResponse, Data: []byte(s.Wire.Whole)}})
	wantText(t, Play(t, s.provider, llm.ToolsDisabled, got), "Hello, whole", chat.StepCompleted)
	if !bytes.Contains(server.Requests()[0].Body, []byte(`"stream":false`)) {
		t.Error("the body does not ask for an unstreamed answer")
	}
}

func (s *suite) tools(t *testing.T) {
	t.Run("disabled", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.ToolCall)
		wantText(t, p, "Checking.", chat.StepFailed)
		if p.Result.Err == nil || p.Result.Err.Code != chat.CodeToolCall || p.Result.Err.Retryable() {
			t.Errorf("error is %+v", p.Result.Err)
		}
	})
	t.Run("parse only", func(t *testing.T) {
		p := s.play(t, llm.ToolsParseOnly, s.Wire.ToolCall)
		wantText(t, p, "Checking.", chat.StepPaused)
		use, ok := p.Result.Blocks[len(p.Result.Blocks)-1].(chat.ToolUse)
		var args struct{ City string }
		if !ok || use.Name != "get_weather" || use.ToolUseID != "call_1" || json.Unmarshal(use.Input, &args) != nil || args.City != "Berlin" {
			t.Errorf("the call is %+v", use)
		}
		var shown string
		for _, d := range p.Deltas {
			if d.Kind == llm.DeltaTool {
				shown += d.Tool + d.Text
			}
		}
		if shown != `get_weather{"city":"Berlin"}` {
			t.Errorf("the deltas of the call say %s", shown)
		}
	})
}

func (s *suite) streamFailures(t *testing.T) {
	t.Run("error event", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.ErrorEvent)
		wantText(t, p, "Partial", chat.StepFailed)
		e := p.Result.Err
		if e == nil || !e.Retryable() || e.Code != chat.CodeUnavailable || !strings.Contains(strings.ToLower(e.Message), "overloaded") {
			t.Errorf("error is %+v", e)
		}
	})
	t.Run("missing terminal event", func(t *testing.T) {
		p := s.play(t, llm.ToolsDisabled, s.Wire.Text[:len(s.Wire.Text)-s.Wire.TerminalEvents])
		if p.Result.Terminal || p.Result.Text() != "Hello, wörld 🌍" {
			t.Errorf("terminal %v, text %q", p.Result.Terminal, p.Result.Text())
		}
	})
	t.Run("no event", func(t *testing.T) {
		got, err := s.run(t, t.Context(), Step{})
		if err != nil || len(got) != 0 {
			t.Fatalf("%d events, %v", len(got), err)
		}
		if r := s.provider.NewDecoder(llm.ToolsDisabled).Result(); r.Terminal || len(r.Blocks) != 0 {
			t.Errorf("nothing decodes to %+v", r)
		}
	})
	t.Run("garbage between events", func(t *testing.T) {
		events := append([]chat.RawEvent{}, s.Wire.Text...)
		middle := len(events) / 2
		for _, junk := range []string{"{torn", "null", "[]", `{"type":7}`, `{"type":"x","delta":[1]}`, "\xff\xfe"} {
			events = append(events[:middle], append([]chat.RawEvent{{Type: "message", Data: []byte(junk)}}, events[middle:]...)...)
		}
		p := s.play(t, llm.ToolsDisabled, events)
		wantText(t, p, "Hello, wörld 🌍", chat.StepCompleted)
	})
	t.Run("every prefix decodes to a beginning", func(t *testing.T) {
		for n := range s.Wire.Text {
			p := Play(t, s.provider, llm.ToolsDisabled, s.Wire.Text[:n])
			if !strings.HasPrefix("Hello, wörld 🌍", p.Result.Text()) {
				t.Errorf("%d events give %q", n, p.Result.Text())
			}
		}
	})
}

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
			got, err := s.run(t, t.Context(), c.step)
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
		_, err := s.run(t, t.Context(), s.failure(429, "", "slow down", "Retry-After", when))
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
		got, err := s.run(t, t.Context(), Step{Drop: true})
		e := asError(t, err)
		if len(got) != 0 || e.Code != chat.CodeUnavailable || !e.Retryable() {
			t.Errorf("%d events, %+v", len(got), e)
		}
	})
	t.Run("dropped after the first byte", func(t *testing.T) {
		step := Stream(s.Wire.Text[:len(s.Wire.Text)-s.Wire.TerminalEvents]...)
		step.Drop = true
		got, err := s.run(t, t.Context(), step)
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
		got, err := s.run(t, t.Context(), step)
		if asError(t, err); len(got) != 1 {
			t.Errorf("%d events, want the one that was whole", len(got))
		}
	})
	t.Run("refused", func(t *testing.T) {
		_, err := s.call(t, t.Context(), s.endpoint("http://127.0.0.1:1"), nil)
		if e := asError(t, err); e.Code != chat.CodeUnavailable || !e.Retryable() {
			t.Errorf("%+v", e)
		}
	})
	t.Run("not an address", func(t *testing.T) {
		_, err := s.call(t, t.Context(), s.endpoint("localhost:11434"), nil)
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
		got, err := s.call(t, ctx, s.endpoint(server.URL), func(chat.RawEvent) { cancel() })
		e := asError(t, err)
		if e.Code != chat.CodeCancelled || e.Retryable() || !errors.Is(err, context.Canceled) || len(got) == 0 {
			t.Errorf("%d events, %+v", len(got), e)
		}
		<-step.Gone // the connection is closed, not abandoned
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
		_, err := s.call(t, ctx, s.endpoint(server.URL), nil)
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
	t.Run("a context nobody assembled is refused", func(t *testing.T) {
		if _, err := s.provider.Encode(llm.Request{Endpoint: s.endpoint("http://127.0.0.1:1")}); err == nil {
			t.Error("the zero context was encoded")
		}
	})
	t.Run("one request for a failure", func(t *testing.T) {
		server := NewServer(t, s.failure(500, "", "broken", "", ""))
		_, err := s.call(t, t.Context(), s.endpoint(server.URL), nil)
		if asError(t, err); len(server.Requests()) != 1 {
			t.Errorf("%d requests: retries are the turn's", len(server.Requests()))
		}
	})
}

func (s *suite) keys(t *testing.T) {
	t.Run("echoed in a 401", func(t *testing.T) {
		for _, step := range []Step{
			s.failure(401, "invalid_api_key", "Incorrect key provided: "+canary+".", "", ""),
			{Status: 401, Chunks: []string{"bad key " + canary}},
			{Status: 401, Chunks: []string{`{"error":"Bearer ` + canary + ` is wrong"}`}},
		} {
			_, err := s.run(t, t.Context(), step)
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
		echo := chat.RawEvent{Type: "echo", Data: []byte(`{"type":"echo","key":"` + canary + `"}`)}
		got, err := s.run(t, t.Context(), Stream(echo))
		if err != nil || len(got) != 1 || bytes.Contains(got[0].Data, []byte("canary")) || !json.Valid(got[0].Data) {
			t.Errorf("%q, %v", got, err)
		}
	})
	t.Run("sent in its header alone", func(t *testing.T) {
		server := NewServer(t, Stream(s.Wire.Text...))
		if _, err := s.call(t, t.Context(), s.endpoint(server.URL), nil); err != nil {
			t.Fatal(err)
		}
		r := server.Requests()[0]
		if bytes.Contains(r.Body, []byte("canary")) || strings.Contains(r.Path, "canary") {
			t.Error("the key is in the request outside its header")
		}
		found := 0
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), canary) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("the key is in %d headers", found)
		}
	})
	t.Run("none for a local server", func(t *testing.T) {
		t.Setenv("OPENAI_API_KEY", canary)
		t.Setenv("ANTHROPIC_API_KEY", canary)
		t.Setenv("ANTHROPIC_AUTH_TOKEN", canary)
		server := NewServer(t, Stream(s.Wire.Text...))
		ep := s.endpoint(server.URL)
		ep.Key = ""
		if _, err := s.call(t, t.Context(), ep, nil); err != nil {
			t.Fatal(err)
		}
		h := server.Requests()[0].Header
		if h.Get("Authorization") != "" || h.Get("X-Api-Key") != "" {
			t.Error("a key from the environment was sent to a local server")
		}
	})
	t.Run("missing for the vendor", func(t *testing.T) {
		ep := s.endpoint("")
		ep.BaseURL, ep.Key = "", ""
		_, err := s.call(t, t.Context(), ep, nil)
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
	server = NewServer(t, s.failure(401, "", "key "+canary, "", ""))
	_, err = lister.ListModels(t.Context(), s.endpoint(server.URL))
	if e := asError(t, err); e.Code != chat.CodeAuth || strings.Contains(e.Error(), canary) {
		t.Errorf("%+v", e)
	}
}

// ThroughServer sends events from a scripted server through the adapter's real
// client, fails unless each arrives byte for byte, and returns them.
func ThroughServer(t *testing.T, h Harness, events []chat.RawEvent) []chat.RawEvent {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	s := &suite{Harness: h, provider: h.New(client)}
	got, err := s.run(t, t.Context(), Stream(events...))
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, got, events)
	return got
}
