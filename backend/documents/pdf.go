package documents

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/unicode/norm"
)

// isPDF looks for the signature near the beginning of the file, as other PDF readers do.
func isPDF(data []byte) bool { return bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) }

// pdfText extracts the text of a PDF; it runs in the separate process. It passes each page to write as soon as it is
// read, in order, and returns how reading ended.
func pdfText(data []byte, write func(page, pages int, text string)) (end string) {
	data = plainHeader(data)
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		if errors.Is(err, pdf.ErrInvalidPassword) || bytes.Contains(data, []byte("/Encrypt")) {
			return endLocked
		}
		return endBroken
	}
	pages, err := pagesOf(r)
	if err != nil {
		return endBroken
	}
	if len(pages) > maxPages {
		return endPages
	}
	return readPages(pages, write)
}

func readPages(pages []pdf.Value, write func(page, pages int, text string)) (end string) {
	failed, letters, size := 0, 0, 0
	for i, p := range pages {
		words, err := pageText(p)
		if errors.Is(err, errLong) {
			return endLong
		}
		if err != nil {
			failed++
			words = fmt.Sprintf("[Page %d could not be read.]", i+1)
		} else {
			letters += lettersIn(strings.ReplaceAll(words, notVisible, ""))
		}
		if size += len(words) + 2; size > MaxText {
			return endLong
		}
		write(i+1, len(pages), words)
	}
	switch {
	case failed == len(pages):
		return endBroken
	case letters < len(pages): // a scan with a few stray characters counts as pictures, too
		return endPictures
	}
	return endText
}

// plainHeader adapts the beginning and end of the file to what the library accepts: a known version, and nothing
// before the header or after the end marker.
func plainHeader(data []byte) []byte {
	if at := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-")); at > 0 {
		data = data[at:]
	}
	if at := bytes.LastIndex(data, []byte("%%EOF")); at >= 0 {
		data = data[:at+len("%%EOF")]
	}
	if len(data) < 10 {
		return data
	}
	return append([]byte("%PDF-1.7\n"), data[9:]...)
}

// Limits of the page tree.
const (
	maxDepth = 64
	maxNodes = 4 * maxPages
)

// pagesOf walks the page tree once; the library would walk it again for each page. The limits stop at a tree with
// cycles.
func pagesOf(r *pdf.Reader) (pages []pdf.Value, err error) {
	defer recovered(&err)
	nodes := 0
	var walk func(v pdf.Value, depth int)
	walk = func(v pdf.Value, depth int) {
		if nodes++; nodes > maxNodes || depth > maxDepth {
			panic("the page tree has a cycle")
		}
		kids := v.Key("Kids")
		if kids.Kind() != pdf.Array {
			pages = append(pages, v)
			return
		}
		for i := 0; i < kids.Len() && len(pages) <= maxPages; i++ {
			walk(kids.Index(i), depth+1)
		}
	}
	root := r.Trailer().Key("Root").Key("Pages")
	if root.IsNull() {
		return nil, errors.New("the PDF has no pages")
	}
	walk(root, 0)
	return pages, nil
}

// pageText returns the text of a page in drawing order.
func pageText(v pdf.Value) (text string, err error) {
	defer recovered(&err)
	p := &page{fonts: map[string]*font{}, box: boxOf(v)}
	p.scale = identity
	p.run(v.Key("Contents"), inherited(v, "Resources"), 0)
	text, hidden := tidy(p.seen.out.String()), tidy(p.unseen.out.String())
	if strings.TrimSpace(hidden) != "" {
		text = strings.TrimLeft(text+"\n\n", "\n") + notVisible + hidden
	}
	return text, nil
}

// notVisible is the heading of text that is on the page but not visible. The recognized text of a scan is such text,
// so it must be kept; elsewhere it may be hidden on purpose, so it is labelled.
const notVisible = "[Text that is not visible on the page:]\n"

// errLong is returned when a document has more text than allowed.
var errLong = errors.New("too much text")

// recovered converts a panic into an error: the library panics on input it cannot read.
func recovered(err *error) {
	switch x := recover().(type) {
	case nil:
	case error:
		*err = x
	default:
		*err = fmt.Errorf("reading the PDF: %v", x)
	}
}

// inherited returns an attribute of a page, or of its nearest ancestor in the page tree.
func inherited(v pdf.Value, key string) pdf.Value {
	for range maxDepth {
		if found := v.Key(key); !found.IsNull() {
			return found
		}
		if v = v.Key("Parent"); v.IsNull() {
			break
		}
	}
	return pdf.Value{}
}

// tidy removes invisible characters, white space at line ends, and repeated empty lines.
func tidy(s string) string {
	var out []string
	for line := range strings.SplitSeq(strings.Map(visible, strings.ToValidUTF8(s, "")), "\n") {
		line = strings.TrimRight(glyphs.Replace(line), " \t")
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimRight(strings.ReplaceAll(strings.Join(out, "\n"), "\f", " "), "\n")
}

// glyphs replaces characters that encode a glyph by the characters they stand for: ligatures, and radicals that some
// fonts use instead of the characters they look like.
var glyphs = func() *strings.Replacer {
	var pairs []string
	for _, r := range []struct{ from, to rune }{{0xFB00, 0xFB06}, {0x2E80, 0x2FDF}} {
		for c := r.from; c <= r.to; c++ {
			if plain := norm.NFKC.String(string(c)); plain != string(c) {
				pairs = append(pairs, string(c), plain)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}()

func lettersIn(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
