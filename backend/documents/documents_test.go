package documents

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/test/testtier"
)

// TestMain also acts as the process that reads a file, like main in the program.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ReadArgument {
		os.Exit(ReadFile(os.Stdin, os.Stdout))
	}
	if len(os.Args) > 1 && os.Args[1] == exceedMemoryLimit {
		limitProcess()
		runtime.KeepAlive(make([]byte, 4*processMemory))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// exceedMemoryLimit is the argument that makes the test binary allocate more memory than the process may use.
const exceedMemoryLimit = "exceed-memory-limit"

func reader(t testing.TB) Reader {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Reader{Program: program, timeout: 5 * time.Minute} // what takes long here is not refused for it
}

func TestReadText(t *testing.T) {
	for _, c := range []struct {
		name, file, data, media, text string
		plain                         bool
	}{
		{"plain", "notes.txt", "a\r\nb\n", "text/plain", "a\r\nb\n", true},
		{"Markdown", "PLAN.MD", "# Plan", "text/markdown", "# Plan", true},
		{"code", "/home/x/main.go", "package main\n", "text/x-go", "package main\n", true},
		{"no extension", "Makefile", "all:\n\ttrue\n", "text/plain", "all:\n\ttrue\n", true},
		{"a wrong extension", "picture.png", "only words", "text/plain", "only words", true},
		{"UTF-8 with a byte order mark", "a.csv", "\xEF\xBB\xBFä,b", "text/csv", "ä,b", false},
		{"UTF-16, little-endian", "a.txt", "\xFF\xFEa\x00\xE4\x00", "text/plain", "aä", false},
		{"UTF-16, big-endian", "a.txt", "\xFE\xFF\xD8\x3D\xDE\x00", "text/plain", "😀", false},
		{"several scripts", "a.txt", "日本語 العربية", "text/plain", "日本語 العربية", true},
		{"terminal colours", "a.log", "\x1b[31mred\x1b[0m\n", "text/plain", "\x1b[31mred\x1b[0m\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Reader{}.Read(context.Background(), c.file, []byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if d.MediaType != c.media || d.Text != c.text || d.Plain != c.plain {
				t.Errorf("got %+v", d)
			}
			stored := d.New("s", []byte(c.data), 1)
			if (stored.Text == "") != c.plain || string(stored.Content) != c.data {
				t.Errorf("stored as %+v", stored)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, data, message string }{
		{"nothing.txt", "", "nothing.txt is empty"},
		{"blank.txt", " \n\t ", "contains no text"},
		{"program.exe", "MZ\x00\x00\x01", "is not a text file"},
		{"noise.bin", strings.Repeat("\x01\x02ab", 100), "is not a text file"},
		{"latin.txt", "caf\xe9 cr\xe8me", "unknown encoding"},
		{"odd.txt", "\xFF\xFEa", "cut off in the middle"},
		{"wide.bin", "\xFF\xFE" + strings.Repeat("\x00\xDC", 200), "is not a text file"},
		{"long.txt", strings.Repeat("a", MaxText+1), "more than 20 MB of text"},
		{"a.pdf", "%PDF-1.4\n", "cannot be read here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Reader{}.Read(context.Background(), c.name, []byte(c.data))
			if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), c.message) || !strings.Contains(err.Error(), "nothing was attached") {
				t.Errorf("error: %v", err)
			}
		})
	}
	if err := CheckSize("huge.bin", MaxBytes+1); err == nil || !strings.Contains(err.Error(), "huge.bin is 200 MB") {
		t.Errorf("error: %v", err)
	}
}

func TestBaseName(t *testing.T) {
	for in, want := range map[string]string{
		"/home/a/b.txt": "b.txt", `C:\docs\b.txt`: "b.txt", "": "document", "..": "..", "a\nb\u202etxt.exe": "a btxt.exe", "/": "document", "\xff.md": "\uFFFD.md",
	} {
		if got := baseName(in); got != want {
			t.Errorf("baseName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestReadPDF(t *testing.T) {
	printed, err := os.ReadFile("testdata/browser.pdf")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"one page", simplePDF("BT /F1 12 Tf 72 700 Td (The harbour opens at seven.) Tj ET"), "The harbour opens at seven."},
		{"lines and words by position", simplePDF("BT /F1 10 Tf 10 TL 72 700 Td [(The) -300 (har) 20 (bour)] TJ T* (opens) Tj ( at) Tj 0 -40 Td (Later.) Tj ET"), "The harbour\nopens at\n\nLater."},
		{"pages", simplePDF("BT /F1 9 Tf 1 0 0 1 10 10 Tm (one) Tj ET", "", "BT /F1 9 Tf (three) ' ET"), "one\n\f\n\fthree"},
		{"junk before and after", append(append([]byte("junk\n"), simplePDF("BT /F1 12 Tf (words) Tj ET")...), "\nmore junk, "+strings.Repeat("x", 200)...), ""},
		{"a newer version", bytes.Replace(simplePDF("BT /F1 12 Tf (words) Tj ET"), []byte("%PDF-1.4"), []byte("%PDF-2.0"), 1), "words"},
		{"printed by a browser", printed, "Quarterly report on the “office” figures\nThe turnover of the Lisbon branch was 4,812,300 euro in 2025, an increase of 7.5 percent. Kerning:\n" +
			"AVAVA To Te fluffier.\n\nfirst point\nsecond point\n\nName Amount\nAlpha 12\n\n日本語のテキスト, Größe, Ελληνικά.\n\fPage two says hello."},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := reader(t).Read(context.Background(), "a.pdf", c.data)
			if c.want == "" { // offsets are shifted by the junk: either text or a clear error
				if err == nil && d.Text != "words" {
					t.Errorf("text %q", d.Text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.Text != c.want || d.MediaType != "application/pdf" || d.Plain {
				t.Errorf("got  %q\nwant %q", d.Text, c.want)
			}
		})
	}
}

// Invisible text is marked, because it may be the recognized text of a scan or hidden text that only programs are meant to read.
func TestInvisibleText(t *testing.T) {
	hidden := func(visible, text string) string { return strings.TrimLeft(visible+"\n\n", "\n") + notVisible + text }
	onSmallPage := func(content string) []byte {
		return makePDF([]string{
			"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [4 0 R] /MediaBox [0 0 200 200] /Resources << /Font << /F1 3 0 R >> >> >>",
			helvetica, "<< /Type /Page /Parent 2 0 R /Contents 5 0 R >>", stream("", content),
		})
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"the invisible mode", simplePDF("BT /F1 12 Tf 10 700 Td (seen) Tj 3 Tr 0 -20 Td (obey) Tj 0 Tr 0 -20 Td (more) Tj ET"), hidden("seen\n\nmore", "obey")},
		{"text that is only a clipping path", simplePDF("BT /F1 12 Tf (seen) Tj 7 Tr (obey) Tj ET"), hidden("seen", "obey")},
		{"a mode that Q restores", simplePDF("q 3 Tr Q BT /F1 12 Tf (seen) Tj ET"), "seen"},
		{"a scan with its text", simplePDF("q 3 Tr BT /F1 12 Tf (recognized) Tj ET Q"), hidden("", "recognized")},
		{"no size", simplePDF("BT /F1 12 Tf (seen) Tj /F1 0 Tf (obey) Tj ET"), hidden("seen", "obey")},
		{"almost no size", simplePDF("q 0.01 0 0 0.01 0 0 cm BT /F1 12 Tf (obey) Tj ET Q BT /F1 12 Tf (seen) Tj ET"), hidden("seen", "obey")},
		{"no width", simplePDF("BT /F1 12 Tf (seen) Tj 0 Tz (obey) Tj ET"), hidden("seen", "obey")},
		{"less than a point high", simplePDF("BT /F1 12 Tf (seen) Tj /F1 0.9 Tf 0 -20 Td (obey) Tj ET"), hidden("seen", "obey")},
		{"white on white", simplePDF("BT /F1 12 Tf 10 700 Td (seen) Tj 1 1 1 rg 0 -20 Td (obey) Tj 0 g 0 -20 Td (more) Tj ET"), hidden("seen\n\nmore", "obey")},
		{"white as gray", simplePDF("q 1 g BT /F1 12 Tf (obey) Tj ET Q BT /F1 12 Tf (seen) Tj ET"), hidden("seen", "obey")},
		{"white in CMYK", simplePDF("BT /F1 12 Tf (seen) Tj 0 0 0 0 k (obey) Tj ET"), hidden("seen", "obey")},
		{"white in a colour space", simplePDF("BT /F1 12 Tf (seen) Tj /DeviceRGB cs 1 1 1 sc (obey) Tj ET"), hidden("seen", "obey")},
		{"white on a dark shape", simplePDF("0 0 1 rg 0 0 200 200 re f 1 g BT /F1 12 Tf (seen) Tj ET"), "seen"},
		{"a spot colour with the value 1", simplePDF("/Spot cs 1 scn BT /F1 12 Tf (seen) Tj ET"), "seen"},
		{"white on a white shape", simplePDF("1 g 0 0 200 200 re f BT /F1 12 Tf (obey) Tj 0 g (seen) Tj ET"), hidden("seen", "obey")},
		{"white on a thick line", simplePDF("40 w 0 0 1 RG 0 10 m 200 10 l S 1 g BT /F1 12 Tf (seen) Tj ET"), "seen"},
		{"white on a closed line", simplePDF("40 w 0 10 m 200 10 l s 1 g BT /F1 12 Tf (seen) Tj ET"), "seen"},
		{"white in a shape with a dark edge", simplePDF("1 g 40 w 0 0 200 200 re B BT /F1 12 Tf (seen) Tj ET"), "seen"},
		{"white in a closed shape with a dark edge", simplePDF("1 g 40 w /DeviceRGB CS 0 0 1 SC 0 0 200 200 re b* BT /F1 12 Tf (seen) Tj ET"), "seen"},
		{"white on a white line", simplePDF("40 w 1 1 1 RG 0 10 m 200 10 l S 1 g BT /F1 12 Tf (obey) Tj 0 g (seen) Tj ET"), hidden("seen", "obey")},
		{"white on white lines in CMYK and gray", simplePDF("/DeviceCMYK CS 0 0 0 0 SCN 0 10 m 200 10 l s 1 G 0 9 m 9 9 l S 0 0 0 0 K 0 9 m 9 9 l S 1 g BT /F1 12 Tf (obey) Tj 0 g (seen) Tj ET"), hidden("seen", "obey")},
		{"a white line after Q restored its colour", simplePDF("1 G q 0 G Q 0 10 m 200 10 l S 1 g BT /F1 12 Tf (obey) Tj 0 g (seen) Tj ET"), hidden("seen", "obey")},
		{"outside the page", onSmallPage("BT /F1 12 Tf 10 10 Td (seen) Tj 0 -200 Td (obey) Tj 900 300 Td (too) Tj ET"), hidden("seen", "obey\n\ntoo")},
		{"across the edge of the page", onSmallPage("BT /F1 12 Tf -5 195 Td (seen) Tj ET"), "seen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := reader(t).Read(context.Background(), "a.pdf", c.data)
			if err != nil || d.Text != c.want {
				t.Errorf("got  %q\nwant %q, %v", d.Text, c.want, err)
			}
		})
	}
}

// If a page takes too long, reading ends: the pages before it are kept, and the text says after which page it ended.
func TestReadingEndsBeforeASlowPage(t *testing.T) {
	r := reader(t)
	r.timeout = testtier.Size(8*time.Second, 12*time.Second) // enough to read the other pages on a busy machine; reading the slow page never ends
	d, err := r.Read(context.Background(), "slow.pdf", simplePDF("BT /F1 12 Tf (one) Tj ET", "BT /F1 12 Tf (two) Tj ET", "<", "BT /F1 12 Tf (four) Tj ET"))
	const want = "[Reading ended after page 2 of 4: the next page took too long. The remaining pages are missing from this text.]\n\none\n\ftwo"
	if err != nil || d.Text != want {
		t.Errorf("%q, %v", d.Text, err)
	}
	for _, c := range []struct {
		out  string
		want output
	}{
		{"\x001/2\na\x002/2\nb\x00text\n", output{[]string{"a", "b"}, 2, endText}},
		{"\x001/2\na", output{[]string{"a"}, 2, endBroken}},
		{"\x001/2\na\x00memory\n", output{[]string{"a"}, 2, endMemory}},
		{"\x001/9\na\x003/9\nc", output{[]string{"a"}, 9, "3/9"}},
		{"", output{nil, 0, endBroken}},
	} {
		if got := readOutput(c.out); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q is read as %+v", c.out, got)
		}
	}
}

// The process that parses a file gets no keys.
func TestThePDFProcessHasNoKeys(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to print the environment")
	}
	t.Setenv("OPENAI_API_KEY", "sk-in-the-environment")
	t.Setenv("MY_OWN_NAME", "sk-of-another-name")
	program := filepath.Join(t.TempDir(), "reader")
	script := "#!" + sh + "\nprintf '\\0001/1\\n'; env; printf '\\000text\\n'\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { // must be executable
		t.Fatal(err)
	}
	d, err := Reader{Program: program}.Read(context.Background(), "a.pdf", []byte("%PDF-1.4"))
	if err != nil || !strings.Contains(d.Text, "PATH=") || strings.Contains(d.Text, "sk-") {
		t.Errorf("the environment of the process is %q, %v", d.Text, err)
	}
}

// A file that makes the library fail affects only the separate process.
func TestHostilePDF(t *testing.T) {
	deep := strings.Repeat("[", 4<<20)
	for _, c := range []struct {
		name    string
		data    []byte
		message string
	}{
		{"only the beginning", []byte("%PDF-1.4\n%%EOF"), "is damaged"},
		{"no pages", makePDF([]string{"<< /Type /Catalog >>"}), "is damaged"},
		{"encrypted", encryptedPDF(), "is encrypted"},
		{"no text", simplePDF("0 0 100 100 re f", "q Q"), "contains pictures of pages"},
		{"a cycle of pages", makePDF([]string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>"}), "is damaged"},
		{"a form that draws itself", formPDF(), "contains pictures of pages"},
		{"unterminated nesting", simplePDF("BT " + deep), ""},
		{"an object that refers to itself", makePDF([]string{"<< /Type /Catalog /Pages 2 0 R >>", "2 0 R"}), ""},
		{"an enormous cross-reference table", bytes.Replace(simplePDF("BT (a) Tj ET"), []byte("/Size"), []byte("/Size 999999999999 /X"), 1), ""},
		{"operators without operands", simplePDF("BT Tj TJ ' Td Tm Tf cm Do Q Q Q ET"), ""},
		{"an unknown filter", bytes.Replace(simplePDF("BT (a) Tj ET"), []byte("/Length"), []byte("/Filter /NoSuch /Length"), 1), "is damaged"},
		{"cut in the middle", simplePDF("BT /F1 12 Tf (words) Tj ET")[:200], "is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := reader(t).Read(context.Background(), "evil.pdf", c.data)
			switch {
			case c.message == "" && (err != nil) != (chat.CodeOf(err) == chat.CodeInvalid):
				t.Errorf("error: %v", err)
			case c.message != "" && (err == nil || !strings.Contains(err.Error(), c.message)):
				t.Errorf("text %q, error: %v", d.Text, err)
			}
		})
	}
}

// A page that needs too much memory ends reading, and the pages before it are kept.
func TestPDFThatNeedsTooMuchMemory(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	piece := bytes.Repeat([]byte("a"), 1<<20)
	_, _ = w.Write([]byte("BT ("))
	for range 3 * processMemory / len(piece) { // an unterminated string
		_, _ = w.Write(piece)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	page := "<< /Type /Page /Parent 2 0 R /Contents %d 0 R >>"
	bomb := makePDF([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 2 /Kids [4 0 R 5 0 R] /Resources << /Font << /F1 3 0 R >> >> >>", helvetica,
		fmt.Sprintf(page, 6), fmt.Sprintf(page, 7), stream("", "BT /F1 12 Tf (words) Tj ET"), stream("/Filter /FlateDecode", packed.String()),
	})
	d, err := reader(t).Read(t.Context(), "bomb.pdf", bomb)
	why := "took too much memory"
	if testtier.Race {
		why = "could not be read" // the system's limit is reached first
	}
	if err != nil || !strings.Contains(d.Text, "after page 1 of 2: the next page "+why) || !strings.HasSuffix(d.Text, "words") {
		t.Errorf("%.200q, %v", d.Text, err)
	}
}

// If the library allocates too much between two checks, the allocation fails at RLIMIT_DATA, and the Go runtime ends
// the process.
func TestTheSystemLimitsThePDFProcess(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux counts mapped memory against the limit of the process")
	}
	if err := exec.Command(reader(t).Program, exceedMemoryLimit).Run(); err == nil {
		t.Errorf("the process could allocate %d MB", 4*processMemory>>20)
	}
}

// Reading ends if it takes too long or is cancelled.
func TestPDFThatTakesTooLong(t *testing.T) {
	r := reader(t)
	r.timeout = time.Second
	_, err := r.Read(context.Background(), "slow.pdf", simplePDF("<")) // an unterminated string: the library never stops
	if err == nil || !strings.Contains(err.Error(), "takes too long") {
		t.Errorf("error: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := reader(t).Read(ctx, "a.pdf", simplePDF("BT (words) Tj ET")); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"words", "\xFF\xFEa\x00", "\xFE\xFF\x00a", "\xEF\xBB\xBFx", "\x00", "caf\xe9"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Reader{}.Read(context.Background(), "a.txt", data)
		if err == nil && (strings.TrimSpace(d.Text) == "" || strings.ContainsRune(d.Text, 0) || strings.ToValidUTF8(d.Text, "") != d.Text) {
			t.Errorf("accepted %q as %q", data, d.Text)
		}
		if err != nil && chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("error %v", err)
		}
	})
}

func FuzzUnicodeMap(f *testing.F) {
	for _, s := range []string{"<01> <0041>", "<00> <ff> <0041>", "<0001> <0003> [<0041> <0042>]", "<00><ff>[", "[[[]]]<>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, kind := range []string{"char", "range"} {
			if m := parseUnicode([]byte("beginbf" + kind + "\n" + body + "\nendbf" + kind)); len(m) > maxWidths {
				t.Errorf("%d codes", len(m))
			}
		}
	})
}
