package journal

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"

	"contextinfinity/backend/internal/seal"
)

// sealedFile is a journal that is sealed: each Write is a record. Its name ties it to its step.
type sealedFile struct {
	File
	records *seal.Records
}

// Write implements io.Writer.
func (f sealedFile) Write(p []byte) (int, error) { return f.records.Write(p) }

// purpose is the name for which a journal is sealed.
func purpose(path string) string { return "journal " + filepath.Base(path) }

// sealedIfKeyed seals a new journal if there is a current key.
func sealedIfKeyed(path string, f File) (File, error) {
	if _, _, ok := seal.Current(); !ok {
		return f, nil
	}
	records, err := seal.NewRecords(f, purpose(path))
	return sealedFile{f, records}, err
}

// opened reads a journal that is sealed, or plain as it is.
func opened(path string, f io.ReadCloser) (io.ReadCloser, error) {
	r, err := seal.ReadRecords(f, purpose(path))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &readFile{Reader: r, Closer: f}, nil
}

// What stands for the part of a journal that is cut off or damaged: a reader takes it for a torn, or an unreadable, line.
const (
	cutLine     = "cut"
	damagedLine = "damaged\n"
)

type readFile struct {
	io.Reader
	io.Closer
}

// Read implements io.Reader.
func (f *readFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	switch {
	case errors.Is(err, seal.ErrCut):
		f.Reader, err = bytes.NewReader([]byte(cutLine)), nil
	case errors.Is(err, seal.ErrDamaged):
		f.Reader, err = bytes.NewReader([]byte(damagedLine)), nil
	}
	return n, err
}

// Plain returns the content of a journal's file, sealed or not.
func Plain(path string, file []byte) ([]byte, error) {
	r, err := opened(path, io.NopCloser(bytes.NewReader(file)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Stored returns a journal's content as it is stored: sealed if there is a current key.
func Stored(path string, content []byte) ([]byte, error) {
	if _, _, ok := seal.Current(); !ok {
		return content, nil
	}
	var out bytes.Buffer
	w, err := seal.NewRecords(&out, purpose(path))
	if err == nil {
		_, err = w.Write(content)
	}
	return out.Bytes(), err
}
