package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func readAll(r io.Reader) (events []event, err error) {
	reader := newEventReader(r, maxEvent)
	for {
		ev, err := reader.next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, ev)
	}
}

func TestEventReader(t *testing.T) {
	ev := func(name, data string) event { return event{name: name, data: []byte(data)} }
	cases := []struct {
		name, in string
		want     []event
	}{
		{"named", "event: a\ndata: 1\n\n", []event{ev("a", "1")}},
		{"crlf", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []event{ev("a", "1"), ev("", "2")}},
		{"cr", "event: a\rdata: 1\r\rdata: 2\r\r", []event{ev("a", "1"), ev("", "2")}},
		{"several data lines", "data: 1\ndata: 2\ndata:\n\n", []event{ev("", "1\n2\n")}},
		{"one space goes, two leave one", "data:1\n\ndata:  2\n\n", []event{ev("", "1"), ev("", " 2")}},
		{"comments, ids and retries", ": ping\nid: 7\nretry: 10\ndata: 1\n\n: end\n\n", []event{ev("", "1")}},
		{"byte order mark", "\xEF\xBB\xBFdata: 1\n\n", []event{ev("", "1")}},
		{"a name alone", "event: ping\n\n", []event{{name: "ping"}}},
		{"no closing line", "data: 1\n\ndata: 2", []event{ev("", "1"), ev("", "2")}},
		{"empty lines", "\n\n\ndata: 1\n\n\n\n", []event{ev("", "1")}},
		{"no colon", "data\n\n", []event{{}}},
		{"any bytes", "data: \xff\x00\n\n", []event{ev("", "\xff\x00")}},
		{"nothing", "", nil},
		{"an event a line", "data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", []event{ev("", `{"a":1}`), ev("", `{"b":2}`), ev("", "[DONE]")}},
		{"JSON over several lines", "data: {\"a\":\ndata: {\"b\":2}}\n\n", []event{ev("", "{\"a\":\n{\"b\":2}}")}},
		{"an error of llama.cpp", "error: {\"message\":\"slot died\"}\n\n", []event{ev("error", `{"message":"slot died"}`)}},
		{"an error without a field", "data: {\"a\":1}\n\n{\"error\":\"x\"}\n", []event{ev("", `{"a":1}`), ev("", `{"error":"x"}`)}},
	}
	for _, c := range cases {
		for _, slow := range []bool{false, true} {
			var src io.Reader = strings.NewReader(c.in)
			if slow { // one byte at a time, because boundaries must not matter
				src = iotest.OneByteReader(src)
			}
			got, err := readAll(src)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s (slow %v): %q, %v; want %q", c.name, slow, got, err, c.want)
			}
		}
	}
}

// Every comment is a sign of life, and nothing else is.
func TestCommentsAreSignsOfLife(t *testing.T) {
	alive := 0
	r := newEventReader(strings.NewReader(": OPENROUTER PROCESSING\n\n:\n\ndata: 1\n\nid: 7\n\n: keepalive\n"), 50)
	r.alive = func() { alive++ }
	for {
		if _, err := r.next(); err != nil {
			break
		}
	}
	if alive != 3 {
		t.Errorf("%d of 3 comments", alive)
	}
	seen := 0
	ctx := llm.WithAlive(t.Context(), func() { seen++ })
	server := fakeServer(200, "text/event-stream", io.NopCloser(strings.NewReader(": ping\n\n: ping\n\ndata: 1\n\n")))
	if err := server.Stream(ctx, "/x", nil, func(chat.RawEvent) error { return nil }); err != nil || seen != 2 {
		t.Errorf("%d of 2 comments of a stream, %v", seen, err)
	}
}

func TestEventReaderStops(t *testing.T) {
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("data: 1\n\ndata: {\"to"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("a torn event: %q, %v", got, err)
	}
	r := newEventReader(strings.NewReader("data: "+strings.Repeat("x", 100)+"\n\n"), 50)
	if _, err := r.next(); !errors.Is(err, errEventTooLarge) {
		t.Errorf("an endless line: %v", err)
	}
	r = newEventReader(strings.NewReader(strings.Repeat("data: 0123456789\n", 10)), 50)
	if _, err := r.next(); !errors.Is(err, errEventTooLarge) {
		t.Errorf("an endless event: %v", err)
	}
}

func FuzzEventReader(f *testing.F) {
	f.Add([]byte("event: a\ndata: 1\r\ndata: 2\r\rdata: 3\n\n: c\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		fast, err := readAll(strings.NewReader(string(in)))
		if err != nil {
			t.Fatal(err)
		}
		slow, err := readAll(iotest.OneByteReader(strings.NewReader(string(in))))
		if err != nil || !reflect.DeepEqual(fast, slow) {
			t.Fatalf("the boundaries of reads matter: %q and %q, %v", fast, slow, err)
		}
		var again strings.Builder // what was read, encoded again, reads the same
		for _, ev := range fast {
			if strings.ContainsAny(ev.name, "\r\n") || ev.name == "message" {
				return
			}
			if strings.ContainsAny(string(ev.data), "\r") || ev.name == "" && ev.data == nil {
				return
			}
			name := ev.name
			name = cmp.Or(name, "message")
			again.WriteString(llmtest.SSE(chat.RawEvent{Type: name, Data: ev.data}))
		}
		back, err := readAll(strings.NewReader(again.String()))
		if err != nil || len(back) != len(fast) {
			t.Fatalf("%d events became %d, %v", len(fast), len(back), err)
		}
		for i := range back {
			if back[i].name != fast[i].name || string(back[i].data) != string(fast[i].data) {
				t.Fatalf("%q became %q", fast[i], back[i])
			}
		}
	})
}

func TestText(t *testing.T) {
	cases := []struct {
		pieces []string
		want   string
	}{
		{[]string{`"plain"`, `" text"`}, "plain text"},
		{[]string{`"\ud83d"`, `"\ude00!"`}, "😀!"},
		{[]string{`"\\ud83d"`, `"x"`}, `\ud83dx`},
		{[]string{`"\ud83d"`, `"x"`}, "\uFFFDx"},
		{[]string{`"\ude00"`}, "\uFFFD"},
		{[]string{`"a\ud83d"`}, "a"}, // its other half is missing
		{[]string{"\"\xff\""}, "\uFFFD"},
		{[]string{`null`, `7`, `{}`, ``, `"`}, ""},
	}
	for _, c := range cases {
		var text Text
		var shown string
		for _, p := range c.pieces {
			shown += text.Append(json.RawMessage(p))
		}
		if shown != c.want || text.String() != c.want {
			t.Errorf("%q shows %q, contains %q, want %q", c.pieces, shown, text.String(), c.want)
		}
	}
}

func TestMerge(t *testing.T) {
	base := map[string]any{"a": 1, "b": map[string]any{"x": 1, "y": 2}, "c": []any{1}}
	over := map[string]any{"a": nil, "b": map[string]any{"y": 3, "x": nil, "z": map[string]any{"q": nil, "r": 1}}, "c": "d"}
	got, err := Marshal(Merge(base, over))
	if want := `{"b":{"y":3,"z":{"r":1}},"c":"d"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if base["a"] != 1 || len(base["b"].(map[string]any)) != 2 {
		t.Error("the argument was changed")
	}
	if _, err := Marshal(Merge(nil, map[string]any{"f": func() {}})); err == nil {
		t.Error("a value that JSON cannot represent was encoded")
	}
}

func TestRedact(t *testing.T) {
	cases := map[string]string{
		"bad key my-secret-key-1":            "bad key [redacted]",
		"Bearer abcdefghijkl":                "[redacted]",
		"key sk-ant-api03-abcdef_ghi!":       "key [redacted]!",
		"AIzaSyA-1234567890abc":              "[redacted]",
		`"x-api-key": "abcdef123"`:           `"[redacted]"`,
		"q=my%2Fsecret":                      "q=my%2Fsecret",
		"the task-list and risk-assessments": "the task-list and risk-assessments",
	}
	for in, want := range cases {
		if got := Redact(in, "my-secret-key-1"); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := Redact("k=a%2Fb%2Bc%3D", "a/b+c="); got != "k=[redacted]" {
		t.Errorf("escaped: %q", got)
	}
	long := cleanWords(strings.Repeat("ä", maxWords/2-1)+"my-secret-key-1", "my-secret-key-1")
	if strings.Contains(long, "my-") || len(long) > maxWords+len("…") {
		t.Errorf("a cut left part of a key: %q", long)
	}
}

// Whatever a JSON decoder would read as the key is removed; everything else stays exact.
func TestRedactRaw(t *testing.T) {
	const key = `sk/a+b="c\9`
	cases := map[string]string{
		`{"m":"sk/a+b="c\9"}`:                                   `{"m":"[redacted]"}`,
		`{"m":"sk\/a+b=\"c\\9."}`:                               `{"m":"[redacted]."}`,
		`{"m":"\u0073k\u002Fa\u002bb=\u0022c\u005c9"}`:          `{"m":"[redacted]"}`,
		`{"m":"{\"k\":\"sk\\/a+b=\\\"c\\\\9\"}"}`:               `{"m":"{\"k\":\"[redacted]\"}"}`,
		`{"m":"\\sk\/a\u002bb=\"c\\9\n, twice sk\/a+b=\"c\\9"}`: `{"m":"\\[redacted]\n, twice [redacted]"}`,
		`https://example.test/?k=sk%2Fa%2Bb%3D%22c%5C9&l=1`:     `https://example.test/?k=[redacted]&l=1`,
		`{"m":"sk\/a+b=\"c\\8, \u0073k/a, \u12"}`:               `{"m":"sk\/a+b=\"c\\8, \u0073k/a, \u12"}`,
	}
	for in, want := range cases {
		if got := string(redactRaw([]byte(in), key)); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
	slashes := bytes.Repeat([]byte{'\\'}, 1<<20)
	if got := redactRaw(slashes, key); &got[0] != &slashes[0] {
		t.Error("an event without the key was copied")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	cases := map[string]time.Duration{
		"1.5": 1500 * time.Millisecond, "-3": 0, "NaN": 0, "1e99": maxRetryAfter, "soon": 0, "": 0,
		"Sun, 03 May 2026 12:00:30 GMT": 30 * time.Second, "Sun, 03 May 2026 11:00:00 GMT": 0,
	}
	for v, want := range cases {
		if got := retryAfter(http.Header{"Retry-After": {v}}, now); got != want {
			t.Errorf("%q is %s, want %s", v, got, want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	for _, c := range []struct {
		status int
		words  Words
		want   bool
	}{
		{400, Words{Message: "prompt is too long: 208310 tokens > 200000 maximum"}, true},
		{400, Words{Message: "input length and `max_tokens` exceed context limit: 1 + 2 > 3"}, true},
		{400, Words{Code: "context_length_exceeded"}, true},
		{400, Words{Message: "This model's maximum context length is 8192 tokens."}, true},
		{500, Words{Message: "the request exceeds the available context size"}, true},
		{400, Words{Message: "Trying to keep the first 9000 tokens when context the overflows (n_keep >= n_ctx)"}, true},
		{413, Words{}, true},
		{400, Words{Message: "length of prompt_tokens (140000) must be less than max_seq_len (131072)."}, true},
		{400, Words{Message: "temperature must be at most 2"}, false},
		{429, Words{Message: "too many tokens per minute"}, false},
	} {
		if got := classify(c.status, c.words).ContextTooLarge(); got != c.want {
			t.Errorf("%d %+v: %v", c.status, c.words, got)
		}
	}
}

func TestReadWords(t *testing.T) {
	for body, want := range map[string]Words{
		`{"error":{"message":"m","type":"t","code":"c"}}`:  {Type: "t", Code: "c", Message: "m"},
		`{"error":{"message":"m","code":404,"param":"p"}}`: {Code: "404", Message: "m", Param: "p"},
		`{"error":"just text"}`:                            {Message: "just text"},
		`{"object":"error","message":"m","type":"t"}`:      {Type: "t", Message: "m"},
		`{"detail":"d"}`:                                   {Message: "d"},
		`{"code":500,"msg":"404 NOT_FOUND"}`:               {Code: "500", Message: "404 NOT_FOUND"},
		`{"detail":[{"msg":"d"}]}`:                         {Message: `[{"msg":"d"}]`},
	} {
		if got, ok := ReadWords([]byte(body)); !ok || got != want {
			t.Errorf("%s gives %+v, %v", body, got, ok)
		}
	}
	for _, body := range []string{``, `nope`, `{}`, `[]`, `{"choices":[]}`, `{"code":0,"msg":"ok"}`, `{"code":200,"msg":"ok"}`} {
		if got, ok := ReadWords([]byte(body)); ok {
			t.Errorf("%s gives %+v", body, got)
		}
	}
}

func TestCancelledKeepsItsCause(t *testing.T) {
	for _, c := range []struct {
		cause error
		code  chat.Code
	}{
		{nil, chat.CodeCancelled},
		{context.DeadlineExceeded, chat.CodeTimeout},
		{chat.Errorf(chat.CodeTimeout, "turn.idle", "silent"), chat.CodeTimeout},
		{&llm.Error{Code: chat.CodeUnavailable}, chat.CodeUnavailable},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		e := Server{Base: "http://h"}.transportError(ctx, errors.New("use of closed connection"))
		if e.Code != c.code || c.cause != nil && !errors.Is(e, c.cause) {
			t.Errorf("%v gives %+v", c.cause, e)
		}
	}
}

// The message asks whether the server is running only if the user runs it.
func TestConnectionRefused(t *testing.T) {
	for base, want := range map[string]string{
		"http://localhost:11434/v1":    "nothing answers at localhost:11434; is the server running?",
		"http://127.0.0.1:8080":        "nothing answers at 127.0.0.1:8080; is the server running?",
		"http://192.168.1.5:8000/v1":   "nothing answers at 192.168.1.5:8000; is the server running?",
		"http://gpu:8000/v1":           "nothing answers at gpu:8000; is the server running?",
		"http://gpu.lan":               "nothing answers at gpu.lan; is the server running?",
		"https://api.openai.com/v1":    "nothing answers at api.openai.com; check the network connection",
		"https://203.0.113.7/v1":       "nothing answers at 203.0.113.7; check the network connection",
		"https://lan.example.test:444": "nothing answers at lan.example.test:444; check the network connection",
	} {
		if e := (Server{Base: base}).transportError(t.Context(), syscall.ECONNREFUSED); e.Message != want || e.Code != chat.CodeUnavailable || !e.Retry {
			t.Errorf("%s: %+v", base, e)
		}
	}
}

func TestVersionedBase(t *testing.T) {
	const vendor = "https://vendor.example/v1"
	for in, want := range map[string]string{
		"":                                        vendor,
		"http://localhost:11434":                  "http://localhost:11434/v1",
		"http://localhost:11434/":                 "http://localhost:11434/v1",
		"http://localhost:11434/v1/":              "http://localhost:11434/v1",
		"https://gate.way/openai/v2":              "https://gate.way/openai/v2",
		"https://h/v1/chat/completions":           "https://h/v1",
		"https://h/v1/responses/":                 "https://h/v1",
		" http://127.0.0.1:1/v1?api-version=x#y ": "http://127.0.0.1:1/v1?api-version=x",
		"http://127.0.0.1:1/v1?":                  "http://127.0.0.1:1/v1",
	} {
		if got, err := versionedBase(in, vendor); err != nil || got != want {
			t.Errorf("%q gives %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"localhost:11434", "ftp://h/v1", "http://", "://", "/v1"} {
		if _, err := versionedBase(in, vendor); err == nil {
			t.Errorf("%q was accepted", in)
		}
	}
}

func BenchmarkEventReader(b *testing.B) {
	stream := strings.Repeat("event: response.output_text.delta\ndata: "+strings.Repeat("x", 200)+"\n\n", 1000)
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		if events, err := readAll(strings.NewReader(stream)); err != nil || len(events) != 1000 {
			b.Fatal(len(events), err)
		}
	}
}

// The numbers in rejections, in the wording of the vendors and servers that state them.
func TestSizesOfARefusal(t *testing.T) {
	for words, want := range map[string][2]int{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.":                    {8192, 9000},
		"This model's maximum context length is 4097 tokens, however you requested 5300 tokens (4300 in your prompt; 1000 for the completion). Please reduce your prompt.": {3097, 4300},
		"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).":                           {4192, 5000},
		"This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages.":               {32768, 40000},
		"prompt is too long: 210000 tokens > 200000 maximum":                                                                              {200000, 210000},
		"input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again": {191808, 195000},
		"request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it":                                       {4096, 9000},
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":                                         {1048576, 1200000},
		"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length":                          {32768, 40000},
		"Your input exceeds the maximum context length of 128,000 tokens.":                                                                {128000, 0},
		"prompt too long; exceeded max context length by 1200 tokens":                                                                     {0, 0},
		"invalid params, context window exceeds limit (2013)":                                                                             {0, 0},
		"length of prompt_tokens (140000) must be less than max_seq_len (131072).":                                                        {131072, 140000},
		"Your input exceeds the context window of this model.":                                                                            {0, 0},
		"the request exceeds the available context size, try increasing it":                                                               {0, 0},
		"": {0, 0},
		"prompt is too long: 99999999999999999999999999 tokens > 88888888888888888888888888 maximum": {0, 0},
	} {
		limit, counted := sizes(words)
		if limit != want[0] || counted != want[1] {
			t.Errorf("%q: limit %d, counted %d, want %v", words, limit, counted, want)
		}
	}
}

// An event with very many small values would need far more memory than its text and is rejected; a long text is not,
// whatever it contains.
func TestDenseEvents(t *testing.T) {
	for data, want := range map[string]bool{
		`{"a":[` + strings.Repeat(`{},`, maxValues) + `{}]}`:       true,
		`[` + strings.Repeat(`1,`, maxValues) + `1]`:               true,
		strings.Repeat(`[`, 2*maxValues):                           true,
		`{"a":"` + strings.Repeat(`{[,\",{`, maxValues) + `"}`:     false,
		`{"a":"` + strings.Repeat(`\\`, maxValues) + `","b":[{}]}`: false,
	} {
		if tooDense([]byte(data)) != want {
			t.Errorf("%.30s… of %d bytes is too dense: %v", data, len(data), !want)
		}
	}
	for _, kind := range []string{"application/json", "text/event-stream"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, "data: "[:6*strings.Count(kind, "event")]+`{"output":[`+strings.Repeat(`{},`, maxValues)+"{}]}\n\n")
		}))
		s := Server{Client: Client(nil), Base: srv.URL}
		err := s.Stream(t.Context(), "/", nil, func(chat.RawEvent) error { return errors.New("the event was passed on") })
		if err == nil || !strings.Contains(err.Error(), errEventTooLarge.Error()) {
			t.Errorf("%s: %v", kind, err)
		}
		srv.Close()
	}
}
