package seal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// A file that is appended to is a header and records: the length of a unit in four bytes, little-endian, and the unit.
// Its additional data is its number, so records can be neither exchanged nor left out, except at the end.

// maxRecord limits the content of a record, in bytes.
const maxRecord = 1 << 20

const recordKind = 'r'

// ErrCut is the error of a file that ends within a record or its header: the last write was interrupted.
var ErrCut = errors.New("it ends within a record")

// Records appends records. What is written together is one record, or several if it is long.
type Records struct {
	w io.Writer
	s *Sealer
	n uint64
	b []byte
}

// NewRecords begins a file with the current key, which must exist: it writes the header. The name ties the file to what
// it belongs to.
func NewRecords(w io.Writer, name string) (*Records, error) {
	l, k, ok := Current()
	if !ok {
		return nil, ErrNoKey
	}
	h := NewHeader(l, 1<<12)
	if _, err := w.Write(h.Bytes(k)); err != nil {
		return nil, err
	}
	return &Records{w: w, s: h.Sealer(k, name)}, nil
}

// Write implements io.Writer. It counts only whole records.
func (r *Records) Write(p []byte) (done int, err error) {
	for part := range slices.Chunk(p, maxRecord) {
		size := len(part) + Overhead
		r.b = slices.Grow(r.b[:0], 4+size)[:4+size]
		binary.LittleEndian.PutUint32(r.b, uint32(size)) // at most maxRecord and Overhead
		r.s.Seal(r.b[4:], part, recordKind, r.n)
		if _, err := r.w.Write(r.b); err != nil {
			return done, err
		}
		r.n++
		done += len(part)
	}
	return done, nil
}

// recordReader reads the content of records.
type recordReader struct {
	r    io.Reader
	s    *Sealer
	n    uint64
	b    []byte
	rest []byte // of the content of the last record
}

// ReadRecords returns the content of a file of records, or of a plain file as it is. Its reader ends with ErrCut or
// ErrDamaged where the file does not go on; everything before is correct. Errors are those of OpenHeader and of r.
func ReadRecords(r io.Reader, name string) (io.Reader, error) {
	head := make([]byte, HeaderSize)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	h, k, err := OpenHeader(head[:n])
	if errors.Is(err, ErrPlain) {
		return io.MultiReader(bytes.NewReader(head[:n]), r), nil
	}
	if err != nil {
		return nil, err
	}
	return &recordReader{r: r, s: h.Sealer(k, name)}, nil
}

// Read implements io.Reader.
func (r *recordReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *recordReader) next() error {
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return cut(err, err)
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	if size < Overhead || size > maxRecord+Overhead {
		return ErrDamaged
	}
	r.b = slices.Grow(r.b[:0], size)[:size]
	if _, err := io.ReadFull(r.r, r.b); err != nil {
		return cut(err, ErrCut)
	}
	r.rest = make([]byte, size-Overhead)
	if !r.s.Open(r.rest, r.b, recordKind, r.n) {
		r.rest = nil
		return ErrDamaged
	}
	r.n++
	return nil
}

// cut returns ErrCut for an end within something, atEnd for an end before it, and other errors as they are.
func cut(err, atEnd error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrCut
	case errors.Is(err, io.EOF):
		return atEnd
	}
	return err
}
