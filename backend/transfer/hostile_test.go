package transfer

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// small is a conversation of a ChatGPT export.
const small = `{"id":"c1","title":"Small","mapping":{"u":{"id":"u","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["Hi"]}}}}}`

// packed is a file of an archive.
type packed struct {
	name, text string
	method     uint16
	change     func(*zip.FileHeader) // nil: unchanged
}

// zipOf writes an archive whose headers may be wrong.
func zipOf(t testing.TB, files ...packed) string {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		var content bytes.Buffer
		if f.method == zip.Deflate {
			deflated, err := flate.NewWriter(&content, flate.BestCompression)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(deflated, f.text)
			_ = deflated.Close()
		} else {
			content.WriteString(f.text)
		}
		h := &zip.FileHeader{Name: f.name, Method: f.method, CRC32: crc(f.text)}
		h.UncompressedSize64, h.CompressedSize64 = uint64(len(f.text)), uint64(content.Len())
		if f.change != nil {
			f.change(h)
		}
		to, err := w.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(content.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func crc(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }

func TestArchive(t *testing.T) {
	text := zipOf(t,
		packed{name: "user.json", text: `{"id":"u"}`},
		packed{name: "shared_conversations.json", text: `[{"id":"s","conversation_id":"c1","create_time":1}]`},
		packed{name: "chat.html", text: "<html>"},
		packed{name: "conversations.json", text: "[" + small + "]", method: zip.Deflate},
		packed{name: "more/0b.jsonl", text: `{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":"Hi"}}`, method: zip.Deflate},
		packed{name: "plain.jsonl", text: `{"conv":"p","role":"user","text":"Hi"}`},
		packed{name: "inner.zip", text: "PK\x03\x04"},
		packed{name: "secret.json", text: small, change: func(h *zip.FileHeader) { h.Flags |= 1 }},
	)
	got, report := read(t, "export.zip", text, Options{})
	var sources []string
	for _, c := range got {
		checkValid(t, c)
		sources = append(sources, string(c.Source))
	}
	if strings.Join(sources, " ") != "chatgpt claude-code jsonl" || report.Format != FormatChatGPT {
		t.Errorf("read %q as %s", sources, report.Format)
	}
	if report.SkippedCount != 2 || report.Skipped[0].File != "inner.zip" || report.Skipped[1].File != "secret.json" {
		t.Errorf("skipped %+v", report.Skipped)
	}
}

func TestArchivesThatAreRefused(t *testing.T) {
	bomb := "[" + strings.Repeat(" ", 8<<20) + "]"
	for _, c := range []struct {
		name    string
		files   []packed
		message string
	}{
		{"a path outside of the archive", []packed{{name: "a/../../etc/passwd.json", text: small}}, "outside"},
		{"an absolute path", []packed{{name: "/conversations.json", text: small}}, "outside"},
		{"a path of Windows", []packed{{name: `..\conversations.json`, text: small}}, "outside"},
		{"a drive", []packed{{name: `C:x.json`, text: small}}, "outside"},
		{"a bomb", []packed{{name: "conversations.json", text: bomb, method: zip.Deflate}}, "times as large"},
		{"a size beyond any", []packed{{name: "c.json", text: small, change: func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 }}}, "larger than 16 GiB"},
		{"a bundle", []packed{{name: "meta.json", text: "{}"}, {name: "events.ndjson", text: ""}}, "bundle"},
		{"nothing in it", []packed{{name: "photo.png", text: "x"}}, "not an export"},
		{"nothing but names", []packed{{name: strings.Repeat("long/", 10_000) + "x.png"}, {name: "../x.json"}}, "outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			emitted := 0
			_, err := Read(context.Background(), fileOf("x.zip", zipOf(t, c.files...)), Options{}, func(Conversation) error { emitted++; return nil })
			if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), c.message) || emitted > 0 {
				t.Errorf("got %v, emitted %d", err, emitted)
			}
		})
	}
	many := make([]packed, MaxArchiveFiles+1)
	for i := range many {
		many[i].name = "a"
	}
	if _, err := Read(context.Background(), fileOf("x.zip", zipOf(t, many...)), Options{}, nil); err == nil || !strings.Contains(err.Error(), "lists more than 100000 files") {
		t.Errorf("too many files: %v", err)
	}
	if _, err := Read(context.Background(), fileOf("x.zip", "PK\x03\x04 torn"), Options{}, nil); chat.CodeOf(err) != chat.CodeCorrupt {
		t.Errorf("a damaged archive: %v", err)
	}
}

// TestADamagedFileInAnArchiveAffectsNoOther: of a file that unpacks to more than declared, or has a wrong checksum, the
// part that could be read is kept, and other files are not affected.
func TestADamagedFileInAnArchiveAffectsNoOther(t *testing.T) {
	other := packed{name: "z.json", text: "[" + strings.Replace(small, "c1", "c2", 1) + "]"}
	oversized := "[" + small + strings.Repeat(" ", 4<<20) + "]"
	for _, c := range []struct {
		name string
		file packed
	}{
		{"more than declared", packed{name: "a.json", text: oversized, method: zip.Deflate, change: func(h *zip.FileHeader) { h.UncompressedSize64 = 1000 }}},
		{"another checksum", packed{name: "a.json", text: "[" + small + "]", change: func(h *zip.FileHeader) { h.CRC32++ }}},
		{"another checksum, read into memory", packed{name: "a.jsonl", text: `{"conv":"p","role":"user","text":"Hi"}`, change: func(h *zip.FileHeader) { h.CRC32++ }}},
		{"an unknown method", packed{name: "a.json", text: "[" + small + "]", method: 77}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, report := read(t, "x.zip", zipOf(t, c.file, other), Options{})
			if len(got) == 0 || got[len(got)-1].ID != "c2" {
				t.Fatalf("the other file was not read: %+v", report)
			}
			if report.SkippedCount != 1 || report.Skipped[0].File != c.file.name {
				t.Errorf("skipped %+v", report.Skipped)
			}
		})
	}
}

func TestLimitsOfEntries(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+2) + strings.Repeat("]", MaxDepth+2)
	text := `[{"id":"deep","title":"Deep","mapping":` + deep + `},` + small + `]`
	got, report := read(t, "x.json", text, Options{})
	if len(got) != 1 || len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0].Reason, "too deep") {
		t.Errorf("%d read, skipped %+v", len(got), report.Skipped)
	}
	s := newScanner(strings.NewReader(`[ "abc", {"much":"too large"}, 12 , tru]x`), 10)
	var seen []string
	for {
		e, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if cap(s.buf) > 64 {
			t.Errorf("%d bytes of an entry that is too large are in memory", cap(s.buf))
		}
		seen = append(seen, string(e.raw)+chat.Unpack(e.reason).String())
	}
	if want := `"abc"|It is larger than 10 bytes.|12|tru`; strings.Join(seen, "|") != want || s.unexpected != 1 {
		t.Errorf("got %q, %d unexpected bytes", seen, s.unexpected)
	}
	big := Input{Name: "x.json", Size: MaxFileBytes + 1, Data: strings.NewReader("")}
	if _, err := Read(context.Background(), big, Options{}, nil); chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "16 GiB") {
		t.Errorf("a file over the limit: %v", err)
	}
	session := Input{Name: "x.jsonl", Size: MaxEntryBytes + 1, Data: strings.NewReader(`{"type":"user","uuid":"u","sessionId":"s"}`)}
	if _, err := Read(context.Background(), session, Options{Format: FormatClaudeCode}, nil); err == nil || !strings.Contains(err.Error(), "256 MiB") {
		t.Errorf("a session over the limit: %v", err)
	}
	d := draftOf(make([]node, MaxMessages+1))
	if _, reason := d.build(); !strings.Contains(chat.Unpack(reason).String(), "more than 200000 messages") {
		t.Errorf("too many messages: %q", reason)
	}
}

// TestBranchesThatRepeatTooMuch: a long answer with a branch at each of its messages is refused, because it would be
// stored once for each branch.
func TestBranchesThatRepeatTooMuch(t *testing.T) {
	d := newDraft("test")
	d.add(node{key: "u", kind: kindUser, blocks: texts("Go")})
	before := "u"
	for range 3000 {
		main := d.add(node{parent: before, kind: kindAssistant, blocks: texts("on")})
		d.add(node{parent: before, kind: kindAssistant, blocks: texts("off")})
		before = main
	}
	if _, reason := d.build(); !strings.Contains(chat.Unpack(reason).String(), "repeat more than") {
		t.Errorf("got %q", reason)
	}
}

func TestTextIsRepairedAndReported(t *testing.T) {
	text := "[" + strings.Replace(small, "Hi", "a\xff\xfeb \\u0000 \\ud83d \\ude00 \\ud83d\\ude00 \\\\u0000", 1) + "]"
	c := readOne(t, "x.json", text)
	if got, want := c.Turns[0].User.RenderedText(), "a\uFFFDb \uFFFD \uFFFD \uFFFD \U0001F600 \\u0000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	counts := map[string]int{}
	for _, n := range c.Notices {
		counts[strings.Fields(n.Text)[0]] += n.Count
	}
	if counts["Bytes"] != 2 || counts["NUL"] != 1 || counts["Halves"] != 2 {
		t.Errorf("notices %+v", c.Notices)
	}
}

// TestCallsWithoutEnd: an answer of gptme that consists of calls, consecutive or nested, is scanned a few times and
// not once for each call.
func TestCallsWithoutEnd(t *testing.T) {
	measure := func(text string) (blocks chat.Blocks, bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		blocks, _ = gptmeCalls(text)
		runtime.ReadMemStats(&after)
		return blocks, after.TotalAlloc - before.TotalAlloc
	}
	for _, n := range []int{20_000, 200_000} {
		text := strings.Repeat("@a(b):{}\n", n)
		if got, bytes := measure(text); len(got) < n || bytes > 1<<20+1000*uint64(len(text)) {
			t.Fatalf("%d blocks of %d calls, %d bytes in memory for a text of %d", len(got), n, bytes, len(text))
		}
	}
	for _, n := range []int{2, 1000, 150_000} {
		text := strings.Repeat("@a(b): {\n", n) + "x\n" + strings.Repeat("}\n", n) + "@save(c): {\"n\":1}\n"
		got, bytes := measure(text)
		calls := 0
		for _, b := range got {
			if _, ok := b.(chat.ToolUse); ok {
				calls++
			}
		}
		if calls != 1-min(n/1000, 1) || bytes > 1<<20+1000*uint64(len(text)) {
			t.Fatalf("%d nested calls: %d were read, %d bytes were kept in memory", n, calls, bytes)
		}
	}
	prose := strings.Repeat("@a(b): {x}\n", 100) + "@save(c): {\"n\":1}\n"
	if _, calls := gptmeCalls(prose); !calls {
		t.Error("a call after a hundred invalid ones is not read")
	}
}

// cherryOf is a backup of Cherry Studio: an assistant with a prompt of this length has topics t0, t1 and so on, each
// with one question that refers to the same block of this length.
func cherryOf(t testing.TB, topics, prompt, block int) string {
	t.Helper()
	quoted := func(value any) string {
		raw, err := chat.MarshalJSON(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	var names, lists []string
	for i := range topics {
		names = append(names, fmt.Sprintf(`{"id":"t%d","name":"Topic %d"}`, i, i))
		lists = append(lists, fmt.Sprintf(`{"id":"t%d","messages":[{"id":"m%d","role":"user","blocks":["b"]}]}`, i, i))
	}
	assistants := `{"assistants":[{"name":"A","prompt":` + quoted(strings.Repeat("p", prompt)) + `,"topics":[` + strings.Join(names, ",") + `]}]}`
	return `{"time":1,"version":5,"localStorage":{"persist:cherry-studio":` + quoted(`{"assistants":`+quoted(assistants)+`}`) +
		`},"indexedDB":{"topics":[` + strings.Join(lists, ",") + `],"message_blocks":[{"id":"b","type":"main_text","content":` + quoted(strings.Repeat("b", block)) + `}]}}`
}

// TestAPromptOfManyTopics: a prompt is kept in memory once, however many topics use it.
func TestAPromptOfManyTopics(t *testing.T) {
	text := cherryOf(t, 1000, 1<<20, 10)
	storage := text[strings.Index(text, `{"persist`):strings.Index(text, `,"indexedDB"`)]
	f := &cherryFile{topics: map[string]cherryTopic{}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f.names([]byte(storage))
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; len(f.topics) != 1000 || allocated > 64<<20 {
		t.Fatalf("%d bytes for %d topics and a prompt of 1 MB", allocated, len(f.topics))
	}
	topic := f.topics["t999"]
	if folder, system := topic.head(); folder != "A" || len(system) != 1<<20 {
		t.Errorf("folder %q, a prompt of %d bytes", folder, len(system))
	}
}

// TestTextSharedByTopicsIsBounded: a large prompt or block that many conversations share is not written once for each
// of them.
func TestTextSharedByTopicsIsBounded(t *testing.T) {
	for name, text := range map[string]string{"a prompt": cherryOf(t, 40, 1<<20, 10), "a block": cherryOf(t, 40, 10, 1<<20)} {
		taken, limit := 0, 3*len(text)+MaxCherryRepeats
		report, err := Read(context.Background(), fileOf("data.json", text), Options{}, func(c Conversation) error {
			taken += len(c.SystemPrompt)
			for i := range c.Turns {
				taken += c.Turns[i].Size()
			}
			return nil
		})
		if err != nil || taken > limit || taken < MaxCherryRepeats {
			t.Errorf("%s: %d bytes became %d, at most %d are allowed: %v", name, len(text), taken, limit, err)
		}
		if len(report.Notices) == 0 || report.Notices[0].Text != noticeShared || report.Notices[0].Count < 20 {
			t.Errorf("%s: notices %+v", name, report.Notices)
		}
	}
	got, report := read(t, "data.json", cherryOf(t, 200, 20_000, 20_000), Options{})
	if len(got) != 200 || len(report.Notices) > 0 || len(got[199].SystemPrompt) != 20_000 || len(got[199].Turns[0].User.RenderedText()) != 20_000 {
		t.Errorf("shared text of an ordinary backup was left out: %+v", report)
	}
}
