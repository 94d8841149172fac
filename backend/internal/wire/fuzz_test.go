package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/llm"
)

// FuzzText: a text that arrives as JSON strings, split anywhere, is valid UTF-8 at any time; the pieces shown add up
// to it, and the result is what a JSON decoder reads.
func FuzzText(f *testing.F) {
	f.Add(`"plain `, `text"`, 3)
	f.Add(`"\ud83d\ude00"`, `"\ud83d"`, 7)
	f.Add("\"\xff\xf0\x9f\"", `"\\ud83d"`, 1)
	f.Add(`"a"`, `null`, 0)
	f.Fuzz(func(t *testing.T, a, b string, cut int) {
		var text Text
		var shown strings.Builder
		for _, piece := range []string{a, b, a + b} {
			s := text.Append([]byte(piece))
			if !utf8.ValidString(s) {
				t.Fatalf("%q is shown as %q", piece, s)
			}
			shown.WriteString(s)
		}
		if shown.String() != text.String() || text.Len() != len(text.String()) {
			t.Fatalf("shown %q, kept %q", shown.String(), text.String())
		}
		var want string
		if json.Unmarshal([]byte(a), &want) != nil || len(a) < 2 || a[0] != '"' {
			return
		}
		if got := Unquote([]byte(a)); got != want {
			t.Fatalf("%q is %q, want %q", a, got, want)
		}
		inner := a[1 : len(a)-1]
		if cut < 0 || cut > len(inner) || !json.Valid([]byte(`"`+inner[:cut]+`"`)) || !utf8.ValidString(inner) || !utf8.ValidString(inner[:cut]) {
			return
		}
		var parts Text
		parts.Append([]byte(`"` + inner[:cut] + `"`))
		parts.Append([]byte(`"` + inner[cut:] + `"`))
		if held := parts.held != nil; !held && parts.String() != want {
			t.Fatalf("%q cut at %d is %q, want %q", a, cut, parts.String(), want)
		}
	})
}

// FuzzFailure: whatever a server responds to a rejected request, the error is readable, of limited length and without
// the key; so is a list of models.
func FuzzFailure(f *testing.F) {
	const key = "sk-canary-4f9a1c77d2e84b0fa6"
	for _, s := range []string{
		`{"error":{"message":"overloaded","type":"server_error","code":503}}`, `{"detail":[{"msg":"x"}]}`, `"words"`, `[]`, `{"error":"` + key + `"}`,
		"<html><body>502 Bad Gateway</body></html>", "\x1b[31mred\x00", `{"error":{"message":{"deep":["` + strings.Repeat("x", 9000) + `"]}}}`, "",
	} {
		f.Add(429, "30", []byte(s))
		f.Add(400, "", []byte(s))
	}
	f.Add(200, "", []byte(`{"data":[{"id":"m"},{"id":7}],"has_more":true,"last_id":"m"}`))
	f.Fuzz(func(t *testing.T, status int, after string, body []byte) {
		answer := func() *http.Response {
			return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {after}}, Body: io.NopCloser(strings.NewReader(string(body)))}
		}
		server := Server{Endpoint: llm.Endpoint{Key: key}, Base: "http://127.0.0.1:9"}
		server.Client = Client(&http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return answer(), nil })})
		e := server.responseError(t.Context(), answer())
		if e.Code == "" || e.Message == "" || !utf8.ValidString(e.Message+e.Type) || len(e.Message) > 4<<10 || e.RetryAfter < 0 {
			t.Fatalf("%d %q: %+v", status, body, e)
		}
		if strings.Contains(e.Message+e.Type+e.Error(), key) {
			t.Fatalf("the key is in %q", e.Message)
		}
		ids, _, err := server.Models(t.Context(), "/models")
		if err == nil && len(ids) > len(body) {
			t.Fatalf("%d models in %d bytes", len(ids), len(body))
		}
	})
}
