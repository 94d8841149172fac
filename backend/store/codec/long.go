package codec

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// IsLong reports whether a JSON value of this many bytes is packed in pieces.
func IsLong(bytes int) bool { return bytes > MaxWhole }

// PackWritten packs the output of write.
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
	return bytes.Clone(packed.Bytes()), err // a grown buffer may have twice the capacity it needs
}

// UnpackText is Unpack for a text, without a copy.
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

// UnpacksLong reports whether a value packed alone is long.
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

// Unpacking returns a reader of a value packed alone.
func Unpacking(packed []byte) (*zstd.Decoder, error) {
	return zstd.NewReader(bytes.NewReader(packed[1:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
}

// unpackedSize returns the unpacked length, so that a buffer need not grow and hold it twice. A value written in
// pieces does not record its length and is decoded to find it.
func unpackedSize(packed []byte) (int64, error) {
	var head zstd.Header
	if err := head.Decode(packed[1:]); err != nil {
		return 0, nil //nolint:nilerr // decoding will report the error
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

// MaxWhole is the JSON size in bytes up to which a step's raw events are packed against its items. A longer stream is
// packed alone and in pieces: it mostly repeats itself.
const MaxWhole = 4 << 20
