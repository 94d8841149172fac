package prompt

import (
	"bytes"
	"encoding/json"

	"contextinfinity/backend/chat"
)

// RedactJSON takes secrets out of the texts in a JSON value. What holds none stays byte for
// byte.
func RedactJSON(raw json.RawMessage, redact func(string) string) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		out, _ := chat.MarshalJSON(redact(string(raw)))
		return out
	}
	changed := false
	value = redactValue(value, func(s string) string {
		clean := redact(s)
		changed = changed || clean != s
		return clean
	})
	if !changed {
		return raw
	}
	out, err := chat.MarshalJSON(value)
	if err != nil { // it was JSON a moment ago
		return json.RawMessage("{}")
	}
	return out
}

func redactValue(value any, redact func(string) string) any {
	switch v := value.(type) {
	case string:
		return redact(v)
	case []any:
		for i := range v {
			v[i] = redactValue(v[i], redact)
		}
	case map[string]any:
		for name, field := range v {
			v[name] = redactValue(field, redact)
		}
	}
	return value
}
