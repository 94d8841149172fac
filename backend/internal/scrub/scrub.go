// Package scrub takes secrets out of JSON, and out of texts in which JSON is quoted: there the
// same secret can be written with escapes, which a search of the bytes does not see.
//
// Guarantee: valid JSON stays valid, and what holds no secret stays byte for byte.
package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// JSON takes secrets out of the texts in a JSON value, and out of the names of its fields. What
// is not JSON becomes a JSON string.
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
	v = value(v, func(s string) string {
		clean := Text(s, redact)
		changed = changed || clean != s
		return clean
	})
	if !changed {
		return raw
	}
	out, err := chat.MarshalJSON(v)
	if err != nil { // it was JSON a moment ago
		return json.RawMessage("{}")
	}
	return out
}

// value redacts a decoded value.
func value(v any, redact func(string) string) any {
	switch v := v.(type) {
	case string:
		return redact(v)
	case []any:
		for i := range v {
			v[i] = value(v[i], redact)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names) // two that become one name are numbered the same way each time
		for _, name := range names {
			field, clean := value(v[name], redact), redact(name)
			delete(v, name)
			v[free(v, clean)] = field
		}
	}
	return v
}

// free is a name that an object does not have yet.
func free(object map[string]any, name string) string {
	out := name
	for n := 2; ; n++ {
		if _, taken := object[out]; !taken {
			return out
		}
		out = fmt.Sprintf("%s %d", name, n)
	}
}

// depth is how often JSON is looked for in the texts of JSON.
const depth = 4

// Text takes secrets out of a text, also where they are in quoted JSON: whole, as a line of a
// log, or in the middle of other words.
func Text(text string, redact func(string) string) string {
	return segments(redact(text), redact, depth)
}

// segments looks at each part of a text that could be the inside of a JSON string: it has
// escapes, and neither a bare quotation mark nor a control character.
func segments(text string, redact func(string) string, depth int) string {
	if depth == 0 || !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		end := segment(text)
		b.WriteString(unescaped(text[:end], redact, depth))
		if text = text[end:]; len(text) > 0 {
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}

// segment is where such a part ends.
func segment(text string) int {
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

// unescaped redacts what the escapes of a part represent, and writes it with escapes again if
// there was something.
func unescaped(part string, redact func(string) string, depth int) string {
	var plain string
	if !strings.Contains(part, `\`) || json.Unmarshal([]byte(`"`+part+`"`), &plain) != nil {
		return part
	}
	clean := segments(redact(plain), redact, depth-1)
	if clean == plain {
		return part
	}
	out, _ := chat.MarshalJSON(clean) // a string is always JSON
	return string(out[1 : len(out)-1])
}
