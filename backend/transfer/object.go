package transfer

import (
	"bytes"
	"encoding/json"
)

// member is a member of an object, in source order.
type member struct {
	key   string
	value json.RawMessage // a slice of the object
}

// members lists the members of a JSON object in order, including all members with the same name, of which a map would
// keep only one. For other JSON it is empty.
func members(raw json.RawMessage) []member {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var out []member
	for i := 1; i < len(raw); {
		if raw[i] != '"' {
			i++ // space, a comma, or the end
			continue
		}
		var m member
		m.key, i = textAt(raw, i)
		for raw[i] != ':' {
			i++
		}
		i++
		for isSpace(raw[i]) {
			i++
		}
		end := valueEnd(raw, i)
		m.value = raw[i:end]
		out = append(out, m)
		i = end
	}
	return out
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }

// valueEnd is the end of the value at i, in valid JSON.
func valueEnd(raw []byte, i int) int {
	depth, inString := 0, false
	for start := i; i < len(raw); i++ {
		if inString {
			if n := textRun(raw[i:]); n > 0 {
				i += n - 1
				continue
			}
		}
		b := raw[i]
		switch {
		case inString && b == '\\':
			i++
		case b == '"':
			if inString = !inString; !inString && depth == 0 {
				return i + 1
			}
		case inString:
		case b == '{' || b == '[':
			depth++
		case depth == 0 && i > start && (isSpace(b) || b == ',' || b == '}' || b == ']'):
			return i
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(raw)
}

// valueOf is a member's value; for duplicates the last one, like a decoder.
func valueOf(raw json.RawMessage, key string) json.RawMessage {
	all := members(raw)
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].key == key {
			return all[i].value
		}
	}
	return nil
}
