package store

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// A value of many megabytes, the JSON of a very long answer, is encoded and packed piece
// by piece, and rests on nothing: what it would rest on is as long, and zstd finds no
// more in it than in the value itself.

// isLong reports whether a JSON value of this many bytes is packed piece by piece.
func isLong(bytes int) bool { return bytes > maxEventsWhole }

// longMark stands in an event for a JSON text that is written in its place.
const longMark = `"\u0000long\u0000"`

// longPayload packs what an event tells, with what write writes in place of the mark.
func longPayload(data any, mark string, write func(io.Writer) error) (*payload, error) {
	short, err := ledger.Payload(data)
	if err != nil {
		return nil, err
	}
	before, after, ok := bytes.Cut(short, []byte(mark))
	if !ok {
		return nil, fmt.Errorf("there is no %s in the event to replace", mark)
	}
	hash := sha256.New()
	packed, err := packWritten(func(w io.Writer) error {
		w = io.MultiWriter(hash, w)
		if _, err := w.Write(before); err != nil {
			return err
		}
		if err := write(w); err != nil {
			return err
		}
		_, err := w.Write(after)
		return err
	})
	return &payload{packed: packed, hash: hash.Sum(nil)}, err
}

// packWritten packs what write writes.
func packWritten(write func(io.Writer) error) ([]byte, error) {
	packed := bytes.NewBuffer([]byte{packedZstd})
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

// indexedPayload packs what is told of many units, a chunk at a time.
func indexedPayload(told ledger.TurnIndexed) (*payload, error) {
	chunks := told.Chunks
	told.Chunks = []ledger.IndexedChunk{}
	const list = `"chunks":[]`
	return longPayload(told, list, func(w io.Writer) error {
		next := `"chunks":[`
		for _, c := range chunks {
			raw, err := chat.MarshalJSON(c)
			if err != nil {
				return err
			}
			if _, err := w.Write(append([]byte(next), raw...)); err != nil {
				return err
			}
			next = ","
		}
		_, err := io.WriteString(w, "]")
		return err
	})
}

// unpacksLong reports that a packed value that stands alone is long.
func unpacksLong(packed []byte) bool {
	if len(packed) == 0 || packed[0] != packedZstd {
		return isLong(len(packed))
	}
	var head zstd.Header
	if head.Decode(packed[1:]) == nil && head.HasFCS {
		return head.FrameContentSize > maxEventsWhole
	}
	dec, err := unpacking(packed)
	if err != nil {
		return false
	}
	defer dec.Close()
	n, _ := io.Copy(io.Discard, io.LimitReader(dec, maxEventsWhole+1))
	return isLong(int(n))
}

// unpacking reads a packed value that stands alone, piece by piece.
func unpacking(packed []byte) (*zstd.Decoder, error) {
	return zstd.NewReader(bytes.NewReader(packed[1:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
}

// unpackedSize is how long a packed value is that was written piece by piece, so that the
// frame does not say it: a buffer that grows would hold it twice. 0: the frame says it.
func unpackedSize(packed []byte) (int64, error) {
	var head zstd.Header
	if err := head.Decode(packed[1:]); err != nil || head.HasFCS {
		return 0, nil //nolint:nilerr // who decodes it says what is wrong
	}
	dec, err := unpacking(packed)
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	return io.Copy(io.Discard, io.LimitReader(dec, unpackMax))
}
