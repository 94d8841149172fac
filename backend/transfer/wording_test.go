package transfer

import (
	"archive/zip"
	"context"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// TestWhyAFileOfAnArchiveIsLeftOut: the reason says what is wrong or what to do, without the wording of the zip library.
func TestWhyAFileOfAnArchiveIsLeftOut(t *testing.T) {
	inner := zipOf(t, packed{name: "conversations.json", text: "[" + small + "]"})
	for _, c := range []struct {
		file    packed
		message string
	}{
		{packed{name: "inner.zip", text: inner}, "archive inside an archive; unpack the outer one"},
		{packed{name: "Talk.cinf", text: inner, method: zip.Deflate}, "bundle inside an archive; unpack the archive, and import the folder"},
		{packed{name: "odd.json", text: small, change: func(h *zip.FileHeader) { h.Method = 99 }}, "compressed with an unknown method"},
		{packed{name: "torn.json", text: "[" + small + "]", change: func(h *zip.FileHeader) { h.CRC32++ }}, "does not match its checksum"},
		{packed{name: "bad.json", text: "\xff\xff\xff", change: func(h *zip.FileHeader) { h.Method = zip.Deflate }}, "It cannot be unpacked: it is damaged."},
		{packed{name: "words.json", text: `[{"id":"c1","mapping":{}},{"id":"c2","mapping":tru}]`}, "Not valid JSON after byte "},
	} {
		_, report := read(t, "export.zip", zipOf(t, c.file), Options{})
		reasons := ""
		for _, row := range report.Skipped {
			reasons += row.Reason + "; "
		}
		if !strings.Contains(reasons, c.message) || strings.Contains(reasons, "zip:") || strings.Contains(reasons, "flate:") || strings.Contains(reasons, "invalid character") {
			t.Errorf("%s: reasons %q, want %q", c.file.name, reasons, c.message)
		}
		if _, err := PeekArchive("export.zip", strings.NewReader(zipOf(t, c.file)), int64(len(zipOf(t, c.file)))); strings.HasPrefix(reasons, "It is a") && (err == nil || !strings.Contains(err.Error(), "unpack")) {
			t.Errorf("a zip with only %s: error %v", c.file.name, err)
		}
	}
}

// TestAMessageOfAnUnknownRole: in a conversation of user and assistant such a message is kept raw and reported; in others
// the roles are names of people.
func TestAMessageOfAnUnknownRole(t *testing.T) {
	text := `{"role":"user","content":"Hi"}
{"role":"assistant","content":"Hello."}
{"role":"narrator","content":"A door opens.","mood":"dark"}
{"role":"user","content":"Who is there?"}
{"role":"assistant","content":"Nobody."}
`
	for name, text := range map[string]string{"talk.jsonl": text, "talk.json": "[" + strings.ReplaceAll(strings.TrimSpace(text), "\n", ",") + "]"} {
		got, report := read(t, name, text, Options{})
		if len(got) != 1 || len(got[0].Turns) != 2 || report.SkippedCount > 0 {
			t.Fatalf("%s: %+v, %+v", name, got, report)
		}
		if len(report.Notices) != 1 || !reflect.DeepEqual(report.Notices[0], Notice{Text: noticeRole, Count: 1}) {
			t.Errorf("%s: %+v", name, report.Notices)
		}
		raw := false
		for _, turn := range got[0].Turns {
			if turn.Failed || turn.Assistant == nil {
				t.Errorf("%s: a turn without an answer: %+v", name, turn)
			}
			for _, b := range append(turn.User.Blocks, turn.Assistant.Blocks...) {
				u, ok := b.(chat.Unknown)
				raw = raw || ok && strings.Contains(string(u.Raw), `"mood":"dark"`)
			}
		}
		if !raw || strings.Contains(got[0].Turns[1].User.RenderedText(), "door") {
			t.Errorf("%s: the message is not kept raw: %+v", name, got[0].Turns)
		}
	}
	pairPeople := readOne(t, "people.jsonl", `{"role":"Ann","content":"Hi"}`+"\n"+`{"role":"Bob","content":"Hello"}`+"\n")
	if len(pairPeople.Turns) != 1 || pairPeople.Turns[0].User.Name != "Ann" || pairPeople.Turns[0].Assistant == nil {
		t.Errorf("people: %+v", pairPeople.Turns)
	}
}

// TestErrorsHaveNoLibraryWording: errors about damaged archives do not contain the wording of the zip library.
func TestErrorsHaveNoLibraryWording(t *testing.T) {
	archive := zipOf(t, packed{name: "conversations.json", text: "[" + small + "]", method: zip.Deflate})
	for cut := range archive {
		report, err := Read(context.Background(), fileOf("x.zip", archive[:cut]+"\x00"+archive[min(cut+1, len(archive)):]), Options{}, func(Conversation) error { return nil })
		reasons := ""
		if err != nil {
			reasons = chat.AsError(err).Message
		}
		for _, row := range report.Skipped {
			reasons += row.Reason
		}
		if strings.Contains(reasons, "zip:") || strings.Contains(reasons, "flate") || strings.Contains(reasons, "EOF") || !utf8.ValidString(reasons) {
			t.Errorf("byte %d: %q", cut, reasons)
		}
	}
}
