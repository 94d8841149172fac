// Package safezip opens zip archives of strangers. The standard library reads the whole
// list of an archive's files into memory before anybody can count them: of a file of
// gigabytes that is nothing but a list, gigabytes.
package safezip

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
)

// ErrTooMany is of an archive that lists more files than it may.
var ErrTooMany = errors.New("the archive lists too many files")

const (
	// named is how many bytes the list may take for a file: its name, and what stands
	// beside it.
	named = 1 << 10
	// tail is read before the list: where it begins is said at the end of the file.
	tail = 256 << 10
)

// Open reads the list of an archive, of at most this many files. A name in it that leads
// out of the archive is not an error: look at the names.
func Open(r io.ReaderAt, size int64, most int) (*zip.Reader, error) {
	g := &guard{r: r, files: most, bytes: tail + int64(most)*named}
	z, err := zip.NewReader(g, size)
	g.open = true // what is in the files is bounded by who reads it
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	if len(z.File) > most {
		return nil, ErrTooMany
	}
	return z, nil
}

// guard counts what is read of a list, and the heads of files in it.
type guard struct {
	r     io.ReaderAt
	open  bool
	files int   // that may still come
	bytes int64 // likewise
	next  int64 // where the last reading ended
	rest  []byte
}

// head begins the entry of a file in the list.
var head = []byte("PK\x01\x02")

func (g *guard) ReadAt(p []byte, at int64) (int, error) {
	n, err := g.r.ReadAt(p, at)
	if g.open {
		return n, err
	}
	if at != g.next {
		g.rest = nil
	}
	seen := append(g.rest, p[:n]...)
	g.files -= bytes.Count(seen, head)
	g.bytes -= int64(n)
	g.next = at + int64(n)
	g.rest = bytes.Clone(seen[max(0, len(seen)-len(head)+1):])
	if g.files < -slack || g.bytes < 0 {
		return 0, ErrTooMany
	}
	return n, err
}

// slack is how often the end of an archive, which is looked through before its list is,
// may hold the heads of the same files again.
const slack = tail / 46
