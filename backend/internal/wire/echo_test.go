package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

const echoKey = "sk-proj-abab/ac+0123456789"

// echoed passes events through and returns the output.
func echoed(t interface{ Fatal(...any) }, events ...string) []string {
	var out []string
	e := newKeyFilter(echoKey, func(ev chat.RawEvent) error {
		out = append(out, string(ev.Data))
		return nil
	})
	for _, ev := range events {
		if err := e.deliver("message", []byte(ev)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.finish(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAKeyThatIsEchoedInPieces(t *testing.T) {
	anthropic := func(index int, member, text string) string {
		quoted, _ := chat.MarshalJSON(text)
		return fmt.Sprintf(`{"type":"content_block_delta","delta":{%q:%s},"index":%d}`, member, quoted, index)
	}
	call := func(index int, text string) string {
		quoted, _ := chat.MarshalJSON(text)
		return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}}]}`, index, quoted)
	}
	ping := `{"type":"ping"}`
	for _, c := range []struct {
		name     string
		in, want []string
	}{
		{
			"text in two", []string{anthropic(0, "text", "It is sk-proj-abab/a"), anthropic(0, "text", "c+0123456789, yes")},
			[]string{anthropic(0, "text", "It is "), anthropic(0, "text", "[redacted], yes")},
		},
		{
			"thinking, with an event between", []string{anthropic(1, "thinking", "sk-pr"), ping, anthropic(1, "thinking", "oj-abab/ac+0123456789")},
			[]string{anthropic(1, "thinking", ""), ping, anthropic(1, "thinking", "[redacted]")},
		},
		{
			"the first letters already passed on", []string{anthropic(0, "text", "s"), anthropic(0, "text", "k"), anthropic(0, "text", "-proj-abab/ac+0123456789")},
			[]string{anthropic(0, "text", "s"), anthropic(0, "text", "k"), anthropic(0, "text", "[redacted]")},
		},
		{
			"parallel calls", []string{call(0, `{"k":"sk-proj-`), call(1, `{"k":"sk-proj-abab`), call(0, `abab/ac+0123456789"}`), call(1, `/ac+0123456789"}`)},
			[]string{call(0, `{"k":"`), call(1, `{"k":"`), call(0, `[redacted]"}`), call(1, `[redacted]"}`)},
		},
		{
			"escaped for an address", []string{anthropic(0, "text", "?k=sk-proj-abab%2Fa"), anthropic(0, "text", "c%2B0123456789&x")},
			[]string{anthropic(0, "text", "?k="), anthropic(0, "text", "[redacted]&x")},
		},
		{
			"a beginning that continues differently", []string{anthropic(0, "text", "sk-proj-ab"), anthropic(0, "text", "le, ") + " "},
			[]string{anthropic(0, "text", "sk-proj-ab"), anthropic(0, "text", "le, ") + " "},
		},
		{
			"a beginning within a beginning", []string{anthropic(0, "text", "sk-proj-absk-proj-ab"), anthropic(0, "text", "ab/ac+0123456789")},
			[]string{anthropic(0, "text", "sk-proj-ab"), anthropic(0, "text", "[redacted]")},
		},
		{"the stream ends within it", []string{anthropic(0, "text", "so: sk-proj-abab")}, []string{anthropic(0, "text", "so: [redacted]")}},
		{"the stream ends after a word", []string{anthropic(0, "text", "it has sk-")}, []string{anthropic(0, "text", "it has sk-")}},
		{"text that is not JSON", []string{"sk-proj", "[DONE]"}, []string{"sk-proj", "[DONE]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := echoed(t, c.in...)
			if len(got) != len(c.want) {
				t.Fatalf("%d events arrived, %d were sent", len(got), len(c.want))
			}
			for i, want := range c.want {
				var a, b any
				isSame := got[i] == want // one that was changed may have its members in another order
				if json.Unmarshal([]byte(got[i]), &a) == nil && json.Unmarshal([]byte(want), &b) == nil && want != c.in[i] {
					isSame = reflect.DeepEqual(a, b)
				}
				if !isSame {
					t.Errorf("got\n%s\nwant\n%s", got[i], want)
				}
			}
		})
	}
}

// TestNoSplitShowsTheKey: however a text with keys is split into events, the output contains no key; a text without
// one passes unchanged, in order.
func TestNoSplitShowsTheKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{echoKey, echoKey[:9], echoKey[9:], "a", "sk-", " ", "words and words", "ä\n\""}), 1, 9).Draw(t, "parts")
		whole := strings.Join(parts, "")
		var events []string
		for rest := whole; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 12)).Draw(t, "length")
			for n < len(rest) && rest[n]&0xC0 == 0x80 {
				n++
			}
			quoted, _ := chat.MarshalJSON(rest[:n])
			events, rest = append(events, fmt.Sprintf(`{"n":%d,"delta":%s}`, len(events), quoted)), rest[n:]
		}
		got := echoed(t, events...)
		var text strings.Builder
		for i, ev := range got {
			var e struct {
				N     int
				Delta string
			}
			if err := json.Unmarshal([]byte(ev), &e); err != nil || e.N != i {
				t.Fatalf("event %d is %s: %v", i, ev, err)
			}
			text.WriteString(e.Delta)
		}
		if strings.Contains(text.String(), echoKey) || len(got) != len(events) {
			t.Fatalf("%q arrived as %q", whole, text.String())
		}
		if !strings.Contains(whole, echoKey[:minRemoved]) && text.String() != whole {
			t.Fatalf("%q arrived as %q", whole, text.String())
		}
	})
}

// TestWithheldEventsAreBounded: if a server sends the beginning of the key and continues differently, only a few
// events are delayed, and the beginning is removed.
func TestWithheldEventsAreBounded(t *testing.T) {
	arrived := 0
	e := newKeyFilter(echoKey, func(chat.RawEvent) error { arrived++; return nil })
	for i := range 10 * maxHeld {
		ev := `{"type":"ping"}`
		if i == 0 {
			ev = `{"text":"sk-proj-aba"}`
		}
		if err := e.deliver("message", []byte(ev)); err != nil {
			t.Fatal(err)
		}
		if i-arrived > maxHeld || len(e.held) > maxHeld {
			t.Fatalf("after %d events %d arrived, %d are withheld", i, arrived, len(e.held))
		}
	}
	for i := range 3 * maxPassed {
		if err := e.deliver("message", fmt.Appendf(nil, `{"index":%d,"text":"s"}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.passed) > maxPassed {
		t.Errorf("%d texts are watched", len(e.passed))
	}
	deep := strings.Repeat("[", 1<<20)
	if err := e.deliver("message", []byte(deep)); err != nil {
		t.Fatal(err)
	}
}

// The name of an event is stored in the journal like its data, so it is redacted too.
func TestTheNameOfAnEventIsRedacted(t *testing.T) {
	e := newKeyFilter(echoKey, func(ev chat.RawEvent) error {
		if strings.Contains(ev.Type, echoKey) {
			t.Errorf("the type is %q", ev.Type)
		}
		return nil
	})
	if err := e.deliver("x-"+echoKey, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkKeyFilter(b *testing.B) {
	for _, key := range []llm.Secret{"", echoKey} {
		b.Run(fmt.Sprint(len(key)), func(b *testing.B) {
			e := newKeyFilter(key, func(chat.RawEvent) error { return nil })
			data := []byte(`{"id":"chatcmpl-1","model":"m","choices":[{"index":0,"delta":{"content":" words of an answer"},"finish_reason":null}]}`)
			for b.Loop() {
				_ = e.deliver("message", data)
			}
		})
	}
}
