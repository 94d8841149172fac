package events

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
)

// The JSON of a very long answer, many megabytes, is encoded and packed in pieces, and without a base: the base would
// be as long, and zstd would find little more in common than within the value itself.

// longMark is the placeholder in an event for a JSON text that is written in its place.
const longMark = `"\u0000long\u0000"`

// longPayload packs a payload, with the output of write in place of the mark.
func longPayload(data any, mark string, write func(io.Writer) error) (*core.Payload, error) {
	short, err := ledger.Payload(data)
	if err != nil {
		return nil, err
	}
	before, after, ok := bytes.Cut(short, []byte(mark))
	if !ok {
		return nil, fmt.Errorf("there is no %s in the event to replace", mark)
	}
	hash := sha256.New()
	packed, err := codec.PackWritten(func(w io.Writer) error {
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
	return &core.Payload{Packed: packed, Hash: hash.Sum(nil)}, err
}

// IndexedPayload packs the record of many units, one chunk at a time.
func IndexedPayload(record ledger.TurnIndexed) (*core.Payload, error) {
	chunks := record.Chunks
	record.Chunks = []ledger.IndexedChunk{}
	const list = `"chunks":[]`
	return longPayload(record, list, func(w io.Writer) error {
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
