package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// Wire holds the events of one protocol for each feature of the contract. A nil member means that the protocol lacks
// the feature; Why is the reason, for the skip message.
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
	Surrogates     []chat.RawEvent // "🌍" cut in two between deltas
	Unstreamed     string          // "Hello, whole" as one response without streaming
	// Step is an answer within a turn that calls tools.
	Step func(ToolStep) []chat.RawEvent

	// TerminalEvents is the number of events that end Text.
	TerminalEvents int
	// ErrorBody returns the body of a failure; code is the vendor's own, and may be empty.
	ErrorBody func(code, message string) string
	// TooLarge is the vendor's code and message for a request that exceeds the window.
	TooLarge [2]string
	Why      string
}

// Harness is an adapter under test.
type Harness struct {
	New func(*http.Client) llm.Provider
	// Endpoint returns the endpoint for a server at base.
	Endpoint func(base string) llm.Endpoint
	// Path is where a request is posted, below base; Header are the headers that the protocol requires in addition to
	// the usual ones.
	Path   string
	Header map[string]string
	Wire   Wire
}

// Key is the endpoint's key. It must only appear in its header.
const Key = "sk-canary-4f9a1c77d2e84b0fa6"

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
	t.Run("turns with tools", s.cycles)
	t.Run("tools or continuity refused", s.refusals)
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
	ep.Key, ep.Stream = Key, true
	return ep
}

// run sends a question to a server that responds with step.
func (s *suite) run(ctx context.Context, t *testing.T, step Step) ([]chat.RawEvent, error) {
	t.Helper()
	server := NewServer(t, step)
	ep := s.endpoint(server.URL)
	return s.call(ctx, t, ep, nil)
}

func (s *suite) call(ctx context.Context, t *testing.T, ep llm.Endpoint, onEvent func(chat.RawEvent)) ([]chat.RawEvent, error) {
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

// play sends events through a real server, checks that each arrived byte for byte, and decodes them.
func (s *suite) play(t *testing.T, mode llm.ToolsMode, events []chat.RawEvent) Played {
	t.Helper()
	if events == nil {
		t.Skip(s.Wire.Why)
	}
	got, err := s.run(t.Context(), t, Stream(events...))
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
		if got := p.Result.Ignored; len(got) == 0 || !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "telepathy") || s == "never.seen" }) {
			t.Errorf("the types of the unknown events are not reported: %q", got)
		}
		if known := s.play(t, llm.ToolsDisabled, s.Wire.Text).Result.Ignored; len(known) > 0 {
			t.Errorf("known events are reported as unknown: %q", known)
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
	server := NewServer(t, JSON(http.StatusOK, s.Wire.Unstreamed))
	ep := s.endpoint(server.URL)
	ep.Stream = false
	got, err := s.call(t.Context(), t, ep, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, got, []chat.RawEvent{{Type: llm.EventResponse, Data: []byte(s.Wire.Unstreamed)}})
	wantText(t, Play(t, s.provider, llm.ToolsDisabled, got), "Hello, whole", chat.StepCompleted)
	if !bytes.Contains(server.Requests()[0].Body, []byte(`"stream":false`)) {
		t.Error("the body does not request an answer without streaming")
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
			t.Errorf("the deltas of the call are %s", shown)
		}
	})
	t.Run("a name that was sent escaped", func(t *testing.T) {
		var events []chat.RawEvent
		for _, e := range s.Wire.ToolCall {
			events = append(events, chat.RawEvent{Type: e.Type, Data: bytes.ReplaceAll(e.Data, []byte("get_weather"), []byte("weather--x2Eget"))})
		}
		p := s.play(t, llm.ToolsParseOnly, events)
		if use, _ := p.Result.Blocks[len(p.Result.Blocks)-1].(chat.ToolUse); use.Name != "weather.get" {
			t.Errorf("the call is %+v", use)
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
		got, err := s.run(t.Context(), t, Step{})
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
	t.Run("every prefix decodes to the beginning of the text", func(t *testing.T) {
		for n := range s.Wire.Text {
			p := Play(t, s.provider, llm.ToolsDisabled, s.Wire.Text[:n])
			if !strings.HasPrefix("Hello, wörld 🌍", p.Result.Text()) {
				t.Errorf("%d events decode to %q", n, p.Result.Text())
			}
		}
	})
}

// throughServer sends events from a scripted server through the adapter's real client, fails unless each arrives byte
// for byte, and returns them.
func throughServer(t *testing.T, h Harness, events []chat.RawEvent) []chat.RawEvent {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	s := &suite{Harness: h, provider: h.New(client)}
	got, err := s.run(t.Context(), t, Stream(events...))
	if err != nil {
		t.Fatal(err)
	}
	sameEvents(t, got, events)
	return got
}
