package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// How a packed column begins: one byte that says what follows. Further formats,
// such as one compressed against an earlier request, take further bytes.
const (
	packedPlain byte = 0 // the bytes themselves
	packedZstd  byte = 1 // a zstd frame with its content checksum
)

// packMin is below what size compression is not tried.
const packMin = 64

// unpackMax bounds what a damaged frame may claim to hold.
const unpackMax = 1 << 30

var codec = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // options are constants
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(unpackMax))
	if err != nil {
		panic(err)
	}
	return enc, dec
})

// pack encodes a column's bytes. Nil stays nil, which is stored as NULL.
func pack(b []byte) []byte {
	if b == nil {
		return nil
	}
	if len(b) >= packMin {
		enc, _ := codec()
		z := enc.EncodeAll(b, append(make([]byte, 0, len(b)/2+64), packedZstd))
		if len(z) < len(b)+1 {
			return z
		}
	}
	return append([]byte{packedPlain}, b...)
}

// Unpack decodes a packed column: request, response, raw events, manifest,
// ledger payload. Nil stays nil.
func Unpack(b []byte) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	if len(b) == 0 {
		return nil, errors.New("packed value without its format byte")
	}
	switch b[0] {
	case packedPlain:
		return bytes.Clone(b[1:]), nil
	case packedZstd:
		_, dec := codec()
		return dec.DecodeAll(b[1:], nil)
	}
	return nil, fmt.Errorf("packed value of unknown format %d", b[0])
}

// hashBytes is SHA-256 as stored in hash columns.
func hashBytes(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}
