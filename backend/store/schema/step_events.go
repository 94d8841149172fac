package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
)

// storedEvent is a raw event as it is stored: its bytes as text where they are
// that, for text compresses and base64 does not.
type storedEvent struct {
	Type string  `json:"type"`
	Text *string `json:"text,omitempty"`
	Data []byte  `json:"data,omitempty"` // base64 in JSON
}

func (e storedEvent) event() chat.RawEvent {
	if e.Text != nil {
		return chat.RawEvent{Type: e.Type, Data: []byte(*e.Text)}
	}
	return chat.RawEvent{Type: e.Type, Data: e.Data}
}

// writeEvents writes a stream as one JSON array, its bytes exact.
func writeEvents(w io.Writer, events chat.EventSeq) error {
	next := byte('[')
	for e, err := range events {
		if err != nil {
			return err
		}
		stored := storedEvent{Type: e.Type, Data: e.Data}
		if utf8.Valid(e.Data) {
			s := string(e.Data)
			stored.Text, stored.Data = &s, nil
		}
		raw, err := chat.MarshalJSON(stored)
		if err != nil {
			return err
		}
		if _, err := w.Write(append([]byte{next}, raw...)); err != nil {
			return err
		}
		next = ','
	}
	if next == '[' {
		_, err := w.Write([]byte("[]"))
		return err
	}
	_, err := w.Write([]byte{']'})
	return err
}

// PackEvents encodes a stream for its column, and returns the hex SHA-256 of its JSON;
// both are empty for none. It may be based on the step's items.
func PackEvents(events chat.EventSeq, items codec.Base) (packed []byte, sum string, err error) {
	if events == nil {
		return nil, "", nil
	}
	p := eventPacker{}
	hash := sha256.New()
	if err := writeEvents(io.MultiWriter(hash, &p), events); err != nil {
		return nil, "", err
	}
	packed, err = p.end(items)
	return packed, hex.EncodeToString(hash.Sum(nil)), err
}

// eventPacker keeps the beginning of a stream as it is, and packs it once it is long.
type eventPacker struct {
	whole  []byte
	packed bytes.Buffer
	enc    *zstd.Encoder // nil while the stream is short
}

func (p *eventPacker) Write(b []byte) (int, error) {
	if p.enc == nil {
		p.whole = append(p.whole, b...)
		if len(p.whole) <= codec.MaxWhole {
			return len(b), nil
		}
		p.packed.WriteByte(codec.PackedZstd)
		var err error
		if p.enc, err = zstd.NewWriter(&p.packed, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err != nil {
			return 0, err
		}
		_, err = p.enc.Write(p.whole)
		p.whole = nil
		return len(b), err
	}
	return p.enc.Write(b)
}

func (p *eventPacker) end(items codec.Base) ([]byte, error) {
	if p.enc != nil {
		err := p.enc.Close()
		return p.packed.Bytes(), err
	}
	if z := items.PackOn(p.whole); z != nil {
		return z, nil
	}
	return codec.Pack(p.whole), nil
}

// readEvents yields what writeEvents wrote, of this version or the first.
func readEvents(r io.Reader, yield func(chat.RawEvent) error) error {
	d := json.NewDecoder(r)
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return errors.Join(errors.New("raw events that are no list"), err)
	}
	for d.More() {
		var e storedEvent
		if err := d.Decode(&e); err != nil {
			return err
		}
		if err := yield(e.event()); err != nil {
			return &YieldError{err}
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the raw events")
	}
	return nil
}

// YieldError is the caller's own error, which is not damage.
type YieldError struct{ error }

func (e *YieldError) Unwrap() error { return e.error }

// EachEvent yields a step's raw events, one at a time.
func (r StepRow) EachEvent(yield func(chat.RawEvent) error) error {
	if len(r.RawEvents) == 0 {
		return nil
	}
	if r.RawEvents[0] != codec.PackedZstd {
		whole, err := r.Events()
		if err != nil {
			return err
		}
		return readEvents(bytes.NewReader(whole), yield)
	}
	dec, err := codec.Unpacking(r.RawEvents)
	if err != nil {
		return err
	}
	defer dec.Close()
	return readEvents(dec, yield)
}
