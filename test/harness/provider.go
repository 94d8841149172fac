package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
)

// Aimock is a third-party mock provider, configured by testdata/provider.mjs. It needs Node and the packages of the
// browser tests.
type Aimock struct {
	URL   string // without the /v1 that OpenAI's protocols add
	stdin io.Closer
	cmd   *exec.Cmd
}

// StartAimock starts the server. It returns nil and the reason if aimock is not installed.
func StartAimock() (a *Aimock, absent string, err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "node is not installed: scripts/setup test installs it", nil
	}
	module := InModule("frontend", "e2e", "node_modules", "@copilotkit", "aimock", "dist", "index.js")
	if _, err := os.Stat(module); err != nil {
		return nil, "aimock is not installed: scripts/setup test installs it", nil
	}
	a = &Aimock{cmd: exec.Command(node, InModule("test", "harness", "testdata", "provider.mjs"), module)}
	a.cmd.Env, a.cmd.Stderr = append(os.Environ(), "NODE_NO_WARNINGS=1"), os.Stderr
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, "", fmt.Errorf("aimock did not start: %w", err)
	}
	a.URL = strings.TrimSpace(line)
	return a, "", nil
}

// Close stops the server.
func (a *Aimock) Close() {
	_ = a.stdin.Close()
	_ = a.cmd.Wait()
}

// provider is started once for all tests of a process.
var provider struct {
	once   sync.Once
	aimock *Aimock
	absent string
	err    error
}

// ProviderURL returns the address of aimock, without the /v1 that OpenAI's protocols add.
func ProviderURL(t testing.TB) string {
	t.Helper()
	provider.once.Do(func() { provider.aimock, provider.absent, provider.err = StartAimock() })
	switch {
	case provider.err != nil:
		t.Fatal(provider.err)
	case provider.absent != "":
		missing(t, "%s", provider.absent)
	}
	return provider.aimock.URL
}

// stopProvider stops the server and closes the connections to it.
func stopProvider() {
	if provider.aimock != nil {
		provider.aimock.Close()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// AnswerTo returns the provider's answer, with the same text as in provider.mjs.
func AnswerTo(number int) string {
	var sentences []string
	for i := 1; i <= 8; i++ {
		sentences = append(sentences, fmt.Sprintf("Answer %d, sentence %d: größer als 漢字 allein.", number, i))
	}
	return strings.Join(sentences, " ")
}

// Tag returns the end of a message that requests an answer of a kind.
func Tag(kind string, number int) string { return fmt.Sprintf("[[%s %d]]", kind, number) }

// WireProtocol is a provider's protocol for tests.
type WireProtocol struct {
	Name  string // name of the adapter
	path  string // what its base_url appends to a server's address
	Start func() []chat.RawEvent
	Delta func(text string) chat.RawEvent
	End   func() []chat.RawEvent
	// Refusal returns a complete stream in which the provider declines; its text is a JSON string.
	Refusal func(words string) []chat.RawEvent
	// Fault returns an error event in the middle of a stream; its text is a JSON string.
	Fault func(words string) chat.RawEvent
}

// Quoted returns a text as a JSON string.
func Quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSpace(b.String())
}

// OpenAIWire is the Responses API of OpenAI.
var OpenAIWire = WireProtocol{
	Name: "openai", path: "/v1",
	Start: func() []chat.RawEvent {
		return llmtest.Events(
			`{"type":"response.created","response":{"id":"resp_1","model":"m-1","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_0","role":"assistant","status":"in_progress","content":[]}}`)
	},
	Delta: func(text string) chat.RawEvent {
		return llmtest.Event(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":` + Quoted(text) + `}`)
	},
	End: func() []chat.RawEvent {
		return llmtest.Events(`{"type":"response.completed","response":{"id":"resp_1","model":"m-1","status":"completed","output":[],"usage":{"input_tokens":12,"output_tokens":5}}}`)
	},
	Refusal: func(words string) []chat.RawEvent {
		return llmtest.Events(
			`{"type":"response.created","response":{"id":"resp_1","model":"m-1","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_0","role":"assistant","status":"in_progress","content":[]}}`,
			`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":`+words+`}`,
			`{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":`+words+`}`,
			`{"type":"response.completed","response":{"id":"resp_1","model":"m-1","status":"completed","output":[],"usage":{"input_tokens":12,"output_tokens":5}}}`)
	},
	Fault: func(words string) chat.RawEvent {
		return llmtest.Event(`{"type":"error","code":"server_error","message":` + words + `}`)
	},
}

// AnthropicWire is the Messages API of Anthropic.
var AnthropicWire = WireProtocol{
	Name: "anthropic",
	Start: func() []chat.RawEvent {
		return llmtest.Events(
			`{"type":"message_start","message":{"id":"resp_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	},
	Delta: func(text string) chat.RawEvent {
		return llmtest.Event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + Quoted(text) + `}}`)
	},
	End: func() []chat.RawEvent {
		return llmtest.Events(`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`)
	},
	Refusal: func(words string) []chat.RawEvent {
		return llmtest.Events(
			`{"type":"message_start","message":{"id":"resp_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":`+words+`}},"usage":{"output_tokens":5}}`,
			`{"type":"message_stop"}`)
	},
	Fault: func(words string) chat.RawEvent {
		return llmtest.Event(`{"type":"error","error":{"type":"overloaded_error","message":` + words + `}}`)
	},
}

// ChatWire is Chat Completions.
var ChatWire = WireProtocol{
	Name: "chatcompletions", path: "/v1",
	Start: func() []chat.RawEvent {
		return llmtest.Events(`{"id":"resp_1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`)
	},
	Delta: func(text string) chat.RawEvent {
		return llmtest.Event(`{"id":"resp_1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"content":` + Quoted(text) + `},"finish_reason":null}]}`)
	},
	End: func() []chat.RawEvent {
		return llmtest.Events(`{"id":"resp_1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"id":"resp_1","model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}`, `[DONE]`)
	},
	Refusal: func(words string) []chat.RawEvent {
		return llmtest.Events(
			`{"id":"resp_1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","refusal":`+words+`},"finish_reason":null}]}`,
			`{"id":"resp_1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
	},
	Fault: func(words string) chat.RawEvent {
		return llmtest.Event(`{"error":{"message":` + words + `,"type":"server_error","code":503}}`)
	},
}

// Wires are all protocols.
var Wires = []WireProtocol{OpenAIWire, AnthropicWire, ChatWire}

// TextStream returns a stream of the given texts, with its end events or without.
func (w WireProtocol) TextStream(complete bool, texts ...string) []chat.RawEvent {
	events := w.Start()
	for _, s := range texts {
		events = append(events, w.Delta(s))
	}
	if complete {
		events = append(events, w.End()...)
	}
	return events
}

// Model returns a table of config.toml for a server at url.
func (w WireProtocol) Model(name, url string) string {
	return fmt.Sprintf("[models.%s]\nprovider = %q\nmodel_id = \"m-1\"\nbase_url = %q\ncontext_limit = 128000\nmax_output = 4000\n\n", name, w.Name, url+w.path)
}

// AimockModels returns one model for each protocol of aimock, named like the adapter.
func AimockModels(t testing.TB) string {
	t.Helper()
	url := ProviderURL(t)
	var b strings.Builder
	for _, w := range Wires {
		b.WriteString(w.Model(w.Name, url))
	}
	return b.String()
}

// HeldServer streams exact bytes to every request, then holds the connection until the client disconnects or Release
// is called.
type HeldServer struct {
	URL     string
	Asked   chan []byte // request bodies, in order; those that nobody reads are dropped
	Release func()
}

// NewHeldServer answers with events. With hold it never ends the answer itself.
func NewHeldServer(t testing.TB, hold bool, events ...chat.RawEvent) *HeldServer {
	t.Helper()
	released := make(chan struct{})
	s := &HeldServer{Asked: make(chan []byte, 64), Release: sync.OnceFunc(func() { close(released) })}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		select {
		case s.Asked <- body:
		default: // nobody reads them
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range events {
			_, _ = io.WriteString(w, llmtest.SSE(ev))
		}
		_ = http.NewResponseController(w).Flush()
		if hold {
			select {
			case <-r.Context().Done():
			case <-released:
			}
		}
	}))
	s.URL = h.URL
	t.Cleanup(func() { s.Release(); h.Close() })
	return s
}
