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

// isPDF looks for the mark near the beginning, where other programs look too.
func isPDF(data []byte) bool { return bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) }

// pdfText reads a PDF in a process of its own. It gives each page to write as soon as it
// is read, in order, and returns how reading ended.
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
	case letters < len(pages): // scans with a stray mark have no text either
		return endPictures
	}
	return endText
}

// plainHeader makes the file begin and end as the library insists on: with a version
// it knows and with nothing around the marks.
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

// Bounds of the tree of pages.
const (
	maxDepth = 64
	maxNodes = 4 * maxPages
)

// pagesOf walks the tree of pages once; asking the library for them one by one walks
// it for each. What is not a tree, but a circle, ends at a bound.
func pagesOf(r *pdf.Reader) (pages []pdf.Value, err error) {
	defer recovered(&err)
	nodes := 0
	var walk func(v pdf.Value, depth int)
	walk = func(v pdf.Value, depth int) {
		if nodes++; nodes > maxNodes || depth > maxDepth {
			panic("the tree of pages has no end")
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

// pageText is what a page says, in the order in which it was written.
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

// notVisible heads what a page holds and does not show. A scan has its recognized text
// there, so it is kept; other pages have it to be found by programs, so it is named.
const notVisible = "[Text that is not visible on the page:]\n"

// errLong ends a page of more text than a document may have.
var errLong = errors.New("too much text")

// recovered turns a panic of the library, which is how it reports what it cannot
// read, into an error.
func recovered(err *error) {
	switch x := recover().(type) {
	case nil:
	case error:
		*err = x
	default:
		*err = fmt.Errorf("reading the PDF: %v", x)
	}
}

// inherited is a page's attribute, or that of the tree above it.
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

// tidy drops what draws nothing, white space at line ends, and runs of empty lines.
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

// glyphs replaces characters that name a shape by those that one writes: ligatures,
// and the radicals that some fonts give for the characters they look like.
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
