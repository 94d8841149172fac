package documents

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzPDF reads any file like the process for PDFs, but in this process: reading must end in one of the known ways with
// valid text. The library's reader of hexadecimal strings does not stop at the end of its input, so such files are
// skipped; in the program the time limit of the process ends them.
func FuzzPDF(f *testing.F) {
	f.Add(simplePDF("BT /F1 12 Tf 1 0 0 1 72 700 Tm (one) Tj 0 -14 Td [(t) -250 (wo)] TJ (three) ' ET", "q 2 0 0 2 0 0 cm BT (page two) Tj ET Q"))
	f.Add(formPDF())
	f.Add(encryptedPDF())
	paths, _ := filepath.Glob("testdata/*.pdf")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && len(data) < 64<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !isPDF(data) || endless(data) {
			t.Skip("not a PDF, or one on which the library hangs: in the program a time limit ends its process")
		}
		var pages []string
		end := pdfText(data, func(_, _ int, words string) { pages = append(pages, words) })
		text := strings.Join(pages, "\n\f")
		switch end {
		case endText:
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || strings.TrimSpace(text) == "" || len(text) > 2*MaxText {
				t.Fatalf("read as %q", text)
			}
		case endLocked, endPictures, endPages, endLong, endBroken:
			if strings.Contains(text, pageMark) || len(text) > 2*MaxText {
				t.Fatalf("it ended as %s, with the text %q", end, text)
			}
		default:
			t.Fatalf("it ended as %q", end)
		}
	})
}

// FuzzOffice reads any archive like the process for documents, but in this process.
func FuzzOffice(f *testing.F) {
	f.Add(word(f, "<w:p>"+run("one")+"</w:p><w:tbl><w:tr><w:tc><w:p>"+run("two")+"</w:p></w:tc></w:tr></w:tbl>"))
	f.Add(openDocument(f, "text", `<text:h text:outline-level="1">one</text:h><text:p>two<text:s text:c="3"/></text:p>`))
	f.Add(zipOf(f, "ppt/presentation.xml", `<p><sldId r:id="a"/></p>`, "ppt/_rels/presentation.xml.rels", `<r><Relationship Id="a" Target="s.xml"/></r>`, "ppt/s.xml", "<a:p><a:t>one</a:t></a:p>"))
	f.Add(zipOf(f, "mimetype", "application/epub+zip", "META-INF/container.xml", `<rootfile full-path="a"/>`, "a", `<item id="x" href="b"/><itemref idref="x"/>`, "b", "<p>one<br>two"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var pages []string
		end := officeText(data, func(_, _ int, words string) { pages = append(pages, words) })
		text := strings.Join(pages, "\n\f")
		if strings.Contains(text, pageMark) || !utf8.ValidString(text) || len(text) > 2*MaxText {
			t.Fatalf("it ended as %q, with the text %q", end, text)
		}
	})
}

// endless reports whether a file has a hexadecimal string that does not end before its stream or the file does.
func endless(data []byte) bool {
	for part := range bytes.SplitSeq(data, []byte("endstream")) {
		if bytes.LastIndexByte(part, '<') > bytes.LastIndexByte(part, '>') {
			return true
		}
	}
	return false
}
