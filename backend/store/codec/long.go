package codec

import (
	"bytes"
	"errors"
	"io"
	"strings"

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
	return bytes.Clone(packed.Bytes()), err // a buffer that grew has room for twice as much
}

// UnpackText is Unpack of a text, which is not copied on the way.
func UnpackText(packed []byte) (string, error) {
	if len(packed) == 0 || packed[0] != PackedZstd {
		plain, err := Unpack(packed)
		return string(plain), err
	}
	size, err := unpackedSize(packed)
	if err != nil {
		return "", err
	}
	dec, err := Unpacking(packed)
	if err != nil {
		return "", err
	}
	defer dec.Close()
	var text strings.Builder
	text.Grow(int(size))
	if n, err := io.Copy(&text, io.LimitReader(dec, UnpackMax+1)); err != nil || n > UnpackMax {
		return "", errors.Join(err, errors.New("packed text that is damaged or too long"))
	}
	return text.String(), nil
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

// unpackedSize is how long a packed value is, for a buffer that grows would hold it twice. What
// was written piece by piece does not say it, and is decoded to know it.
func unpackedSize(packed []byte) (int64, error) {
	var head zstd.Header
	if err := head.Decode(packed[1:]); err != nil {
		return 0, nil //nolint:nilerr // who decodes it says what is wrong
	}
	if head.HasFCS {
		return int64(min(head.FrameContentSize, 2*MaxWhole)), nil // a damaged frame may claim anything
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
