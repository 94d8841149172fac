package app

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

// aimock is the provider that no one here wrote, started once for all tests.
type aimock struct {
	once  sync.Once
	url   string
	err   error
	stdin io.Closer
	cmd   *exec.Cmd
}

var provider aimock

// start returns the address, without the /v1 that OpenAI's protocols add.
func (a *aimock) start(t testing.TB) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node is not installed: scripts/setup test installs it")
	}
	module := inModule("frontend", "e2e", "node_modules", "@copilotkit", "aimock", "dist", "index.js")
	if _, err := os.Stat(module); err != nil {
		missing(t, "aimock is not installed: scripts/setup test installs it")
	}
	a.once.Do(func() { a.url, a.err = a.launch(node, module) })
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a.url
}

func (a *aimock) launch(node, module string) (string, error) {
	a.cmd = exec.Command(node, inModule("test", "harness", "testdata", "provider.mjs"), module)
	a.cmd.Stderr = os.Stderr
	a.cmd.Env = append(os.Environ(), "NODE_NO_WARNINGS=1")
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return "", err
	}
	if err := a.cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("aimock did not start: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// stop ends it and its connections.
func (a *aimock) stop() {
	if a.stdin != nil {
		_ = a.stdin.Close()
		_ = a.cmd.Wait()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// answerTo is what the provider answers, the same words as in provider.mjs.
func answerTo(number int) string {
	var sentences []string
	for i := 1; i <= 8; i++ {
		sentences = append(sentences, fmt.Sprintf("Answer %d, sentence %d: größer als 漢字 allein.", number, i))
	}
	return strings.Join(sentences, " ")
}

// tag ends a message so that the provider answers it with the given kind.
func tag(kind string, number int) string { return fmt.Sprintf("[[%s %d]]", kind, number) }

// wireProtocol is a provider's protocol as a test speaks it.
type wireProtocol struct {
	name  string // of the adapter
	path  string // what its base_url adds to a server's address
	start func() []chat.RawEvent
	delta func(text string) chat.RawEvent
	end   func() []chat.RawEvent
	// refusal is a whole stream in which the provider declines with these words.
	refusal func(words string) []chat.RawEvent
	// fault is an error event in the middle of a stream.
	fault func(words string) chat.RawEvent
}

func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSpace(b.String())
}

var openaiWire = wireProtocol{
	name: "openai", path: "/v1",
	start: func() []chat.RawEvent {
		return llmtest.Events(
			`{"type":"response.created","response":{"id":"resp_1","model":"m-1","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_0","role":"assistant","status":"in_progress","content":[]}}`)
	},
	delta: func(text string) chat.RawEvent {
		return llmtest.Event(`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":` + quoted(text) + `}`)
	},
	end: func() []chat.RawEvent {
		return llmtest.Events(`{"type":"response.completed","response":{"id":"resp_1","model":"m-1","status":"completed","output":[],"usage":{"input_tokens":12,"output_tokens":5}}}`)
	},
	refusal: func(words string) []chat.RawEvent {
		return llmtest.Events(
			`{"type":"response.created","response":{"id":"resp_1","model":"m-1","status":"in_progress","output":[]}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_0","role":"assistant","status":"in_progress","content":[]}}`,
			`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":`+words+`}`,
			`{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":`+words+`}`,
			`{"type":"response.completed","response":{"id":"resp_1","model":"m-1","status":"completed","output":[],"usage":{"input_tokens":12,"output_tokens":5}}}`)
	},
	fault: func(words string) chat.RawEvent {
		return llmtest.Event(`{"type":"error","code":"server_error","message":` + words + `}`)
	},
}

var anthropicWire = wireProtocol{
	name: "anthropic",
	start: func() []chat.RawEvent {
		return llmtest.Events(
			`{"type":"message_start","message":{"id":"resp_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	},
	delta: func(text string) chat.RawEvent {
		return llmtest.Event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + quoted(text) + `}}`)
	},
	end: func() []chat.RawEvent {
		return llmtest.Events(`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`, `{"type":"message_stop"}`)
	},
	refusal: func(words string) []chat.RawEvent {
		return llmtest.Events(
			`{"type":"message_start","message":{"id":"resp_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":12,"output_tokens":1}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":`+words+`}},"usage":{"output_tokens":5}}`,
			`{"type":"message_stop"}`)
	},
	fault: func(words string) chat.RawEvent {
		return llmtest.Event(`{"type":"error","error":{"type":"overloaded_error","message":` + words + `}}`)
	},
}

var chatWire = wireProtocol{
	name: "chatcompletions", path: "/v1",
	start: func() []chat.RawEvent {
		return llmtest.Events(`{"id":"resp_1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`)
	},
	delta: func(text string) chat.RawEvent {
		return llmtest.Event(`{"id":"resp_1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"content":` + quoted(text) + `},"finish_reason":null}]}`)
	},
	end: func() []chat.RawEvent {
		return llmtest.Events(`{"id":"resp_1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"id":"resp_1","model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}`, `[DONE]`)
	},
	refusal: func(words string) []chat.RawEvent {
		return llmtest.Events(
			`{"id":"resp_1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","refusal":`+words+`},"finish_reason":null}]}`,
			`{"id":"resp_1","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`)
	},
	fault: func(words string) chat.RawEvent {
		return llmtest.Event(`{"error":{"message":` + words + `,"type":"server_error","code":503}}`)
	},
}

var wires = []wireProtocol{openaiWire, anthropicWire, chatWire}

// saying is a stream of the given texts, with its end or without.
func (w wireProtocol) saying(whole bool, texts ...string) []chat.RawEvent {
	events := w.start()
	for _, s := range texts {
		events = append(events, w.delta(s))
	}
	if whole {
		events = append(events, w.end()...)
	}
	return events
}

// model is a table of config.toml for a server at url.
func (w wireProtocol) model(name, url string) string {
	return fmt.Sprintf("[models.%s]\nprovider = %q\nmodel_id = \"m-1\"\nbase_url = %q\ncontext_limit = 128000\nmax_output = 4000\n\n", name, w.name, url+w.path)
}

// aimockModels has one model for each protocol of aimock, named as the adapter.
func aimockModels(t testing.TB) string {
	t.Helper()
	url := provider.start(t)
	var b strings.Builder
	for _, w := range wires {
		b.WriteString(w.model(w.name, url))
	}
	return b.String()
}

// heldServer streams exact bytes to every request, then holds the connection
// until the client goes away or release is called.
type heldServer struct {
	url     string
	asked   chan []byte // bodies, in order
	release func()
}

// newHeldServer answers with events. With hold it never ends the answer itself.
func newHeldServer(t testing.TB, hold bool, events ...chat.RawEvent) *heldServer {
	t.Helper()
	free := make(chan struct{})
	s := &heldServer{asked: make(chan []byte, 64), release: sync.OnceFunc(func() { close(free) })}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.asked <- body
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range events {
			_, _ = io.WriteString(w, llmtest.SSE(ev))
		}
		_ = http.NewResponseController(w).Flush()
		if hold {
			select {
			case <-r.Context().Done():
			case <-free:
			}
		}
	}))
	s.url = h.URL
	t.Cleanup(func() { s.release(); h.Close() })
	return s
}
