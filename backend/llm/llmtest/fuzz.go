package llmtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// FuzzStream feeds arbitrary responses to an adapter: the result is events or a classified error, independent of how
// the bytes are split, of a size proportional to them, and without the key.
func FuzzStream(f *testing.F, h Harness) {
	for _, events := range [][]chat.RawEvent{
		h.Wire.Text, h.Wire.TwoItems, h.Wire.Reasoning, h.Wire.Refusal, h.Wire.ToolCall, h.Wire.Unknown, h.Wire.ErrorEvent,
		h.Wire.DuplicateStart, h.Wire.EmptyDelta, h.Wire.Truncated, h.Wire.Surrogates, h.Wire.Step(berlin("resp_1")),
	} {
		body := []byte(strings.Join(Stream(events...).Chunks, ""))
		f.Add(byte(0), byte(0), body)
		f.Add(byte(0), byte(0), body[:len(body)/2])
	}
	f.Add(byte(0), byte(1), []byte(h.Wire.Unstreamed))
	f.Add(byte(0), byte(2), []byte("<!doctype html><p>Sign in</p>"))
	f.Add(byte(2), byte(1), []byte(h.Wire.ErrorBody("x", "refused, the key is "+Key)))
	f.Add(byte(0), byte(0), []byte("data: {\"type\":\"error\",\"message\":\""+Key+"\"}\n\n"))
	f.Fuzz(func(t *testing.T, status, kind byte, body []byte) {
		r := reply{status: replyStatus[int(status)%len(replyStatus)], kind: replyKinds[int(kind)%len(replyKinds)], body: body}
		events, err := r.stream(h, func(b io.Reader) io.Reader { return b })
		bytewise, bytewiseErr := r.stream(h, iotest.OneByteReader)
		if !reflect.DeepEqual(events, bytewise) || !reflect.DeepEqual(err, bytewiseErr) {
			t.Fatalf("the result depends on how the bytes are split: %v, %v and %v, %v", events, err, bytewise, bytewiseErr)
		}
		checkReplyError(t, err)
		broken, err := r.stream(h, func(b io.Reader) io.Reader { return io.MultiReader(b, iotest.ErrReader(io.ErrUnexpectedEOF)) })
		checkReplyError(t, err)
		if len(broken) > len(events) {
			t.Fatalf("%d events of a connection that broke, %d of a complete one", len(broken), len(events))
		}
		checkReplyEvents(t, h, events, len(body))
	})
}

var (
	replyStatus = []int{http.StatusOK, http.StatusTooManyRequests, http.StatusBadRequest, http.StatusFound, http.StatusServiceUnavailable}
	replyKinds  = []string{"text/event-stream", "application/json", "text/html", ""}
)

// reply is a response without a server.
type reply struct {
	status int
	kind   string
	body   []byte
}

// stream returns the adapter's result for this response, whose body is read through wrap.
func (r reply) stream(h Harness, wrap func(io.Reader) io.Reader) ([]chat.RawEvent, error) {
	ep := h.Endpoint("http://127.0.0.1:9")
	ep.Key, ep.Stream = Key, true
	p := h.New(&http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: r.status, Header: http.Header{"Content-Type": {r.kind}}, Request: req,
			Body: io.NopCloser(wrap(bytes.NewReader(r.body)))}, nil
	})})
	var got []chat.RawEvent
	err := p.Stream(context.Background(), ep, []byte("{}"), func(ev chat.RawEvent) error {
		got = append(got, ev)
		return nil
	})
	return got, err
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// maxErrorText limits the text of an error, which may quote a response, in bytes.
const maxErrorText = 4 << 10

func checkReplyError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var e *llm.Error
	if !errors.As(err, &e) || e.Code == "" || e.Error() == "" {
		t.Fatalf("error %#v does not say what it is", err)
	}
	if text := e.Error(); !utf8.ValidString(text) || strings.Contains(text, Key) || len(text) > maxErrorText {
		t.Fatalf("error of %d bytes: %q", len(text), text[:min(len(text), maxErrorText)])
	}
}

func checkReplyEvents(t *testing.T, h Harness, events []chat.RawEvent, size int) {
	t.Helper()
	total := 0
	for _, ev := range events {
		total += len(ev.Data)
		if bytes.Contains(ev.Data, []byte(Key)) {
			t.Fatalf("the key is in %q", ev.Data)
		}
	}
	if total > 2*size {
		t.Fatalf("%d bytes became events of %d", size, total)
	}
	for _, mode := range []llm.ToolsMode{llm.ToolsDisabled, llm.ToolsParseOnly} {
		played := Play(t, h.New(nil), mode, events)
		blocks, err := chat.MarshalJSON(played.Result.Blocks)
		if err != nil || len(blocks) > 32*size+1024 { // a control character takes six bytes, twice in a block kept raw
			t.Fatalf("%d bytes became blocks of %d, %v", size, len(blocks), err)
		}
	}
}

// FuzzDecoder feeds arbitrary events to a decoder: its guarantees hold, and its text is valid UTF-8.
func FuzzDecoder(f *testing.F, h Harness) {
	for _, path := range streams(f) {
		var lines []string
		for _, ev := range ReadRecording(f, path) {
			lines = append(lines, string(ev.Data))
		}
		f.Add(strings.Join(lines, "\n"), true)
	}
	f.Add(h.Wire.Unstreamed, false)
	var called []string
	for _, ev := range h.Wire.Step(berlin("resp_1")) {
		called = append(called, string(ev.Data))
	}
	f.Add(strings.Join(called, "\n"), true)
	p := h.New(nil)
	f.Fuzz(func(t *testing.T, stream string, streamed bool) {
		events := []chat.RawEvent{{Type: llm.EventResponse, Data: []byte(stream)}}
		if streamed {
			events = Events(strings.Split(stream, "\n")...)
		}
		for _, mode := range []llm.ToolsMode{llm.ToolsDisabled, llm.ToolsParseOnly} {
			if played := Play(t, p, mode, events); !utf8.ValidString(played.Result.Text()) {
				t.Fatal("the text is not valid UTF-8")
			}
		}
		checkSentBack(t, h, Play(t, p, llm.ToolsEnabled, events).Result)
	})
}
