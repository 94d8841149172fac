package crash

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// provider is a Chat Completions server on the loopback interface. Its answer follows from the end of the newest user
// message, "[[KIND N]]", so that the expected content of a turn is known without asking the program.
type provider struct {
	url string

	mu        sync.Mutex
	requests  map[int]int // by N
	completed map[int]int // answers whose terminal event was sent, by N
	calls     map[int]int // how often tool calls were proposed, by N
}

// kinds of answers that a prompt can request.
const (
	kindGood = "good" // an answer in several pieces
	kindSlow = "slow" // an answer that takes a second
	kindCut  = "cut"  // half an answer, then the connection is dropped
	kindHold = "hold" // half an answer, then nothing until the client disconnects
	kindOnce = "once" // the first request fails with 500, the next succeeds
	kindBad  = "bad"  // every request is rejected
	kindTool = "tool" // two tool calls, then, with their results, an answer
)

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{requests: map[int]int{}, completed: map[int]int{}, calls: map[int]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", p.serve)
	mux.HandleFunc("/librarian/v1/chat/completions", p.summarize)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// forget makes the next request of a prompt count as its first.
func (p *provider) forget(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.requests, n)
	delete(p.completed, n)
}

// completions returns how often an answer was sent completely.
func (p *provider) completions(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.completed[n]
}

var tagPattern = regexp.MustCompile(`\[\[([a-z_]+) ([0-9]+)\]\]`)

// lastTag returns the newest prompt's tag in a request or a text.
func lastTag(text string) (kind string, n int) {
	all := tagPattern.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return kindGood, 0
	}
	last := all[len(all)-1]
	n, _ = strconv.Atoi(last[2])
	return last[1], n
}

// pieces returns an answer's text in the pieces in which it is streamed.
func pieces(n int) []string {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	out := []string{fmt.Sprintf("A%d: ", n)}
	for i := range 6 + rng.IntN(30) {
		out = append(out, fmt.Sprintf("%d.%d größer 漢字 🌍 ", n, i))
	}
	return append(out, "Decided: Orders is deployed on Sunday.")
}

func answerText(n int) string { return strings.Join(pieces(n), "") }

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	kind, n := lastTag(string(body))
	p.mu.Lock()
	p.requests[n]++
	first := p.requests[n] == 1
	p.mu.Unlock()
	if kind == kindBad || kind == kindOnce && first {
		status := http.StatusInternalServerError
		if kind == kindBad {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":{"message":"Something broke here.","type":"server_error"}}`)
		return
	}
	if kind == kindTool && !resultsIn(body) {
		p.askForTools(w, n)
		return
	}
	p.stream(w, r, kind, n)
}

// resultsIn reports whether a request ends with tool results.
func resultsIn(body []byte) bool {
	var request struct{ Messages []struct{ Role string } }
	n := 0
	if json.Unmarshal(body, &request) == nil {
		n = len(request.Messages)
	}
	return n > 0 && request.Messages[n-1].Role == "tool"
}

// askForTools answers with two calls. Each time a prompt is answered, the calls write different words, so a word that
// was written twice was written by one call.
func (p *provider) askForTools(w http.ResponseWriter, n int) {
	p.mu.Lock()
	p.calls[n]++
	k := p.calls[n]
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	var calls []string
	for i := range 2 {
		word := toolWord(n, k, i)
		calls = append(calls, fmt.Sprintf(`{"index":%d,"id":"call_%s","type":"function","function":{"name":"counter__count","arguments":"{\"word\":\"%s\"}"}}`, i, word, word))
	}
	for _, part := range []string{`{"role":"assistant","content":null}`, `{"tool_calls":[` + strings.Join(calls, ",") + `]}`} {
		_, _ = io.WriteString(w, `data: {"id":"r","model":"m-1","choices":[{"index":0,"delta":`+part+`,"finish_reason":null}]}`+"\n\n")
	}
	_, _ = io.WriteString(w, `data: {"id":"r","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
}

func (p *provider) stream(w http.ResponseWriter, r *http.Request, kind string, n int) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(data string) bool {
		_, err := io.WriteString(w, "data: "+data+"\n\n")
		return err == nil && http.NewResponseController(w).Flush() == nil && r.Context().Err() == nil
	}
	all := pieces(n)
	pause := map[string]time.Duration{kindSlow: 40 * time.Millisecond, kindHold: time.Millisecond}[kind]
	rng := rand.New(rand.NewPCG(uint64(n), 2))
	send(`{"id":"r","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`)
	for i, text := range all {
		if i > len(all)/2 && kind == kindCut {
			panic(http.ErrAbortHandler)
		}
		if i > len(all)/2 && kind == kindHold {
			<-r.Context().Done()
			return
		}
		quoted, _ := json.Marshal(text)
		if !send(`{"id":"r","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"content":` + string(quoted) + `},"finish_reason":null}]}`) {
			return
		}
		time.Sleep(pause + time.Duration(rng.IntN(8))*time.Millisecond)
	}
	p.mu.Lock()
	p.completed[n]++ // counted before the end is sent, because the program may receive it immediately
	p.mu.Unlock()
	send(`{"id":"r","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	send(`{"id":"r","model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}`)
	send(`[DONE]`)
}

// summarize answers as the librarian's model, with a short text after a moment.
func (p *provider) summarize(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	time.Sleep(10 * time.Millisecond)
	content := `"Orders is deployed on Sunday."`
	if !strings.Contains(string(body), `"stream":true`) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"r","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":`+content+`},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"id":"r","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":`+content+`},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// config returns a configuration that uses the provider, with a durability mode of SPEC 5.
func (p *provider) config(durability string) string { return configFor(p.url, p.url, durability) }

// configFor returns a configuration with a server for answers and, optionally, one for the librarian.
func configFor(server, librarian, durability string) string {
	model := "librarian"
	if librarian == "" {
		model, librarian = "", server
	}
	return fmt.Sprintf(`[general]
default_model = "mock"

[stream]
durability = %q
fsync_ms = 15

[librarian]
model = %q

[budget]
working_set_tokens = 6000

[models.mock]
provider = "chatcompletions"
model_id = "m-1"
base_url = %q
context_limit = 128000
max_output = 4000

[models.librarian]
provider = "chatcompletions"
model_id = "m-1"
base_url = %q
context_limit = 128000
max_output = 4000
`, durability, model, server+"/v1", librarian+"/librarian/v1")
}
