package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

// storedEvent is a raw event as stored: its bytes as text if they are valid text, because text compresses better than
// base64.
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

// writeStored writes one event of the JSON array in which a stream is stored, byte for byte.
func writeStored(w io.Writer, e chat.RawEvent) error {
	if !utf8.Valid(e.Data) {
		raw, err := chat.MarshalJSON(storedEvent{Type: e.Type, Data: e.Data})
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	}
	kind, err := chat.MarshalJSON(e.Type)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, `{"type":%s,"text":`, kind); err != nil {
		return err
	}
	if err := chat.WriteJSONString(w, e.Data); err != nil {
		return err
	}
	_, err = w.Write([]byte{'}'})
	return err
}

// maxPacked limits the size in bytes of a stream that is packed while it arrives.
const maxPacked = 32 << 20

// EventPack encodes a stream for its column. It is not safe for concurrent use.
type EventPack struct {
	packer eventPacker
	hash   hash.Hash
	limit  int // bytes
	events int
	column []byte // once the stream has ended
}

// NewEventPack starts an EventPack for a new stream.
func NewEventPack() *EventPack { return &EventPack{hash: sha256.New(), limit: maxPacked} }

// Add encodes the next event.
func (p *EventPack) Add(e chat.RawEvent) error {
	if p.packer.packed.Len() > p.limit {
		return sqlite.Invalid("The packed events are longer than %d bytes.", p.limit)
	}
	next := byte(',')
	if p.events == 0 {
		next = '['
	}
	p.events++
	if _, err := p.Write([]byte{next}); err != nil {
		return err
	}
	return writeStored(p, e)
}

// Write takes the JSON of the events; it is for encoders.
func (p *EventPack) Write(b []byte) (int, error) {
	_, _ = p.hash.Write(b)
	return p.packer.Write(b)
}

// end returns the column, and the hex SHA-256 of its JSON. Further calls return the same.
func (p *EventPack) end(items codec.Base) (packed []byte, sum string, err error) {
	if p.column == nil {
		last := []byte{']'}
		if p.events == 0 {
			last = []byte("[]")
		}
		if _, err := p.Write(last); err != nil {
			return nil, "", err
		}
		if p.column, err = p.packer.end(items); err != nil {
			return nil, "", err
		}
	}
	return p.column, hex.EncodeToString(p.hash.Sum(nil)), nil
}

// PackEvents encodes the stream of a step's end for its column, unless that was done already, and returns the hex
// SHA-256 of its JSON; both are empty for none. The stream may be packed against the step's items.
func PackEvents(e chat.StepEnd, items codec.Base) (packed []byte, sum string, err error) {
	if p, ok := e.Packed.(*EventPack); ok {
		return p.end(items)
	}
	if e.Events == nil {
		return nil, "", nil
	}
	p := NewEventPack()
	p.limit = math.MaxInt
	for ev, err := range e.Events {
		if err == nil {
			err = p.Add(ev)
		}
		if err != nil {
			return nil, "", err
		}
	}
	return p.end(items)
}

// eventPacker buffers the beginning of a stream, and packs it once it is long.
type eventPacker struct {
	buffered []byte
	packed   bytes.Buffer
	enc      *zstd.Encoder // nil while the stream is short
}

func (p *eventPacker) Write(b []byte) (int, error) {
	if p.enc == nil {
		p.buffered = append(p.buffered, b...)
		if len(p.buffered) <= codec.MaxWhole {
			return len(b), nil
		}
		p.packed.WriteByte(codec.PackedZstd)
		var err error
		if p.enc, err = zstd.NewWriter(&p.packed, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err != nil {
			return 0, err
		}
		_, err = p.enc.Write(p.buffered)
		p.buffered = nil
		return len(b), err
	}
	return p.enc.Write(b)
}

func (p *eventPacker) end(items codec.Base) ([]byte, error) {
	if p.enc != nil {
		err := p.enc.Close()
		return p.packed.Bytes(), err
	}
	if z := items.PackOn(p.buffered); z != nil {
		return z, nil
	}
	return codec.Pack(p.buffered), nil
}

// readEvents yields what an EventPack of this version or the first wrote.
func readEvents(r io.Reader, yield func(chat.RawEvent) error) error {
	d := json.NewDecoder(r)
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return errors.Join(errors.New("raw events that are not a list"), err)
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

// YieldError is an error of the caller's yield, which does not mean damage.
type YieldError struct{ error }

func (e *YieldError) Unwrap() error { return e.error }

// EachEvent yields a step's raw events, one at a time.
func (r StepRow) EachEvent(yield func(chat.RawEvent) error) error {
	if len(r.RawEvents) == 0 {
		return nil
	}
	if r.RawEvents[0] != codec.PackedZstd {
		events, err := r.Events()
		if err != nil {
			return err
		}
		return readEvents(bytes.NewReader(events), yield)
	}
	dec, err := codec.Unpacking(r.RawEvents)
	if err != nil {
		return err
	}
	defer dec.Close()
	return readEvents(dec, yield)
}
