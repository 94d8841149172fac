package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Text collects a text from pieces that arrive as JSON strings. A character outside the Basic Multilingual Plane
// may be split between events into the halves of a surrogate pair: the first half is held back until the second
// arrives, so that no broken character is ever shown.
type Text struct {
	built strings.Builder
	runes int
	held  []byte // an escaped high surrogate at the end of the last piece
}

// Append adds a piece and returns the text that became visible, always valid UTF-8. Anything but a JSON string adds
// nothing.
func (t *Text) Append(raw json.RawMessage) string {
	inner, ok := quoted(raw)
	if !ok || len(inner) == 0 {
		return ""
	}
	if t.held != nil {
		inner = append(t.held, inner...)
		t.held = nil
	}
	if endsInHighSurrogate(inner) {
		cut := len(inner) - 6
		t.held = bytes.Clone(inner[cut:])
		inner = inner[:cut]
	}
	s := unescape(inner)
	t.AppendString(s)
	return s
}

// AppendString adds decoded text.
func (t *Text) AppendString(s string) {
	t.built.WriteString(s)
	t.runes += utf8.RuneCountInString(s)
}

// Runes returns the length in characters.
func (t *Text) Runes() int { return t.runes }

func (t *Text) String() string { return t.built.String() }

// Len returns the length in bytes.
func (t *Text) Len() int { return t.built.Len() }

// Unquote decodes a JSON string; for anything else it returns "".
func Unquote(raw json.RawMessage) string {
	inner, ok := quoted(raw)
	if !ok {
		return ""
	}
	return unescape(inner)
}

func quoted(raw json.RawMessage) ([]byte, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

func unescape(inner []byte) string {
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	literal := make([]byte, 0, len(inner)+2)
	literal = append(append(append(literal, '"'), inner...), '"')
	var s string
	_ = json.Unmarshal(literal, &s)
	return s
}

// endsInHighSurrogate reports whether the last escape is \uD800 to \uDBFF.
func endsInHighSurrogate(inner []byte) bool {
	n := len(inner) - 6
	if n < 0 || inner[n] != '\\' || inner[n+1] != 'u' || (inner[n+2]|0x20) != 'd' {
		return false
	}
	if c := inner[n+3] | 0x20; c != '8' && c != '9' && c != 'a' && c != 'b' {
		return false
	}
	backslashes := 0
	for i := n; i >= 0 && inner[i] == '\\'; i-- {
		backslashes++
	}
	return backslashes%2 == 1
}
