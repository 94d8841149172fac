package codec

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/zstd"
)

// IsLong reports whether a JSON value of this many bytes is packed piece by piece.
func IsLong(bytes int) bool { return bytes > MaxWhole }

// PackWritten packs what write writes.
func PackWritten(write func(io.Writer) error) ([]byte, error) {
	packed := bytes.NewBuffer([]byte{PackedZstd})
	enc, err := zstd.NewWriter(packed, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	if err := write(enc); err != nil {
		return nil, err
	}
	err = enc.Close()
	return packed.Bytes(), err
}

// UnpacksLong reports that a packed value that stands alone is long.
func UnpacksLong(packed []byte) bool {
	if len(packed) == 0 || packed[0] != PackedZstd {
		return IsLong(len(packed))
	}
	var head zstd.Header
	if head.Decode(packed[1:]) == nil && head.HasFCS {
		return head.FrameContentSize > MaxWhole
	}
	dec, err := Unpacking(packed)
	if err != nil {
		return false
	}
	defer dec.Close()
	n, _ := io.Copy(io.Discard, io.LimitReader(dec, MaxWhole+1))
	return IsLong(int(n))
}

// Unpacking reads a packed value that stands alone, piece by piece.
func Unpacking(packed []byte) (*zstd.Decoder, error) {
	return zstd.NewReader(bytes.NewReader(packed[1:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
}

// unpackedSize is how long a packed value is that was written piece by piece, so that the
// frame does not say it: a buffer that grows would hold it twice. 0: the frame says it.
func unpackedSize(packed []byte) (int64, error) {
	var head zstd.Header
	if err := head.Decode(packed[1:]); err != nil || head.HasFCS {
		return 0, nil //nolint:nilerr // who decodes it says what is wrong
	}
	dec, err := Unpacking(packed)
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	return io.Copy(io.Discard, io.LimitReader(dec, UnpackMax))
}

// MaxWhole is up to what size, in bytes of JSON, a step's raw events are packed
// against its items. A longer stream is encoded and decoded piece by piece, and stands
// alone: it repeats itself more than anything else.
const MaxWhole = 4 << 20
