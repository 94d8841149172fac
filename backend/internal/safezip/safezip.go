// Package safezip opens untrusted zip archives. The standard library reads an archive's complete file list into
// memory before the files can be counted, and a large archive may consist only of its list.
package safezip

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
)

// ErrTooMany means that an archive lists more files than allowed.
var ErrTooMany = errors.New("the archive lists too many files")

const (
	// bytesPerFile is how many bytes of the list are allowed per file: its name and its header.
	bytesPerFile = 1 << 10
	// tail is the maximum size of the end of the file, which is read before the list: it says where the list begins.
	tail = 256 << 10
)

// Open reads the list of an archive with at most maxFiles files. A name that leads outside of the archive is not an
// error: the caller must check the names.
func Open(r io.ReaderAt, size int64, maxFiles int) (*zip.Reader, error) {
	g := &guard{r: r, files: maxFiles, bytes: tail + int64(maxFiles)*bytesPerFile}
	z, err := zip.NewReader(g, size)
	g.open = true // the callers limit what they read of the files
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	if len(z.File) > maxFiles {
		return nil, ErrTooMany
	}
	return z, nil
}

// guard counts the bytes read of a list, and the file headers in it.
type guard struct {
	r     io.ReaderAt
	open  bool
	files int    // still allowed
	bytes int64  // still allowed
	next  int64  // end of the last read
	rest  []byte // the end of the last read, which may contain the start of an entryHeader
}

// entryHeader begins the entry of a file in the list.
var entryHeader = []byte("PK\x01\x02")

func (g *guard) ReadAt(p []byte, at int64) (int, error) {
	n, err := g.r.ReadAt(p, at)
	if g.open {
		return n, err
	}
	if at != g.next {
		g.rest = nil
	}
	seen := append(g.rest, p[:n]...)
	g.files -= bytes.Count(seen, entryHeader)
	g.bytes -= int64(n)
	g.next = at + int64(n)
	g.rest = bytes.Clone(seen[max(0, len(seen)-len(entryHeader)+1):])
	if g.files < -slack || g.bytes < 0 {
		return 0, ErrTooMany
	}
	return n, err
}

// slack is how often the end of an archive, which is read before the list, may contain the same file headers.
const slack = tail / 46
