// Package documents reads files that people attach: bytes in, text out. It keeps
// nothing and asks nobody.
//
// Text is taken as it is, byte for byte, if it is UTF-8, or UTF-16 with its mark.
// PDFs and office documents are taken apart by a process of its own: the libraries that
// do it can be made to loop, to overflow their stack and to fill memory, none of which
// may reach the program that holds the conversations.
package documents

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"contextinfinity/backend/chat"
)

// What is accepted at most.
const (
	MaxBytes = 200 << 20 // of a file
	MaxText  = 20 << 20  // bytes of the text in it
)

// Document is a file that was read.
type Document struct {
	Name      string // without its directory
	MediaType string
	Text      string
	// Plain: the file's bytes are the text itself.
	Plain bool
}

// Store keeps documents.
type Store interface {
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	AddFile(context.Context, chat.NewFile) (chat.File, error)
}

// New is the document as the store keeps it. tokens counts those of its text.
func (d Document) New(session chat.SessionID, content []byte, tokens int) chat.NewFile {
	n := chat.NewFile{SessionID: session, Name: d.Name, MediaType: d.MediaType, Content: content, Tokens: tokens}
	if !d.Plain {
		n.Text = d.Text
	}
	return n
}

// Keep stores a document that was read from content in the session of a branch. count counts the tokens of its text.
func (d Document) Keep(ctx context.Context, to Store, branch chat.BranchID, content []byte, count func(string) int) (chat.File, error) {
	b, err := to.Branch(ctx, branch)
	if err != nil {
		return chat.File{}, err
	}
	return to.AddFile(ctx, d.New(b.SessionID, content, count(d.Text)))
}

// Reader reads documents.
type Reader struct {
	// Program is run with ReadArgument to take a PDF or an office document apart: this
	// program itself. With none they are refused.
	Program string
	timeout time.Duration // of one document; 0: processTime
}

// Read is the text of a file. Its errors say why there is none and what to do; the
// file itself is never changed.
func (r Reader) Read(ctx context.Context, name string, data []byte) (Document, error) {
	d := Document{Name: baseName(name)}
	if err := CheckSize(d.Name, int64(len(data))); err != nil {
		return d, err
	}
	if isPDF(data) {
		text, err := r.apart(ctx, d.Name, "a PDF", data)
		d.MediaType, d.Text = "application/pdf", text
		return d, err
	}
	if media, ok := officeType(data); ok {
		text, err := r.apart(ctx, d.Name, "an office document", data)
		d.MediaType, d.Text = media, text
		return d, err
	}
	if looksOffice(data) {
		return d, refused("%s begins like an office document and is damaged or cut off; nothing was attached.", d.Name).
			WithHint("check that it was copied completely, or open it in its program and save it again")
	}
	if isCompound(data) {
		return d, refused("%s has a password, or was written by an Office from before 2007; nothing was attached.", d.Name).
			WithHint("save it without a password as .docx, .xlsx, .pptx or PDF")
	}
	text, err := decode(d.Name, data)
	if err != nil {
		return d, err
	}
	d.MediaType, d.Text, d.Plain = mediaType(d.Name), text, text == string(data)
	return d, checkText(d.Name, text)
}

// CheckSize refuses a file by its size alone, before it is read.
func CheckSize(name string, size int64) error {
	switch {
	case size == 0:
		return refused("%s is empty; nothing was attached.", baseName(name))
	case size > MaxBytes:
		return refused("%s has %d MB; at most %d MB can be attached, so nothing was attached.", baseName(name), size>>20, MaxBytes>>20).
			WithHint("attach the part that matters")
	}
	return nil
}

func checkText(name, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return refused("%s has no text in it; nothing was attached.", name)
	case len(text) > MaxText:
		return refused("%s contains %d MB of text; at most %d MB can be attached, so nothing was attached.", name, len(text)>>20, MaxText>>20).
			WithHint("attach it in parts")
	}
	return nil
}

func refused(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeInvalid, "document.read", format, args...)
}

// baseName is a name that can be shown on a line: no directory, of either kind of
// system, and no character that draws nothing.
func baseName(name string) string {
	name = filepath.Base(strings.ReplaceAll(strings.ToValidUTF8(name, "\uFFFD"), "\\", "/"))
	name = strings.Join(strings.Fields(strings.Map(visible, name)), " ")
	if name == "" || name == "." || name == "/" {
		return "document"
	}
	return name
}
