package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
)

// maxWindow limits how far back a compressed file may refer, and so the memory for reading it.
const maxWindow = 128 << 20

// IsCompressed reports whether a file with these first bytes is compressed with Zstandard, as Codex compresses its old
// sessions.
func IsCompressed(head []byte) bool { return bytes.HasPrefix(head, []byte{0x28, 0xB5, 0x2F, 0xFD}) }

// unpacked returns a reader of the unpacked content of a compressed file, and any other unchanged.
func unpacked(data io.ReaderAt, size int64) (io.Reader, error) {
	return plainText(io.NewSectionReader(data, 0, size))
}

func decompressed(from io.Reader) (io.Reader, error) {
	return zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// plainText is a stream, without its compression if it has one.
func plainText(from io.Reader) (io.Reader, error) {
	text := bufio.NewReader(from)
	if head, _ := text.Peek(4); IsCompressed(head) { // an error occurs again when it is read
		return decompressed(text)
	}
	return text, nil
}

// uncompressed unpacks a compressed file in memory, and returns any other unchanged. Of a damaged one, what comes before
// the damage is read.
func (r *run) uncompressed(in Input) (Input, error) {
	head := make([]byte, 4)
	if n, err := in.Data.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return in, unreadable(in.Name, err)
	} else if !IsCompressed(head[:n]) {
		return in, nil
	}
	from, err := decompressed(io.NewSectionReader(in.Data, 0, in.Size))
	if err != nil {
		return in, unreadable(in.Name, err)
	}
	var uncounted int64 // progress is that of the text
	text, err := io.ReadAll(io.LimitReader(&counted{ctx: r.ctx, r: from, n: &uncounted, onRead: func() {}}, MaxEntryBytes+1))
	switch {
	case r.ctx.Err() != nil:
		return in, r.ctx.Err()
	case len(text) > MaxEntryBytes:
		return in, tooLarge(in.Name, MaxEntryBytes)
	case err != nil && len(text) == 0:
		return in, unreadable(in.Name, err)
	case err != nil:
		r.torn(int64(len(text)))
		r.skip(SkippedRow{Offset: int64(len(text)), Reason: chat.Say("It cannot be unpacked to its end: %s.", unpacking(err)).Packed()})
	}
	in.Name, in.Data, in.Size = uncompressedName(in.Name), bytes.NewReader(text), int64(len(text))
	r.total = in.Size
	return in, nil
}

func uncompressedName(name string) string {
	if strings.EqualFold(path.Ext(name), ".zst") {
		return name[:len(name)-len(".zst")]
	}
	return name
}
