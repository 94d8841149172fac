package transfer

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// seeds adds the cases of a format in testdata, each also cut in the middle.
func seeds(f *testing.F, format Format) {
	files, _ := filepath.Glob(filepath.Join("testdata", string(format), "*.json*"))
	if len(files) == 0 {
		f.Fatalf("no seeds for %s", format)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte("[{}]"))
	f.Add([]byte("[[[[\"\xff\\u0000\\"))
}

// fuzzFormat reads any bytes as one format: reading ends, every conversation is valid, and the report agrees with them.
func fuzzFormat(f *testing.F, format Format, name string) {
	seeds(f, format)
	f.Fuzz(func(t *testing.T, data []byte) { readAnything(t, name, data, format) })
}

func readAnything(t *testing.T, name string, data []byte, format Format) {
	emitted := 0
	report, err := Read(context.Background(), fileOf(name, string(data)), Options{Format: format}, func(c Conversation) error {
		emitted++
		checkValid(t, c)
		return nil
	})
	if err != nil && chat.CodeOf(err) == chat.CodeInternal {
		t.Fatalf("an error without a code: %v", err)
	}
	if report.Conversations != emitted || len(report.Skipped) > report.SkippedCount {
		t.Fatalf("emitted %d, reported %+v", emitted, report)
	}
	for _, s := range report.Skipped {
		if s.Reason == "" || s.Offset < 0 || format != FormatZip && s.Offset > int64(len(data)) {
			t.Fatalf("skipped %+v of %d bytes", s, len(data))
		}
	}
}

func FuzzChatGPT(f *testing.F)    { fuzzFormat(f, FormatChatGPT, "conversations.json") }
func FuzzClaude(f *testing.F)     { fuzzFormat(f, FormatClaude, "conversations.json") }
func FuzzClaudeCode(f *testing.F) { fuzzFormat(f, FormatClaudeCode, "0b.jsonl") }
func FuzzCodex(f *testing.F)      { fuzzFormat(f, FormatCodex, "rollout-1.jsonl") }
func FuzzOpenWebUI(f *testing.F)  { fuzzFormat(f, FormatOpenWebUI, "chats.json") }
func FuzzLibreChat(f *testing.F)  { fuzzFormat(f, FormatLibreChat, "chat.json") }
func FuzzChatbox(f *testing.F)    { fuzzFormat(f, FormatChatbox, "chatbox-exported-data.json") }
func FuzzCherry(f *testing.F)     { fuzzFormat(f, FormatCherry, "data.json") }
func FuzzTakeout(f *testing.F)    { fuzzFormat(f, FormatTakeout, "MyActivity.json") }
func FuzzDeepSeek(f *testing.F)   { fuzzFormat(f, FormatDeepSeek, "conversations.json") }
func FuzzLMStudio(f *testing.F)   { fuzzFormat(f, FormatLMStudio, "1.conversation.json") }
func FuzzOpenCode(f *testing.F)   { fuzzFormat(f, FormatOpenCode, "session.json") }
func FuzzGeminiCLI(f *testing.F)  { fuzzFormat(f, FormatGeminiCLI, "session-1.json") }
func FuzzGptme(f *testing.F)      { fuzzFormat(f, FormatGptme, "conversation.jsonl") }
func FuzzJSONL(f *testing.F)      { fuzzFormat(f, FormatJSONL, "messages.jsonl") }
func FuzzMessages(f *testing.F)   { fuzzFormat(f, FormatMessages, "messages.json") }

// FuzzAuto reads any bytes, including archives, with automatic detection.
func FuzzAuto(f *testing.F) {
	for _, format := range Formats() {
		if format != FormatZip {
			seeds(f, format)
		}
	}
	f.Add([]byte(zipOf(f, packed{name: "conversations.json", text: "[" + small + "]", method: 8}, packed{name: "b.jsonl", text: `{"conv":"p","role":"user","text":"Hi"}`})))
	f.Fuzz(func(t *testing.T, data []byte) {
		format := FormatAuto
		if strings.HasPrefix(string(data), "PK") {
			format = FormatZip // its offsets are those of unpacked data
		}
		readAnything(t, "export", data, format)
	})
}

// FuzzDetect detects the format of any bytes.
func FuzzDetect(f *testing.F) {
	f.Add("a.json", []byte(`[{"mapping":{}}]`))
	f.Add("a.zip", []byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		got, err := Detect(name, bytes.NewReader(head), int64(len(head)))
		if (err == nil) == (got == "") {
			t.Fatalf("%q and %v", got, err)
		}
	})
}

// FuzzMoment reads any bytes as a time: the result is plausible or zero.
func FuzzMoment(f *testing.F) {
	for _, s := range []string{"1700000000.5", `"2023-11-14T22:13:20Z"`, "1e308", `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := readMoment(raw); !got.IsZero() && (got.Year() < 1970 || got.Year() > 2200 || got.Location() != time.UTC) {
			t.Fatalf("%q is %v", raw, got)
		}
	})
}

// FuzzRepair: valid JSON stays valid, without NUL and without unpaired surrogates.
func FuzzRepair(f *testing.F) {
	for _, s := range []string{`"\u0000\ud83d\ude00\ud83d"`, `"\\u0000"`, "\"\xff\"", `"\ud83d\u0000"`, `"\u`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fixed, _ := repair(append([]byte(nil), raw...))
		e := element{raw: append([]byte(nil), raw...)}
		if e.check(); e.reason != "" {
			return
		}
		for _, b := range parts("test", fixed) {
			if text, ok := b.(chat.Text); ok && strings.ContainsRune(text.Text, 0) {
				t.Fatalf("%q contains NUL: %q", raw, text.Text)
			}
		}
		if twice, r := repair(fixed); r != (repaired{}) || string(twice) != string(fixed) {
			t.Fatalf("%q was not repaired: %q", raw, fixed)
		}
	})
}
