package chat

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzMessage checks that any JSON gives a message or an error, and that a message has valid text and a valid title and
// is encoded in the same way after it was decoded.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		`{"role":"user","blocks":[{"type":"text","text":"a <b>"}]}`, `{"role":"assistant","blocks":[{"type":"tool_use","tool_use_id":"t","name":"n","input":{"a":1}},{"type":"new","x":[1]}]}`,
		`{"role":"user","blocks":[{"type":"unknown","provider":"p","raw":{"a": 1}},{"type":"unknown","raw_text":"/w=="},{"type":"image","source":{"url":"x"}}]}`,
		`{"role":"user","blocks":[{"type":"tool_result","content":[{"type":"text","text":"\ud800"}]},{"type":"document","name":"d","text":"t"},{"type":"memory","chunk_id":"c"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Message
		if json.Unmarshal(data, &m) != nil {
			return
		}
		stored, err := MarshalJSON(m)
		if err != nil {
			return // no adapter creates an item without its JSON
		}
		var back Message
		if err := json.Unmarshal(stored, &back); err != nil {
			t.Fatalf("%s cannot be decoded again: %v", stored, err)
		}
		if again, err := MarshalJSON(back); err != nil || !bytes.Equal(again, stored) {
			t.Fatalf("%s became %s, %v", stored, again, err)
		}
		if text := m.RenderedText(); !utf8.ValidString(text) || !utf8.ValidString(TitleFrom(text)) {
			t.Fatalf("the text is %q", text)
		}
		if raw := RawJSON(data); !json.Valid(raw) {
			t.Fatalf("%q is not JSON", raw)
		}
	})
}
