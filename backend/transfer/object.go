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
		i += bytes.IndexByte(raw[i:], ':') + 1
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
	var l lexer
	for start := i; i < len(raw); i++ {
		if i = skipText(l, raw, i); l == (lexer{}) && i > start && ends(raw[i]) {
			return i
		}
		if l.take(raw[i]) {
			return i + 1
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
