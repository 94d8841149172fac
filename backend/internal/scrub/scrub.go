// Package scrub removes secrets from JSON and from texts that quote JSON. A secret may be escaped there, so a plain
// search of the bytes would not find it.
//
// Guarantee: valid JSON stays valid, and a text without secrets stays unchanged.
package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// JSON removes secrets from the texts and field names of a JSON value. Invalid JSON becomes a JSON string.
func JSON(raw json.RawMessage, redact func(string) string) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		out, _ := chat.MarshalJSON(redact(string(raw)))
		return out
	}
	changed := false
	v = redactValue(v, func(s string) string {
		clean := Text(s, redact)
		changed = changed || clean != s
		return clean
	})
	if !changed {
		return raw
	}
	out, err := chat.MarshalJSON(v)
	if err != nil { // it was valid JSON before
		return json.RawMessage("{}")
	}
	return out
}

// redactValue redacts a decoded value.
func redactValue(v any, redact func(string) string) any {
	switch v := v.(type) {
	case string:
		return redact(v)
	case []any:
		for i := range v {
			v[i] = redactValue(v[i], redact)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names) // sorted, so that duplicate names are numbered the same way each time
		for _, name := range names {
			field, clean := redactValue(v[name], redact), redact(name)
			delete(v, name)
			v[unusedName(v, clean)] = field
		}
	}
	return v
}

// unusedName returns name, numbered if the object already has a field of that name.
func unusedName(object map[string]any, name string) string {
	out := name
	for n := 2; ; n++ {
		if _, taken := object[out]; !taken {
			return out
		}
		out = fmt.Sprintf("%s %d", name, n)
	}
}

// maxDepth is how many levels of JSON quoted inside JSON are searched.
const maxDepth = 4

// Text removes secrets from a text, including quoted JSON: the whole text, as in a log line, or a part of it.
func Text(text string, redact func(string) string) string {
	return redactSegments(redact(text), redact, maxDepth)
}

// redactSegments calls redact for each part of a text that could be the inside of a JSON string: it has escapes, and
// neither a bare quotation mark nor a control character.
func redactSegments(text string, redact func(string) string, depth int) string {
	if depth == 0 || !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		end := segmentEnd(text)
		b.WriteString(redactSegment(text[:end], redact, depth))
		if text = text[end:]; len(text) > 0 {
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}

// segmentEnd returns where such a part ends.
func segmentEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"' || c < ' ':
			return i
		}
	}
	return len(text)
}

// redactSegment redacts the unescaped content of a part, and escapes it again if it contained a secret.
func redactSegment(part string, redact func(string) string, depth int) string {
	var plain string
	if !strings.Contains(part, `\`) || json.Unmarshal([]byte(`"`+part+`"`), &plain) != nil {
		return part
	}
	clean := redactSegments(redact(plain), redact, depth-1)
	if clean == plain {
		return part
	}
	out, _ := chat.MarshalJSON(clean) // a string can always be encoded
	return string(out[1 : len(out)-1])
}
