// Package codec converts values to the bytes stored in columns and back: packed alone, packed against an earlier
// value, and vectors with eight bits per dimension. Pure: it does not depend on the database.
package codec

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The first byte of a packed column: its format.
const (
	PackedPlain  byte = 0 // the bytes themselves
	PackedZstd   byte = 1 // a zstd frame with its content checksum
	PackedLinked byte = 2 // like PackedZstd, with an earlier value as dictionary
	PackedOn     byte = 3 // like PackedLinked, after the depth of the chain and the base's event_seq
)

// packMin is the size below which compression is not tried.
const packMin = 64

// UnpackMax limits the size that a damaged frame can claim.
const UnpackMax = 1 << 30

var codec = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // options are constants
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(UnpackMax))
	if err != nil {
		panic(err)
	}
	return enc, dec
})

// Pack encodes a column's bytes. Nil stays nil, which is stored as NULL.
func Pack(b []byte) []byte {
	if b == nil {
		return nil
	}
	if len(b) >= packMin {
		enc, _ := codec()
		z := enc.EncodeAll(b, append(make([]byte, 0, len(b)/2+64), PackedZstd))
		if len(z) < len(b)+1 {
			return z
		}
	}
	return append([]byte{PackedPlain}, b...)
}

// Unpack decodes a column packed alone: response, raw events, ledger payload. Nil stays nil. Requests and manifests
// are read through their chain.
func Unpack(b []byte) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	if len(b) == 0 {
		return nil, errors.New("packed value without its format byte")
	}
	switch b[0] {
	case PackedPlain:
		return bytes.Clone(b[1:]), nil
	case PackedZstd:
		_, dec := codec()
		size, err := unpackedSize(b)
		if err != nil {
			return nil, err
		}
		return dec.DecodeAll(b[1:], make([]byte, 0, size))
	case PackedLinked, PackedOn:
		return nil, errors.New("delta value whose base is missing")
	}
	return nil, fmt.Errorf("packed value of unknown format %d", b[0])
}

// dictionaryID marks frames that use another value as dictionary.
const dictionaryID = 1

// PackAgainst encodes b with an earlier value as zstd dictionary; nil if that saves little over encoding it alone.
func PackAgainst(base, b []byte) ([]byte, error) {
	window := zstd.MinWindowSize
	for window < len(base)+len(b) && window < zstd.MaxWindowSize {
		window *= 2 // keeps the whole dictionary in reach
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderDictRaw(dictionaryID, base), zstd.WithWindowSize(window))
	if err != nil {
		return nil, err
	}
	z := enc.EncodeAll(b, append(make([]byte, 0, len(b)/8+64), PackedLinked))
	if len(z) < len(b)/surelySmall {
		return z, nil
	}
	if alone := Pack(b); len(z) > len(alone)-len(alone)/4 {
		return nil, nil
	}
	return z, nil
}

// surelySmall is a compression ratio that text does not reach when packed alone.
const surelySmall = 16

// UnpackAgainst decodes the result of PackAgainst with the same base.
func UnpackAgainst(base, z []byte) ([]byte, error) {
	if len(z) == 0 || z[0] != PackedLinked {
		return nil, errors.New("packed value names a base it was not made with")
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(UnpackMax),
		zstd.WithDecoderDictRaw(dictionaryID, base))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	return dec.DecodeAll(z[1:], nil)
}

// Hash is the SHA-256 stored in hash columns.
func Hash(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}
