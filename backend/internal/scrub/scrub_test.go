package scrub

import (
	"encoding/json"
	"strings"
	"testing"
)

// hide replaces a secret that JSON encodes with escapes.
func hide(s string) string { return strings.ReplaceAll(s, "pa\"ss\\wörd<", "[redacted]") }

func TestTextThatQuotesJSON(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    ``,
		`plain pa"ss\wörd< words`:             `plain [redacted] words`,
		`{"a":"pa\"ss\\wörd<"}`:               `{"a":"[redacted]"}`,
		`{"a":"x pa\"ss\\w\u00f6rd\u003c y"}`: `{"a":"x [redacted] y"}`,
		`{"pa\"ss\\w\u00f6rd\u003c":1}`:       `{"[redacted]":1}`,
		`sent: {"a": "\u0070a\"ss\\wörd<"} in 3 ms` + "\n": `sent: {"a": "[redacted]"} in 3 ms` + "\n",
		`{"inner":"{\"a\":\"pa\\\"ss\\\\w\\u00f6rd<\"}"}`:  `{"inner":"{\"a\":\"[redacted]\"}"}`,
		`C:\Users\x and "quotes" \u00e4`:                   `C:\Users\x and "quotes" \u00e4`,
		`{"kept":"\u00e4 \/ \n"}`:                          `{"kept":"\u00e4 \/ \n"}`,
		`ends with a \`:                                    `ends with a \`,
	} {
		got := Text(text, hide)
		if got != want {
			t.Errorf("%s became %s", text, got)
		}
		if json.Valid([]byte(text)) && !json.Valid([]byte(got)) {
			t.Errorf("%s is no longer JSON: %s", text, got)
		}
	}
}

func TestJSONStaysJSON(t *testing.T) {
	for raw, want := range map[string]string{
		`{"b": 1,  "a":"x"}`: `{"b": 1,  "a":"x"}`,
		`{"n":1.50,"enum":["ok","pa\"ss\\wörd<"],"deep":{"title":"the pa\"ss\\w\u00f6rd< one"}}`: `{"deep":{"title":"the [redacted] one"},"enum":["ok","[redacted]"],"n":1.50}`,
		`{"pa\"ss\\wörd<":1,"[redacted]":2}`:                                                     `{"[redacted]":2,"[redacted] 2":1}`,
		`no JSON pa"ss\wörd<`:                                                                    `"no JSON [redacted]"`,
	} {
		if got := string(JSON(json.RawMessage(raw), hide)); got != want {
			t.Errorf("%s became %s", raw, got)
		}
	}
}
