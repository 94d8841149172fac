// Package filetype detects what kind of file a user dropped on the window, chose in a dialog or named on the command
// line. It checks the content, not only the name. It reads only the beginning of a file, or the directory of an archive and
// the beginnings of its entries, changes nothing, and gives a reason if the file cannot be used. The rest of the file may still be damaged.
package filetype

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/transfer"
)

// Kind is the kind of a file.
type Kind string

const (
	Transcript Kind = "transcript"
	Bundle     Kind = "bundle"
	Backup     Kind = "backup"
	Document   Kind = "document"
	Image      Kind = "image"
	Folder     Kind = "folder"
	Unknown    Kind = "unknown"
)

// File is what was detected about a path.
type File struct {
	Path   string      `json:"path"` // absolute, unless that failed
	Name   string      `json:"name"`
	Size   int64       `json:"size"`
	Kind   Kind        `json:"kind"`
	Format string      `json:"format"` // of a transcript
	Sealed bool        `json:"sealed"` // a bundle, or an archive of them, that a passphrase opens; or a folder with such files
	Reason chat.Phrase `json:"reason"` // why the file cannot be used; empty if it can
}

// Limits of what is accepted.
const (
	MaxImageBytes = 5 << 20
	// MaxAtOnce is the largest number of files examined in one call.
	MaxAtOnce = 10_000
)

// imageTypes are the image types accepted by every provider.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// IsImage reports whether models accept images of a media type.
func IsImage(media string) bool { return slices.Contains(imageTypes, media) }

// NewImage returns an image for a message; name is used in its errors.
//
// Errors: CodeInvalid for a type not accepted by any model, or for more than MaxImageBytes.
func NewImage(name, media string, data []byte) (chat.Image, error) {
	switch {
	case !IsImage(media):
		return chat.Image{}, chat.Errorf(chat.CodeInvalid, "chat.image", "%s is of a type not accepted by any model (%s); nothing was sent.", name, media).WithHint("use PNG, JPEG, GIF or WebP")
	case len(data) > MaxImageBytes:
		return chat.Image{}, chat.Errorf(chat.CodeInvalid, "chat.image", "%s is %d bytes; the limit for an image is 5 MB. Nothing was sent.", name, len(data)).WithHint("scale it down")
	}
	return chat.NewImage(media, data), nil
}

// Absolute cleans a path that a user typed: absolute, or starting with ~ for the home directory. Other relative
// paths are rejected.
func Absolute(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		return "", chat.Errorf(chat.CodeInvalid, "file.open", "%q does not say which folder it is in.", path).WithHint("give the full path")
	}
	return filepath.Clean(path), nil
}

// DetectAll detects the kind of several files.
func DetectAll(paths []string) ([]File, error) {
	if len(paths) > MaxAtOnce {
		return nil, chat.Errorf(chat.CodeInvalid, "file.inspect", "There are %d files; at most %d can be opened at once.", len(paths), MaxAtOnce).
			WithHint("choose the folder that contains them, or fewer files")
	}
	return lists.Map(paths, Detect), nil
}

// Detect detects the kind of a file.
func Detect(path string) File {
	f := File{Path: path, Name: filepath.Base(path), Kind: Unknown}
	full, err := Absolute(path)
	if err != nil {
		f.Reason = chat.AsError(err).Phrase()
		return f
	}
	f.Path, f.Name = full, filepath.Base(full)
	info, err := os.Stat(full)
	switch {
	case err != nil:
		f.Reason = unreadable(err)
	case info.IsDir():
		f.Kind, f.Sealed = Folder, len(SealedIn(full, 1)) > 0
	case !info.Mode().IsRegular():
		f.Reason = chat.Say("It is not a file but %s.", describeMode(info.Mode()))
	case info.Size() == 0:
		f.Reason = chat.Say("It is empty.")
	default:
		f.Size = info.Size()
		f.detect()
	}
	return f
}

// maxSearched limits how many entries of a folder are searched for a sealed file.
const maxSearched = 10_000

// SealedIn returns the first files of a folder, at most limit, that a passphrase opens, by their names and content.
func SealedIn(folder string, limit int) (paths []string) {
	searched := 0
	_ = filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		searched++
		switch {
		case len(paths) == limit || searched > maxSearched:
			return fs.SkipAll
		case err != nil:
			return nil // what cannot be read is not imported either
		case d.IsDir() && at != folder && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(at), seal.Extension) && isSealed(at):
			paths = append(paths, at)
		}
		return nil
	})
	return paths
}

func isSealed(path string) bool {
	file, err := plainfile.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 64)
	n, _ := file.ReadAt(head, 0)
	return seal.IsSealed(head[:n])
}

func unreadable(err error) chat.Phrase {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return chat.Say("There is no such file.")
	case errors.Is(err, fs.ErrPermission):
		return chat.Say("You do not have permission to read it.")
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return chat.Say("It cannot be read: %s.", err)
}

func describeMode(m fs.FileMode) chat.Phrase {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return chat.Say("a pipe")
	case m&fs.ModeSocket != 0:
		return chat.Say("a socket")
	case m&fs.ModeDevice != 0:
		return chat.Say("a device")
	}
	return chat.Say("a special file")
}

// detect detects the kind from the content of the file.
func (f *File) detect() {
	file, err := plainfile.Open(f.Path)
	if err != nil {
		f.Reason = unreadable(err)
		return
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, min(f.Size, transfer.HeadBytes))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Reason = unreadable(err)
		return
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		f.database(head)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		f.archive(file)
	case seal.IsSealed(head): // what is in it is seen when it is imported
		f.Kind, f.Sealed = Bundle, true
	case chat.ImageType(head) != "":
		f.Kind = Image
		if f.Size > MaxImageBytes {
			f.Reason = chat.Say("It is %d MB; the limit for an image is %d MB.", f.Size>>20, MaxImageBytes>>20)
		}
	default:
		f.text(file, head)
	}
}

// applicationID is the SQLite application id of this program's databases ("CINF").
const applicationID = 0x43494E46

func (f *File) database(head []byte) {
	if len(head) >= 72 && binary.BigEndian.Uint32(head[68:]) == applicationID {
		f.Kind = Backup
		return
	}
	f.Reason = chat.Say("It is a database of another program.")
}

// archive detects the kind of a zip archive.
func (f *File) archive(file *os.File) {
	format, err := transfer.PeekArchive(f.Name, file, f.Size)
	switch {
	case err == nil && format == transfer.FormatBundle:
		f.Kind = Bundle
	case strings.EqualFold(filepath.Ext(f.Name), ".cinf"):
		f.Reason = chat.Say("It is named .cinf but is not a bundle of this program.")
	case err == nil:
		f.Kind, f.Format = Transcript, string(format)
	case documents.IsOffice(file, f.Size):
		f.document()
	default:
		f.Reason = chat.AsError(err).Phrase()
	}
}

// document marks the file as a document, and sets a reason if it is too large.
func (f *File) document() {
	f.Kind = Document
	if f.Size > documents.MaxBytes {
		f.Reason = chat.Say("It is %d MB; the limit for a document is %d MB. Attach the part that matters.", f.Size>>20, documents.MaxBytes>>20)
	}
}

// text distinguishes exports from documents. An export is JSON from its first character; a file that merely contains
// JSON is a document.
func (f *File) text(file io.ReaderAt, head []byte) {
	if transfer.BeginsJSON(head) || transfer.IsCompressed(head) {
		if format, err := transfer.Detect(f.Name, file, f.Size); err == nil {
			f.Kind, f.Format = Transcript, string(format)
			if f.Size > transfer.MaxFileBytes {
				f.Reason = chat.Say("It is %d GB; the limit is %d GB.", f.Size>>30, transfer.MaxFileBytes>>30)
			}
			return
		}
	}
	switch documents.Peek(head, int64(len(head)) == f.Size) {
	case documents.LooksReadable:
		f.document()
	case documents.LooksEncoded:
		f.Reason = chat.Say("It is text in an unknown encoding; save it as UTF-8.")
	case documents.LooksOld:
		f.Reason = chat.Say("It has a password, or was written by a version of Office before 2007; save it without a password as .docx, .xlsx, .pptx or PDF to attach it.")
	default:
		f.Reason = chat.Say("It is not text, a PDF, an office document, an image, or an export that can be imported.")
	}
}
