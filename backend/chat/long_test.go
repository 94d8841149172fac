package chat_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// longTexts returns texts that are difficult to encode in pieces, by name.
func longTexts() map[string]string {
	return map[string]string{
		"plain":          strings.Repeat("All work and no play. ", 400),
		"escapes":        strings.Repeat("a \"quoted\" line\n\tand \\ <b>&\u2028\x00\x1f", 300),
		"several bytes":  strings.Repeat("x", 4<<10-1) + strings.Repeat("日本語😀é", 400),
		"not UTF-8":      strings.Repeat("\xff\xfe\x80\x80\x80\x80\x80ok", 900),
		"only escapes":   strings.Repeat("\n", 9_000),
		"a placeholder":  "\x00long 0\x00" + strings.Repeat("y", 9_000),
		"surrogate pair": strings.Repeat(`\ud83d\ude00`, 800),
	}
}

func written(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A long message is written in pieces with the same bytes as MarshalJSON, and read with the same result as Unmarshal.
func TestLongTextsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	for name, text := range longTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocks := chat.Blocks{
				chat.Reasoning{Provider: "p", Summary: text, Raw: json.RawMessage(`{"a":[1]}`)}, chat.Text{Text: "short"},
				chat.Text{Text: text}, chat.ToolUse{Name: "n", Input: chat.RawJSON([]byte(text))}, chat.Refusal{Text: text},
				chat.Text{Text: "\x00long 1\x00"},
			}
			for _, n := range []int{0, 3, 5, 6, -1} { // the last two contain a text like a placeholder
				blocks := slices.Clone(blocks)
				if n < 0 {
					blocks[1] = chat.Text{Text: "\x00long 0\x00"}
					n = 3
				}
				m := chat.Message{Role: chat.RoleAssistant, Blocks: blocks[:n]}
				want, err := chat.MarshalJSON(m)
				if err != nil {
					t.Fatal(err)
				}
				if got := written(t, func(b *bytes.Buffer) error { return m.WriteJSON(b) }); got != string(want) {
					t.Fatalf("with %d blocks the written JSON differs", n)
				}
				var decoded chat.Message
				if err := json.Unmarshal(want, &decoded); err != nil {
					t.Fatal(err)
				}
				if got, err := chat.DecodeMessage(string(want)); err != nil || !reflect.DeepEqual(got, decoded) {
					t.Errorf("with %d blocks a different message is read (%v)", n, err)
				}
				items := chat.Items{
					chat.AssistantMessage{Blocks: blocks[:n]}, chat.ReasoningItem{Summary: text, Raw: json.RawMessage("{ \"a\" :\n[1]}")},
					chat.AssistantMessage{}, chat.ToolOutput{CallID: "c", Output: chat.RawJSON([]byte(text))}, chat.UnknownItem{},
				}[:n%6]
				want, err = chat.MarshalJSON(items)
				if err != nil {
					t.Fatal(err)
				}
				if got := written(t, func(b *bytes.Buffer) error { return items.WriteJSON(b) }); got != string(want) {
					t.Errorf("with %d blocks the written items differ", n)
				}
				var readItems chat.Items
				if err := json.Unmarshal(want, &readItems); err != nil {
					t.Fatal(err)
				}
				if got, err := chat.DecodeItems(string(want)); err != nil || !reflect.DeepEqual(got, readItems) {
					t.Errorf("with %d blocks different items are read (%v)", n, err)
				}
			}
		})
	}
}

// Invalid messages are refused, as by json.Unmarshal.
func TestLongMessagesThatAreDamagedAreRefused(t *testing.T) {
	t.Parallel()
	encoded, err := chat.MarshalJSON(chat.AssistantText(strings.Repeat("word \n", 2_000)))
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{
		string(encoded[:len(encoded)-1]), string(encoded[:len(encoded)/2]), string(encoded[:len(encoded)/2]) + "\n" + string(encoded[len(encoded)/2:]),
		string(encoded) + "x", strings.Replace(string(encoded), `\n`, `\q`, 1), strings.Replace(string(encoded), `\n`, `\u12`, 1),
	} {
		want := json.Unmarshal([]byte(damaged), &chat.Message{})
		if _, err := chat.DecodeMessage(damaged); (err == nil) != (want == nil) {
			t.Errorf("it is read with %v, want %v", err, want)
		}
	}
}

// Encoding and decoding a long answer does not copy it.
func TestLongTextsAreNotCopied(t *testing.T) {
	text := strings.Repeat("All work and no play. ", 150_000) // 3 MB
	m := chat.AssistantText(text)
	var size counted
	took := allocated(func() {
		if err := m.WriteJSON(&size); err != nil {
			t.Error(err)
		}
	})
	if raw, err := chat.MarshalJSON(m); err != nil || int(size) != len(raw) {
		t.Fatalf("%d bytes were written: %v", size, err)
	}
	if garbage := uint64(4 * len(text)); took > garbage { // small pieces that are freed at once, more with the race detector
		t.Errorf("writing %d bytes allocated %d", len(text), took)
	}
	raw, _ := chat.MarshalJSON(m)
	stored := string(raw)
	took = allocated(func() {
		if got, err := chat.DecodeMessage(stored); err != nil || got.RenderedText() != text {
			t.Error("a different text is read")
		}
	})
	if took > uint64(len(text)) {
		t.Errorf("reading %d bytes allocated %d", len(text), took)
	}
	raw, _ = chat.MarshalJSON(chat.Items{chat.AssistantMessage{Blocks: m.Blocks}})
	stored = string(raw)
	took = allocated(func() {
		if got, err := chat.DecodeItems(stored); err != nil || len(got) != 1 {
			t.Errorf("%d items are read: %v", len(got), err)
		}
	})
	if took > uint64(len(text)) {
		t.Errorf("reading items of %d bytes allocated %d", len(text), took)
	}
}

// counted is a writer that only counts bytes.
type counted int

func (c *counted) Write(b []byte) (int, error) {
	*c += counted(len(b))
	return len(b), nil
}

// allocated returns how many bytes f allocates in total, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
