package transfer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"unicode/utf16"
)

// utf16Order is the byte order of UTF-16 text, from its byte order mark or from the beginning of JSON; nil: it is not
// UTF-16.
func utf16Order(head []byte) binary.ByteOrder {
	if len(head) < 4 || bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}) { // UTF-32
		return nil
	}
	begins := func(b byte) bool { return bytes.IndexByte([]byte("[{\" \t\r\n"), b) >= 0 }
	switch {
	case head[0] == 0xFF && head[1] == 0xFE, begins(head[0]) && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return binary.LittleEndian
	case head[0] == 0xFE && head[1] == 0xFF, head[0] == 0 && begins(head[1]) && head[2] == 0 && head[3] != 0:
		return binary.BigEndian
	}
	return nil
}

// utf8Of converts UTF-16 text to UTF-8, without its byte order mark.
func utf8Of(text []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(text)/2)
	for i := 0; i+1 < len(text); i += 2 {
		units = append(units, order.Uint16(text[i:]))
	}
	if len(units) > 0 && units[0] == 0xFEFF {
		units = units[1:]
	}
	return []byte(string(utf16.Decode(units)))
}

// utf16Block is the number of bytes of UTF-16 read at once.
const utf16Block = 64 << 10

// utf16File is a UTF-16 file that reads as UTF-8. It is not safe for concurrent reads.
type utf16File struct {
	data   io.ReaderAt
	size   int64
	order  binary.ByteOrder
	starts []int64 // where the text of each block begins, and where the last one ends
	at     int     // the block in text
	text   []byte
}

// newUTF16File reads the file once to find where each block's text begins.
func newUTF16File(ctx context.Context, data io.ReaderAt, size int64, order binary.ByteOrder) (*utf16File, error) {
	f := &utf16File{data: data, size: size, order: order, starts: []int64{0}, at: -1}
	for i := 0; int64(i)*utf16Block < size; i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.load(i); err != nil {
			return nil, err
		}
		f.starts = append(f.starts, f.starts[i]+int64(len(f.text)))
	}
	return f, nil
}

// load decodes a block. A surrogate pair across a boundary belongs to the block in which it begins.
func (f *utf16File) load(i int) error {
	from := int64(i) * utf16Block
	before := min(from, 2)
	raw := make([]byte, min(f.size, from+utf16Block+2)-from+before)
	n, err := f.data.ReadAt(raw, from-before)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	raw = raw[:n]
	surrogate := func(at int, first bool) bool {
		if at < 0 || at+1 >= len(raw) {
			return false
		}
		unit := f.order.Uint16(raw[at:])
		return first && unit >= 0xD800 && unit < 0xDC00 || !first && unit >= 0xDC00 && unit < 0xE000
	}
	start, end := int(before), min(len(raw), int(before)+utf16Block)
	if surrogate(start-2, true) && surrogate(start, false) {
		start += 2
	}
	if surrogate(end-2, true) && surrogate(end, false) {
		end += 2
	}
	part := raw[min(start, end):end]
	if mark := len(part) > 1 && f.order.Uint16(part) == 0xFEFF; mark && i > 0 { // a byte order mark only at the beginning of the file
		f.text = append([]byte("\uFEFF"), utf8Of(part, f.order)...)
	} else {
		f.text = utf8Of(part, f.order)
	}
	f.at = i
	return nil
}

// Size is the size of the file as UTF-8, in bytes.
func (f *utf16File) Size() int64 { return f.starts[len(f.starts)-1] }

// ReadAt implements io.ReaderAt.
func (f *utf16File) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		if off >= f.Size() {
			return n, io.EOF
		}
		i, found := slices.BinarySearch(f.starts, off)
		if !found {
			i--
		}
		for f.starts[i+1] == off { // skip blocks without text
			i++
		}
		if f.at != i {
			if err := f.load(i); err != nil {
				return n, err
			}
		}
		got := copy(p[n:], f.text[off-f.starts[i]:])
		n, off = n+got, off+int64(got)
	}
	return n, nil
}

// asUTF8 returns a UTF-16 file as UTF-8, and any other unchanged.
func (r *run) asUTF8(in Input) (Input, error) {
	head := make([]byte, 4)
	n, err := in.Data.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return in, unreadable(in.Name, err)
	}
	order := utf16Order(head[:n])
	if order == nil {
		return in, nil
	}
	f, err := newUTF16File(r.ctx, in.Data, in.Size, order)
	if r.ctx.Err() != nil {
		return in, r.ctx.Err()
	}
	if err != nil {
		return in, unreadable(in.Name, err)
	}
	in.Data, in.Size = f, f.Size()
	r.total = in.Size
	return in, nil
}
