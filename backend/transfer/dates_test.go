package transfer

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// dated contains a file of each format with one message, whose date is filled in as JSON.
var dated = map[string]string{
	"a.jsonl": `{"conv":"a","date":%s,"role":"user","text":"hi"}
{"conv":"a","role":"assistant","text":"hello"}`,
	"messages.json": `[{"id":"m","messages":[{"role":"user","content":"hi","created_at":%s},{"role":"assistant","content":"hello"}]}]`,
	"lechat.json":   `[{"id":"1","chatId":"c","role":"user","content":"hi","createdAt":%s,"parentId":null},{"id":"2","role":"assistant","content":"hello","parentId":"1"}]`,
	"chatgpt.json": `[{"id":"c","title":"t","mapping":{"r":{"id":"r","message":null,"parent":null,"children":["u"]},
		"u":{"id":"u","parent":"r","children":[],"message":{"id":"u","author":{"role":"user"},"create_time":%s,"content":{"content_type":"text","parts":["hi"]}}}}}]`,
	"claude.json": `[{"uuid":"c","name":"t","chat_messages":[{"uuid":"u","sender":"human","text":"hi","created_at":%s}]}]`,
	"code.jsonl":  `{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":%s,"message":{"role":"user","content":"hi"}}`,
	"rollout-1.jsonl": `{"timestamp":"2023-12-30T09:00:00Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":%s,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`,
	"libre.json": `{"conversationId":"c","title":"t","messages":[{"messageId":"u","parentMessageId":"00000000-0000-0000-0000-000000000000","isCreatedByUser":true,"text":"hi","createdAt":%s}]}`,
	"webui.json": `[{"id":"c","title":"t","chat":{"title":"t","history":{"currentId":"u","messages":{"u":{"id":"u","parentId":null,"childrenIds":[],"role":"user","content":"hi","timestamp":%s}}}}}]`,
}

// TestDatesOfEveryFormat: a date in any of the ways listed in the guide is read in every format; an ambiguous date is
// reported and not guessed.
func TestDatesOfEveryFormat(t *testing.T) {
	want := time.Date(2023, 12, 30, 15, 4, 0, 0, time.UTC)
	for name, file := range dated {
		for date, readable := range map[string]bool{
			`"30.12.2023 15:04"`: true, `"Sat, 30 Dec 2023 16:04:00 +0100"`: true, `"30 December 2023, 3:04 pm"`: true, `"12/30/2023 15:04"`: true,
			`1703948640`: true, `1703948640000`: true, `"1703948640000000"`: true, `"20231230T150400Z"`: true,
			`"03/04/2023 15:04"`: false, `"around noon"`: false, `20`: false,
		} {
			got, report := read(t, name, fmt.Sprintf(file, date), Options{})
			if len(got) != 1 || len(got[0].Turns) != 1 {
				t.Fatalf("%s: %d conversations, %+v", name, len(got), report.Skipped)
			}
			at := got[0].Turns[0].CreatedAt
			named := len(report.Notices) == 1 && strings.Contains(report.Notices[0].Text, strings.Trim(date, `"`)) && report.Notices[0].Count == 1
			if readable && (!at.Equal(want) || len(report.Notices) > 0) || !readable && (!at.IsZero() || !named) {
				t.Errorf("%s, %s: %v, notices %+v", name, date, at, report.Notices)
			}
		}
	}
}

// TestManyUnreadDates: the report counts all and quotes a few.
func TestManyUnreadDates(t *testing.T) {
	var file strings.Builder
	for i := range 100 {
		fmt.Fprintf(&file, `{"conv":"c%d","date":"some day %d %s","role":"user","text":"hi"}`+"\n", i, i, strings.Repeat("x", 500))
	}
	_, report := read(t, "a.jsonl", file.String(), Options{})
	if len(report.Notices) != 1 || report.Notices[0].Count != 100 || strings.Count(report.Notices[0].Text, "some day") != 5 || len(report.Notices[0].Text) > 500 {
		t.Errorf("%+v", report.Notices)
	}
}
