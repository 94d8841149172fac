package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestReadingTwiceIsTheSame: reading a file again gives the same conversations and keys, and no two conversations
// share a content key.
func TestReadingTwiceIsTheSame(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "*", "*.json*"))
	keys := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := read(t, filepath.Base(file), string(text), Options{})
		second, _ := read(t, filepath.Base(file), string(text), Options{})
		a, _ := chat.MarshalJSON(first)
		b, _ := chat.MarshalJSON(second)
		if string(a) != string(b) {
			t.Errorf("%s gives different conversations when read twice", file)
		}
		for _, c := range first {
			for _, turn := range c.Turns {
				where := file + " " + c.ID + " " + turn.Key
				if keys[turn.ContentKey] != "" {
					t.Errorf("%s and %s have the same content key", where, keys[turn.ContentKey])
				}
				keys[turn.ContentKey] = where
			}
		}
	}
	if len(keys) < 50 {
		t.Errorf("only %d turns were checked", len(keys))
	}
}

// TestALongerExportAddsOnlyItsNewTurns checks each format whose files grow.
func TestALongerExportAddsOnlyItsNewTurns(t *testing.T) {
	for _, c := range []struct {
		name, before, more string
	}{
		{"0b.jsonl", `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"One"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"role":"assistant","content":"Two"}}
`, `{"type":"system","uuid":"y1","parentUuid":"a1","sessionId":"s","subtype":"turn_duration"}
{"type":"user","uuid":"u2","parentUuid":"y1","sessionId":"s","message":{"role":"user","content":"Three"}}
`},
		{"rollout-1.jsonl", `{"type":"session_meta","payload":{"id":"r"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"One"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two"}]}}
`, `{"type":"compacted","payload":{"message":"short"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Three"}]}}
`},
		{"p.jsonl", `{"conv":"p","role":"user","text":"One"}
{"conv":"p","role":"assistant","text":"Two"}
`, `{"conv":"p","role":"user","text":"Three"}
`},
	} {
		before, after := readOne(t, c.name, c.before), readOne(t, c.name, c.before+c.more)
		if before.ID != after.ID || before.Key == after.Key {
			t.Errorf("%s: ids %s and %s, keys %s and %s", c.name, before.ID, after.ID, before.Key, after.Key)
		}
		if len(before.Turns) != 1 || len(after.Turns) != 2 || before.Turns[0].ContentKey != after.Turns[0].ContentKey {
			t.Errorf("%s: the first turn is not the same:\n%+v\n%+v", c.name, before.Turns, after.Turns)
		}
	}
}

// many is an export of n small conversations.
func many(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(strings.Replace(small, `"c1"`, fmt.Sprintf(`"c%d"`, i), 1))
	}
	b.WriteByte(']')
	return b.String()
}

func TestCancelledAndResumed(t *testing.T) {
	const n = 2000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := map[string]bool{}
	report, err := Read(ctx, fileOf("x.json", many(n)), Options{}, func(c Conversation) error {
		done[c.ID] = true
		if len(done) == 700 {
			cancel()
		}
		return nil
	})
	if chat.CodeOf(err) != chat.CodeCancelled || !report.Cancelled || report.Conversations != 700 || len(done) != 700 {
		t.Fatalf("cancelled: %v, %+v", err, report)
	}
	skip := func(source Source, id, key string) bool { return key != "" && source == SourceChatGPT && done[id] }
	report, err = Read(context.Background(), fileOf("x.json", many(n)), Options{Skip: skip}, func(c Conversation) error {
		if done[c.ID] {
			t.Errorf("%s was read again", c.ID)
		}
		done[c.ID] = true
		return nil
	})
	if err != nil || report.Already != 700 || report.Conversations != n-700 || len(done) != n {
		t.Errorf("resumed: %v, %+v", err, report)
	}
	if _, err := Read(ctx, fileOf("x.json", many(1)), Options{}, nil); chat.CodeOf(err) != chat.CodeCancelled {
		t.Errorf("cancelled before it began: %v", err)
	}
}

func TestProgress(t *testing.T) {
	text := many(12_000) // about 1.6 MB
	var reported []Progress
	_, report := read(t, "x.json", text, Options{Progress: func(p Progress) { reported = append(reported, p) }})
	last := reported[len(reported)-1]
	if last.Read != int64(len(text)) || last.Total != int64(len(text)) || report.Conversations != 12_000 || report.Bytes != last.Read {
		t.Errorf("the last progress is %+v of %d bytes, the report says %d", last, len(text), report.Bytes)
	}
	if steps := len(text) / progressStep; len(reported) < steps || len(reported) > steps+2 {
		t.Errorf("reported %d times with %d bytes", len(reported), len(text))
	}
	for i := 1; i < len(reported); i++ {
		if reported[i].Read < reported[i-1].Read {
			t.Fatalf("progress decreases: %+v then %+v", reported[i-1], reported[i])
		}
	}
}

func TestAWriterErrorStopsReading(t *testing.T) {
	full := chat.Errorf(chat.CodeNoSpace, "store", "The disk is full.")
	report, err := Read(context.Background(), fileOf("x.json", many(9)), Options{}, func(c Conversation) error {
		if c.ID == "c3" {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || report.Conversations != 3 || report.Cancelled {
		t.Errorf("got %v, %+v", err, report)
	}
}

// TestEveryCutOfAFile: wherever a file is cut off, the complete conversations before are read, and the report says that
// it was truncated.
func TestEveryCutOfAFile(t *testing.T) {
	text := many(3)
	for i := 1; i < len(text); i++ {
		var got int
		report, err := Read(context.Background(), fileOf("x.json", text[:i]), Options{Format: FormatChatGPT}, func(c Conversation) error {
			got++
			return nil
		})
		complete := strings.Count(text[:i], "}}}}}")
		if err != nil || !report.Truncated || got != complete {
			t.Fatalf("cut at %d: %v, torn %v, %d read of %d", i, err, report.Truncated, got, complete)
		}
	}
}

func TestDuplicateConversations(t *testing.T) {
	grown := strings.TrimSuffix(small, "}}}") + `,"children":["v"]},"v":{"parent":"u","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["More"]}}}}}`
	got, report := read(t, "x.json", "["+small+","+small+","+grown+"]", Options{})
	if len(got) != 2 || report.Already != 1 || got[0].ID != got[1].ID || len(got[1].Turns) != 2 ||
		got[0].Turns[0].ContentKey != got[1].Turns[0].ContentKey {
		t.Errorf("read %+v, %+v", got, report)
	}
}
