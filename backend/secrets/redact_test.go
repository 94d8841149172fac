package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
)

func TestRedactShapes(t *testing.T) {
	var r *Redactor // shapes need no known key
	cases := map[string]string{
		"":                                            "",
		"nothing here about a monkey":                 "nothing here about a monkey",
		"task-force-one-two-three-four":               "task-force-one-two-three-four",
		"No API key: paste one":                       "No API key: paste one",
		"budget.compact_at=0.85":                      "budget.compact_at=0.85",
		"used sk-proj-abcdefghijklmnop_qrst now":      "used [redacted] now",
		"(sk-ant-api03-abcdefghijklmnop)":             "([redacted])",
		"key AIzaSyA0123456789abcdefghijklmnopqrstu!": "key [redacted]!",
		"Authorization: Bearer abcdefgh12345678":      "Authorization: [redacted]",
		"sent bearer abcdefgh12345678, refused":       "sent bearer [redacted], refused",
		`{"x-api-key":"0123456789","n":1}`:            `{"x-api-key":"[redacted]","n":1}`,
		`{\"api_key\": \"0123456789\"}`:               `{\"api_key\": \"[redacted]\"}`,
		"GET /v1?api_key=0123456789&x=1":              "GET /v1?api_key=[redacted]&x=1",
		"AKIAIOSFODNN7EXAMPLE":                        "[redacted]",
		"gsk_abcdefghijklmnop1234":                    "[redacted]",
	}
	for in, want := range cases {
		if got := r.Redact(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestRedactKnownKeysInEveryForm(t *testing.T) {
	const key = `can/ary+"1<2>&3=`
	r := NewRedactor()
	r.Add(key)
	r.Add("short")                  // too short to be replaced everywhere
	r.Add("canary-key")             //
	r.Add("canary-key-with-a-tail") // contains the previous one
	in := fmt.Sprintf("%s %q %s %s canary-key-with-a-tail short", key, key, url.QueryEscape(key), url.PathEscape(key))
	got := r.Redact(in)
	for _, leak := range []string{"can/ary", "ary%2B", "-tail", "canary"} {
		if strings.Contains(got, leak) {
			t.Errorf("%q leaks %q", got, leak)
		}
	}
	if !strings.HasSuffix(got, " short") {
		t.Errorf("got %q", got)
	}
}

func TestUserPatterns(t *testing.T) {
	r := NewRedactor()
	r.SetPatterns([]string{`proj-\d+`, `(`, `x*`})
	if got := r.Redact("see proj-42 and xx"); got != "see [redacted] and xx" {
		t.Fatal(got)
	}
	r.SetPatterns(nil)
	if got := r.Redact("see proj-42"); got != "see proj-42" {
		t.Fatal(got)
	}
}

func TestErrorsAreRedactedAndStillUnwrap(t *testing.T) {
	r := NewRedactor()
	r.Add(canary)
	inner := fmt.Errorf("server said %s: %w", canary, io.ErrUnexpectedEOF)
	cases := map[string]error{
		"plain":         inner,
		"chat":          chat.WrapError(chat.CodeAuth, "op", inner, "refused %s", canary).WithHint("not %s", canary),
		"chat, wrapped": fmt.Errorf("outer: %w", chat.WrapError(chat.CodeAuth, "op", inner, "")),
		"cause only":    chat.WrapError(chat.CodeAuth, "op", inner, "refused"),
		"joined":        errors.Join(errors.New("first"), inner),
	}
	for name, err := range cases {
		t.Run(name, func(t *testing.T) {
			got := r.Error(err)
			if !errors.Is(got, io.ErrUnexpectedEOF) {
				t.Error("errors.Is no longer finds the cause")
			}
			if chat.CodeOf(got) != chat.CodeOf(err) {
				t.Errorf("code %q, was %q", chat.CodeOf(got), chat.CodeOf(err))
			}
			for e := got; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(fmt.Sprintf("%v %+v", e, e), canary) {
					t.Errorf("leaks in %T", e)
				}
			}
			if ce, ok := errors.AsType[*chat.Error](got); ok && strings.Contains(fmt.Sprintf("%+v %v", *ce, ce.Err), canary) {
				t.Error("the chat.Error inside leaks")
			}
		})
	}
	if clean := errors.New("clean"); r.Error(clean) != clean || r.Error(nil) != nil { //nolint:errorlint // the same value, not an equal one
		t.Error("an error without secrets was changed")
	}
}

type stringer struct{ s string }

func (s stringer) String() string { return s.s }

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.StringValue("valued " + canary) }

// The canary does not reach the log, however it is passed.
func TestLogHandler(t *testing.T) {
	for name, inner := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRedactor()
			r.Add(canary)
			r.Add("opaque-canary")
			var out bytes.Buffer
			log := slog.New(r.Handler(inner(&out)))
			log.With("with", canary).WithGroup("g").Error("message "+canary,
				"string", canary, "error", errors.New("e "+canary), "bytes", []byte(canary), "stringer", stringer{canary},
				"struct", struct{ hidden string }{canary}, "map", map[string]any{"a": []string{canary}},
				"valuer", valuer{}, slog.Group("sub", "deep", canary), "password", 12345, canary, "as a name", "number", 7, "nil", nil)
			got := out.String()
			if strings.Contains(got, canary) || strings.Contains(got, "12345") {
				t.Fatal(got)
			}
			if !strings.Contains(got, "message") || !strings.Contains(got, "7") || strings.Count(got, Redacted) < 10 {
				t.Fatalf("too much was removed: %s", got)
			}
		})
	}
}

func TestRedactorIsSafeForConcurrentUse(t *testing.T) {
	r := NewRedactor()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			key := fmt.Sprintf("concurrent-key-%d", i)
			r.Add(key)
			if got := r.Redact(key); got != Redacted {
				t.Errorf("%q", got)
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		if got := r.Redact(fmt.Sprintf("concurrent-key-%d", i)); got != Redacted {
			t.Errorf("lost: %q", got)
		}
	}
}

func BenchmarkRedactLogLine(b *testing.B) {
	r := NewRedactor()
	r.Add(canary)
	line := strings.Repeat("turn finalized in 12 ms, 3 steps; ", 6)
	for b.Loop() {
		r.Redact(line)
	}
}
