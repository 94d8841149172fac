package filetype

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func zipOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sqlite returns the header of a database with this application id.
func sqlite(id uint32) string {
	head := make([]byte, 100)
	copy(head, "SQLite format 3\x00")
	binary.BigEndian.PutUint32(head[68:], id)
	return string(head)
}

const (
	chatgpt = `[{"title":"a","create_time":1.5,"mapping":{},"conversation_id":"c"}]`
	claude  = `[{"uuid":"u","name":"n","account":{"uuid":"a"},"chat_messages":[]}]`
)

// The type of a file is detected from its content, whatever its name is.
func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		file, content string
		kind          Kind
		format        string
		reason        string // a part of the reason
	}{
		"an export":                   {"conversations.json", chatgpt, Transcript, "chatgpt", ""},
		"an export by another name":   {"notes.txt", chatgpt, Transcript, "chatgpt", ""},
		"an export with a mark":       {"a.json", "\xEF\xBB\xBF\n" + claude, Transcript, "claude", ""},
		"an export in a zip":          {"export.zip", zipOf(t, map[string]string{"x/conversations.json": chatgpt, "user.json": "{}"}), Transcript, "chatgpt", ""},
		"a truncated zip":             {"export.zip", zipOf(t, map[string]string{"a.json": chatgpt})[:60], Unknown, "", "damaged"},
		"a zip with a path outside":   {"export.zip", zipOf(t, map[string]string{"../../a.json": chatgpt}), Unknown, "", "outside"},
		"a zip of something else":     {"photos.zip", zipOf(t, map[string]string{"a.jpg": "\xff\xd8\xff"}), Unknown, "", "not an export"},
		"a zip in a zip":              {"all.zip", zipOf(t, map[string]string{"inner.zip": zipOf(t, map[string]string{"a.json": chatgpt})}), Unknown, "", "inside an archive"},
		"a bundle":                    {"session.cinf", zipOf(t, map[string]string{"meta.json": "{}", "events.ndjson": ""}), Bundle, "", ""},
		"a bundle by another name":    {"session.zip", zipOf(t, map[string]string{"meta.json": "{}", "events.ndjson": ""}), Bundle, "", ""},
		"a sealed bundle":             {"session.cinf.age", "age-encryption.org/v1\n-> scrypt AAAA 18\nBBBB\n--- CCCC\n....", Bundle, "", ""},
		"an export called a bundle":   {"session.cinf", zipOf(t, map[string]string{"conversations.json": chatgpt}), Unknown, "", "is not a bundle"},
		"an office document":          {"letter.docx", zipOf(t, map[string]string{"[Content_Types].xml": "<a/>", "word/document.xml": "<a/>"}), Document, "", ""},
		"a document from before 2007": {"letter.doc", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 600), Unknown, "", "before 2007"},
		"a backup":                    {"copy.db", sqlite(applicationID), Backup, "", ""},
		"another program's database":  {"history.db", sqlite(7), Unknown, "", "another program"},
		"a png":                       {"shot", "\x89PNG\r\n\x1a\n....", Image, "", ""},
		"a webp":                      {"a.webp", "RIFF\x10\x00\x00\x00WEBPVP8 ", Image, "", ""},
		"a jpeg called text":          {"a.txt", "\xff\xd8\xff\xe0", Image, "", ""},
		"an image too large":          {"a.gif", "GIF89a" + strings.Repeat("x", MaxImageBytes), Image, "", "5 MB"},
		"a pdf":                       {"a.pdf", "%PDF-1.7\n\x00\x01", Document, "", ""},
		"text":                        {"a.md", "# The harbour\n", Document, "", ""},
		"a program with JSON in it":   {"a.py", "m = {\"role\": \"user\", \"content\": \"x\"}\n", Document, "", ""},
		"JSON of something else":      {"package.json", `{"name":"x","version":"1"}`, Document, "", ""},
		"a picture as text":           {"a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", Document, "", ""},
		"text in an old encoding":     {"a.txt", "f\xfcr die K\xfcche, und sonst nichts", Unknown, "", "encoding"},
		"a program":                   {"a.bin", "\x7fELF\x00\x00", Unknown, "", "not text"},
		"nothing":                     {"a.txt", "", Unknown, "", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got := Detect(path)
			if got.Kind != c.kind || got.Format != c.format || got.Name != c.file || got.Path != path || got.Size != int64(len(c.content)) {
				t.Errorf("%+v", got)
			}
			if got.Reason.IsZero() != (c.reason == "") || !strings.Contains(got.Reason.String(), c.reason) {
				t.Errorf("reason %q, want %q in it", got.Reason, c.reason)
			}
		})
	}
}

// Pipes, sockets and other special files are recognized without waiting for them.
func TestDetectSpecialFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("sockets and these permissions do not exist here")
	}
	dir := t.TempDir()
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	closed := filepath.Join(dir, "closed.txt")
	if err := os.WriteFile(closed, []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "loop")
	if err := os.Symlink(link, link); err != nil {
		t.Fatal(err)
	}
	sparse := filepath.Join(dir, "huge.txt")
	if err := os.WriteFile(sparse, []byte(strings.Repeat("x", 70_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 300<<20); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	for path, c := range map[string]struct {
		kind   Kind
		reason string
	}{
		dir:                        {Folder, ""},
		"~":                        {Folder, ""},
		"~/s":                      {Unknown, "a socket"},
		"/dev/null":                {Unknown, "a device"},
		filepath.Join(dir, "gone"): {Unknown, "no such file"},
		link:                       {Unknown, "cannot be read"},
		closed:                     {Unknown, "do not have permission to read"},
		sparse:                     {Document, "200 MB"},
		"notes.txt":                {Unknown, "full path"},
		"":                         {Unknown, "full path"},
	} {
		if path == closed && os.Getuid() == 0 {
			continue // root may read all files
		}
		got := Detect(path)
		if got.Kind != c.kind || got.Reason.IsZero() != (c.reason == "") || !strings.Contains(got.Reason.String(), c.reason) {
			t.Errorf("%s: %+v, want %s because %q", path, got, c.kind, c.reason)
		}
	}
}

func TestAllIsBounded(t *testing.T) {
	if _, err := DetectAll(make([]string, MaxAtOnce+1)); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("%v", err)
	}
	if got, err := DetectAll(make([]string, MaxAtOnce)); err != nil || len(got) != MaxAtOnce {
		t.Errorf("%d, %v", len(got), err)
	}
}
