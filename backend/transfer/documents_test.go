package transfer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"contextinfinity/backend/chat"
	"contextinfinity/test/testtier"
)

func claudeChat(id, text string) string {
	return fmt.Sprintf(`{"uuid":%q,"name":"Chat %s","chat_messages":[{"uuid":"q","sender":"human","text":%q},{"uuid":"a","sender":"assistant","text":"Yes."}]}`, id, id, text)
}

// TestEveryDocumentOfAFileIsRead: lists and objects after a list are read, and text that is not JSON is reported.
func TestEveryDocumentOfAFileIsRead(t *testing.T) {
	a, b, c := claudeChat("a", "one"), claudeChat("b", "two"), claudeChat("c", "three")
	for name, text := range map[string]string{
		"a list after a list": "[" + a + "]\n[" + b + "," + c + "]", "objects after a list": "[" + a + "]" + b + "\n" + c, "objects": a + b + c,
	} {
		if got, report := read(t, "conversations.json", text, Options{}); len(got) != 3 || report.SkippedCount != 0 {
			t.Errorf("%s: %d conversations, %+v", name, len(got), report)
		}
	}
	grokChat := func(id string) string {
		return fmt.Sprintf(`{"projects":[],"conversations":[{"conversation":{"id":%q},"responses":[{"response":{"_id":"q","message":"Hi","sender":"human"}}]}]}`, id)
	}
	for _, text := range []string{grokChat("a") + grokChat("b"), grokChat("a") + "\n" + grokChat("b") + "\n", strings.Replace(grokChat("a"), "projects", "conversations", 1) + grokChat("b")} {
		if got, report := read(t, "prod-grok-backend.json", text, Options{}); len(got) != 2 || got[1].ID != "b" || report.SkippedCount != 0 {
			t.Errorf("%s: %d conversations, %+v", text, len(got), report)
		}
	}
	_, report := read(t, "conversations.json", "["+a+"] and more", Options{})
	if report.Conversations != 1 || report.SkippedCount != 1 || !strings.Contains(report.Skipped[0].Reason, "7 characters") || report.Skipped[0].Offset == 0 {
		t.Errorf("%+v", report)
	}
	messages := `{"role":"user","content":"%s"},{"role":"assistant","content":"Yes."}`
	got, report := read(t, "messages.json", "["+fmt.Sprintf(messages, "one")+"]["+fmt.Sprintf(messages, "two")+"]", Options{})
	if len(got) != 2 || len(got[1].Turns) != 1 || got[1].Turns[0].User.RenderedText() != "two" || report.SkippedCount != 0 {
		t.Errorf("%d lists of messages, %+v", len(got), report)
	}
}

// TestAConversationWithoutMessagesIsNormal: it is counted and is not an error. A conversation whose messages cannot be
// read is skipped.
func TestAConversationWithoutMessagesIsNormal(t *testing.T) {
	for name, text := range map[string]string{
		"claude":      `[{"uuid":"e","name":"","account":{},"chat_messages":[]}]`,
		"chatgpt":     `[{"id":"e","title":"New chat","mapping":{"r":{"id":"r","message":null,"parent":null,"children":[]}}}]`,
		"open-webui":  `[{"id":"e","title":"New chat","chat":{"history":{"messages":{}}}}]`,
		"librechat":   `{"conversationId":"e","title":"New chat","messages":[]}`,
		"messages":    `{"messages":[]}`,
		"claude-code": `{"type":"system","uuid":"h","sessionId":"s","parentUuid":null,"subtype":"hook"}`,
	} {
		got, report := read(t, "x.jsonl", text, Options{Format: Format(name)})
		if len(got) != 0 || report.SkippedCount != 0 || len(report.Notices) == 0 || !reflect.DeepEqual(report.Notices[len(report.Notices)-1], Notice{Text: noticeNothing, Count: 1}) {
			t.Errorf("%s: %d conversations, %+v", name, len(got), report)
		}
	}
	for _, text := range []string{`{"messages":"none"}`, `[{"uuid":"e","name":"","account":{},"chat_messages":["not one"]}]`} {
		if _, report := read(t, "x.json", text, Options{}); report.SkippedCount != 1 {
			t.Errorf("%s: %+v", text, report)
		}
	}
}

func inUTF16(text string, order binary.AppendByteOrder, mark bool) string {
	var out []byte
	if mark {
		text = "\uFEFF" + text
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// TestUTF16IsRead: in both byte orders, with and without a byte order mark, also in a zip, with the same result as
// UTF-8.
func TestUTF16IsRead(t *testing.T) {
	text := "[" + claudeChat("a", "Grüße 🌍 "+strings.Repeat("é🌍", 60_000)) + "," + claudeChat("b", "two") + "]"
	want, _ := read(t, "conversations.json", text, Options{})
	wantJSON, _ := chat.MarshalJSON(want)
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []bool{true, false} {
			encoded := inUTF16(text, order, mark)
			for name, file := range map[string]string{"conversations.json": encoded, "export.zip": zipped(t, "conversations.json", encoded)} {
				got, report := read(t, name, file, Options{})
				if raw, _ := chat.MarshalJSON(got); report.Format != FormatClaude || string(raw) != string(wantJSON) {
					t.Errorf("%s, %v, mark %v: %d conversations, %+v", name, order, mark, len(got), report)
				}
			}
		}
	}
	lines := `{"role":"user","text":"one"}` + "\n" + `{"role":"assistant","text":"two"}` + "\n"
	if c := readOne(t, "x.jsonl", inUTF16(lines, binary.LittleEndian, true)); len(c.Turns) != 1 {
		t.Errorf("%+v", c.Turns)
	}
}

func zipped(t *testing.T, name, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestUTF16IsBounded: UTF-16 is converted in memory, so a file over the limit of a conversation is refused.
func TestUTF16IsBounded(t *testing.T) {
	in := Input{Name: "x.json", Size: MaxEntryBytes + 2, Data: strings.NewReader("[\x00{\x00")}
	_, err := Read(t.Context(), in, Options{}, nil)
	if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "256 MiB") {
		t.Errorf("%v", err)
	}
}

// TestALongValueHidesNoFormat: the members that identify a format may come after a value that is longer than the part
// used for detection.
func TestALongValueHidesNoFormat(t *testing.T) {
	long := strings.Repeat(`long \" title `, testtier.Size(100_000, 400_000)) // 1.4 MB
	nested := "[" + strings.Repeat(`{"a":"b"},`, 20_000) + `{}]`
	rest := `"mapping":{"q":{"parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Hi"]}}}}}]`
	for _, text := range []string{`[{"title":"` + long + `",` + rest, `[{"extra":` + nested + `,"title":"x",` + rest} {
		for name, file := range map[string]string{"conversations.json": text, "export.zip": zipped(t, "conversations.json", text)} {
			got, report := read(t, name, file, Options{})
			if len(got) != 1 || report.Format != FormatChatGPT {
				t.Errorf("%s: %d conversations, %+v", name, len(got), report.Format)
			}
		}
	}
}
