package transfer

import (
	"bytes"
	"errors"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// utf16Order is the encoding of UTF-16 text, from its byte order mark or from the beginning of JSON; nil: it is not
// UTF-16.
func utf16Order(head []byte) encoding.Encoding {
	if len(head) < 4 || bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}) { // UTF-32
		return nil
	}
	begins := func(b byte) bool { return bytes.IndexByte([]byte("[{\" \t\r\n"), b) >= 0 }
	switch {
	case head[0] == 0xFF && head[1] == 0xFE, begins(head[0]) && head[1] == 0 && head[2] != 0 && head[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case head[0] == 0xFE && head[1] == 0xFF, head[0] == 0 && begins(head[1]) && head[2] == 0 && head[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return nil
}

// asUTF8 converts a UTF-16 file, in memory, and returns any other unchanged.
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
	if in.Size > MaxEntryBytes {
		return in, tooLarge(in.Name, MaxEntryBytes)
	}
	var uncounted int64 // progress is that of the text
	from := &counted{ctx: r.ctx, r: io.NewSectionReader(in.Data, 0, in.Size), n: &uncounted, onRead: func() {}}
	text, err := io.ReadAll(order.NewDecoder().Reader(from))
	if r.ctx.Err() != nil {
		return in, r.ctx.Err()
	}
	if err != nil {
		return in, unreadable(in.Name, err)
	}
	in.Data, in.Size = bytes.NewReader(text), int64(len(text))
	r.total = in.Size
	return in, nil
}
