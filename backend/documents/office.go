package documents

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"contextinfinity/backend/internal/safezip"
)

// Limits of a document that is a zip archive.
const (
	maxParts = 20_000
	maxPart  = 128 << 20 // uncompressed bytes of one part
)

// office extracts the text of one document format: one string per page, or a single string if the format has no
// pages.
type office func(z archive) (pages []string, err error)

// officeFormat returns the media type of a zip archive and its reader; ok is false if the format is not supported.
func officeFormat(z archive) (mediaType string, read office, ok bool) {
	for _, f := range []struct {
		part, media string
		read        office
	}{
		{"word/document.xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", wordText},
		{"xl/workbook.xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", sheetText},
		{"ppt/presentation.xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation", slideText},
	} {
		if z.has(f.part) {
			return f.media, f.read, true
		}
	}
	kind, err := z.bytes("mimetype", 256)
	media := strings.TrimSpace(string(kind))
	switch {
	case err != nil:
	case media == "application/epub+zip":
		return media, bookText, true
	case strings.HasPrefix(media, "application/vnd.oasis.opendocument."):
		return media, openDocumentText, true
	}
	return "", nil, false
}

// isZip checks for the zip signature.
func isZip(data []byte) bool { return bytes.HasPrefix(data, []byte("PK\x03\x04")) }

// firstNames are the names, or prefixes of names, that the first file in a document's archive has.
var firstNames = []string{"[Content_Types].xml", "mimetype", "_rels/", "docProps/", "word/", "xl/", "ppt/", "customXml/", "META-INF/"}

// looksOffice reports whether the first bytes of a file look like an office document.
func looksOffice(head []byte) bool {
	const header = 30 // bytes of a local file header, before its name
	if !isZip(head) || len(head) < header {
		return false
	}
	return slices.ContainsFunc(firstNames, func(name string) bool { return bytes.HasPrefix(head[header:], []byte(name)) })
}

// isCompound checks for the signature of the compound file format, used by Office before 2007 and for
// password-protected documents.
func isCompound(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"))
}

// officeType returns the media type of an office document.
func officeType(data []byte) (string, bool) {
	if !isZip(data) {
		return "", false
	}
	z, err := openArchive(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", false
	}
	media, _, ok := officeFormat(z)
	return media, ok
}

// IsOffice reports whether a zip archive is a document whose text can be extracted.
func IsOffice(r io.ReaderAt, size int64) bool {
	z, err := openArchive(r, size)
	if err != nil {
		return false
	}
	_, _, ok := officeFormat(z)
	return ok
}

// officeText extracts the text of a document. Like pdfText, it runs in the separate process.
func officeText(data []byte, write func(page, pages int, text string)) (end string) {
	z, err := openArchive(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return endBroken
	}
	_, read, ok := officeFormat(z)
	if !ok {
		return endBroken
	}
	pages, err := read(z)
	switch {
	case errors.Is(err, errLong):
		return endLong
	case errors.Is(err, errLocked):
		return endLocked
	case err != nil:
		return endBroken
	case len(pages) > maxPages:
		return endPages
	}
	size := 0
	for i, text := range pages {
		if size += len(text) + 2; size > MaxText {
			return endLong
		}
		write(i+1, len(pages), text)
	}
	return endText
}

// errLocked is returned for an encrypted document.
var errLocked = errors.New("the document is encrypted")

// ---------------------------------------------------------------- parts

// archive maps the names of a document's parts to the files in its zip archive.
type archive struct {
	parts map[string]*zip.File
}

func openArchive(r io.ReaderAt, size int64) (archive, error) {
	z, err := safezip.Open(r, size, maxParts)
	if err != nil {
		return archive{}, err
	}
	a := archive{parts: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		if _, exists := a.parts[f.Name]; !exists {
			a.parts[f.Name] = f
		}
	}
	return a, nil
}

func (a archive) has(name string) bool { return a.parts[name] != nil }

// bytes returns at most the first limit bytes of a part.
func (a archive) bytes(name string, limit int64) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, limit))
}

func (a archive) open(name string) (io.ReadCloser, error) {
	f := a.parts[name]
	if f == nil {
		return nil, errors.New("the archive has no " + name)
	}
	return f.Open()
}

// events are the handlers for the elements and text of an XML part. Names have no namespace prefix.
type events struct {
	start func(name string, attrs attributes) (skip bool) // skip: skip the element with its content
	end   func(name string)
	text  func(text string)
}

type attributes []xml.Attr

func (a attributes) get(name string) string {
	for _, attr := range a {
		if attr.Name.Local == name {
			return attr.Value
		}
	}
	return ""
}

// walk parses an XML part. If f is not nil, parsing stops once f has more text than a document may have.
func (a archive) walk(name string, f *markdown, on events) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	part := &io.LimitedReader{R: r, N: maxPart}
	d := xml.NewDecoder(part)
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity // chapters of e-books are HTML
	for {
		token, err := d.RawToken()
		switch {
		case part.N == 0 || f != nil && f.long():
			return errLong
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if on.start != nil && on.start(t.Name.Local, t.Attr) {
				if err := skipElement(d, t.Name.Local); err != nil {
					return err
				}
			}
		case xml.EndElement:
			if on.end != nil {
				on.end(t.Name.Local)
			}
		case xml.CharData:
			if on.text != nil {
				on.text(string(t))
			}
		}
	}
}

// skipElement reads to the end of an element. Raw tokens are not balanced, so only elements with the same name are
// counted.
func skipElement(d *xml.Decoder, name string) error {
	for depth := 1; depth > 0; {
		token, err := d.RawToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == name {
				depth++
			}
		case xml.EndElement:
			if t.Name.Local == name {
				depth--
			}
		}
	}
	return nil
}

// related returns the parts that a part refers to, by relationship id (OPC).
func (a archive) related(part string) map[string]string {
	out := map[string]string{}
	_ = a.walk(path.Dir(part)+"/_rels/"+path.Base(part)+".rels", nil, events{start: func(name string, attrs attributes) bool {
		if target := attrs.get("Target"); name == "Relationship" && attrs.get("TargetMode") != "External" {
			if !strings.HasPrefix(target, "/") {
				target = path.Join(path.Dir(part), target)
			}
			out[attrs.get("Id")] = strings.TrimPrefix(target, "/")
		}
		return false
	}})
	return out
}
