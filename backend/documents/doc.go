// Package documents extracts the text of files that users attach. It stores nothing and uses no network.
//
// Plain text is used byte for byte if it is UTF-8, and decoded if it is UTF-16 with a byte order mark. PDFs and office
// documents are read in a separate process: crafted files can make the parsing libraries loop, overflow the stack or
// fill the memory, and none of that may affect the process that has the conversations open.
package documents

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"contextinfinity/backend/chat"
)

// Limits of what is accepted.
const (
	MaxBytes = 200 << 20 // of a file
	MaxText  = 20 << 20  // bytes of the text in it
)

// Document is a file that was read.
type Document struct {
	Name      string // without its directory
	MediaType string
	Text      string
	// Plain: the text is the file's bytes, unchanged.
	Plain bool
}

// Store stores documents.
type Store interface {
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	AddFile(context.Context, chat.NewFile) (chat.File, error)
}

// New returns the document in the form in which it is stored. tokens is the token count of its text.
func (d Document) New(session chat.SessionID, content []byte, tokens int) chat.NewFile {
	n := chat.NewFile{SessionID: session, Name: d.Name, MediaType: d.MediaType, Content: content, Tokens: tokens}
	if !d.Plain {
		n.Text = d.Text
	}
	return n
}

// Save stores the document, read from content, in the session of a branch. count counts the tokens of its text.
func (d Document) Save(ctx context.Context, to Store, branch chat.BranchID, content []byte, count func(string) int) (chat.File, error) {
	b, err := to.Branch(ctx, branch)
	if err != nil {
		return chat.File{}, err
	}
	return to.AddFile(ctx, d.New(b.SessionID, content, count(d.Text)))
}

// Reader extracts the text of documents.
type Reader struct {
	// Program is run with ReadArgument to read a PDF or an office document: this program itself. If it is empty, such
	// files are rejected.
	Program string
	timeout time.Duration // for one document; 0: processTime
}

// Read extracts the text of a file. An error says why the text could not be extracted and what to do. The file itself
// is never changed.
func (r Reader) Read(ctx context.Context, name string, data []byte) (Document, error) {
	d := Document{Name: baseName(name)}
	if err := CheckSize(d.Name, int64(len(data))); err != nil {
		return d, err
	}
	if isPDF(data) {
		text, err := r.readInProcess(ctx, d.Name, "a PDF", data)
		d.MediaType, d.Text = "application/pdf", text
		return d, err
	}
	if media, ok := officeType(data); ok {
		text, err := r.readInProcess(ctx, d.Name, "an office document", data)
		d.MediaType, d.Text = media, text
		return d, err
	}
	if looksOffice(data) {
		return d, refused("%s looks like an office document, but is damaged or cut off; nothing was attached.", d.Name).
			WithHint("check that it was copied completely, or open it in its program and save it again")
	}
	if isCompound(data) {
		return d, refused("%s has a password, or was written by a version of Office before 2007; nothing was attached.", d.Name).
			WithHint("save it without a password as .docx, .xlsx, .pptx or PDF")
	}
	text, err := decode(d.Name, data)
	if err != nil {
		return d, err
	}
	d.MediaType, d.Text, d.Plain = mediaType(d.Name), text, text == string(data)
	return d, checkText(d.Name, text)
}

// CheckSize rejects a file by its size, before it is read.
func CheckSize(name string, size int64) error {
	switch {
	case size == 0:
		return refused("%s is empty; nothing was attached.", baseName(name))
	case size > MaxBytes:
		return refused("%s is %d MB; the limit is %d MB. Nothing was attached.", baseName(name), size>>20, MaxBytes>>20).
			WithHint("attach the part that matters")
	}
	return nil
}

func checkText(name, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return refused("%s contains no text; nothing was attached.", name)
	case len(text) > MaxText:
		return refused("%s contains more than %d MB of text; nothing was attached.", name, MaxText>>20).
			WithHint("attach it in parts")
	}
	return nil
}

func refused(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeInvalid, "document.read", format, args...)
}

// baseName returns a name that fits on one line: without the directory, on Unix or Windows, and without invisible
// characters.
func baseName(name string) string {
	name = filepath.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), "\\", "/"))
	name = strings.Join(strings.Fields(strings.Map(visible, name)), " ")
	if name == "" || name == "." || name == "/" {
		return "document"
	}
	return name
}
