package documents

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"

	"contextinfinity/backend/internal/safezip"
)

// Bounds of a document that is a zip archive.
const (
	maxParts = 20_000
	maxPart  = 128 << 20 // bytes of a part, unpacked
)

// office reads one format of documents that are zip archives. It gives the pages of one that has pages, else all as one.
type office func(z archive) (pages []string, err error)

// officeFormat is the media type of a zip archive and what reads it; ok is false if it is no document that can be read.
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

// isZip looks for the mark at the beginning.
func isZip(data []byte) bool { return bytes.HasPrefix(data, []byte("PK\x03\x04")) }

// firstNames are what the first file of such an archive is called, or begins with.
var firstNames = []string{"[Content_Types].xml", "mimetype", "_rels/", "docProps/", "word/", "xl/", "ppt/", "customXml/", "META-INF/"}

// looksOffice judges by the first bytes of a file.
func looksOffice(head []byte) bool {
	const header = 30 // bytes of a local file header, before its name
	if !isZip(head) || len(head) < header {
		return false
	}
	for _, name := range firstNames {
		if bytes.HasPrefix(head[header:], []byte(name)) {
			return true
		}
	}
	return false
}

// isCompound looks for the mark of the format that Office wrote until 2007, in which it also wraps documents with a password.
func isCompound(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"))
}

// officeType is the media type of an office document.
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

// IsOffice reports whether a zip archive is a document that can be read.
func IsOffice(r io.ReaderAt, size int64) bool {
	z, err := openArchive(r, size)
	if err != nil {
		return false
	}
	_, _, ok := officeFormat(z)
	return ok
}

// officeText reads a document in a process of its own, as pdfText does.
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

// errLocked ends a document that is encrypted.
var errLocked = errors.New("the document is encrypted")

// ---------------------------------------------------------------- parts

// archive is a document's zip, by the names of its parts.
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
		if _, twice := a.parts[f.Name]; !twice {
			a.parts[f.Name] = f
		}
	}
	return a, nil
}

func (a archive) has(name string) bool { return a.parts[name] != nil }

// bytes are a part's, at most so many.
func (a archive) bytes(name string, most int64) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, most))
}

func (a archive) open(name string) (io.ReadCloser, error) {
	f := a.parts[name]
	if f == nil {
		return nil, errors.New("the archive has no " + name)
	}
	return f.Open()
}

// events are what is done with the elements and texts of an XML part, by their names without a namespace.
type events struct {
	start func(name string, at attributes) (skip bool) // skip: the element is passed over with all that is in it
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

// walk reads an XML part. f, if there is one, bounds the text that is read of it.
func (a archive) walk(name string, f *markdown, on events) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	part := &io.LimitedReader{R: r, N: maxPart}
	d := xml.NewDecoder(part)
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity // the chapters of books are HTML
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
				if err := passOver(d, t.Name.Local); err != nil {
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

// passOver reads to the end of an element. Only elements of its own name count: raw tokens have no tree.
func passOver(d *xml.Decoder, name string) error {
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

// related are the parts that a part names by an id, by that id (OPC relationships).
func (a archive) related(part string) map[string]string {
	out := map[string]string{}
	_ = a.walk(path.Dir(part)+"/_rels/"+path.Base(part)+".rels", nil, events{start: func(name string, at attributes) bool {
		if target := at.get("Target"); name == "Relationship" && at.get("TargetMode") != "External" {
			if !strings.HasPrefix(target, "/") {
				target = path.Join(path.Dir(part), target)
			}
			out[at.get("Id")] = strings.TrimPrefix(target, "/")
		}
		return false
	}})
	return out
}
