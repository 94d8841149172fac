package bundle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
)

// Kind is the role of a content in its event.
type Kind string

const (
	Request   Kind = "request"       // of a step that started
	Response  Kind = "response"      // of a step that ended
	RawEvents Kind = "raw_events"    // of a step that ended: its stream
	Manifest  Kind = "manifest"      // of a turn that was prepared
	Retrieved Kind = "retrieved"     // of a turn that was prepared: the chunks in its memory
	Document  Kind = "document"      // of a file that was added: its bytes
	Words     Kind = "document_text" // of a file that was added: its text, if the bytes are not text
	// In a vault only, of a permanent deletion: what it put in place of the payload of another event.
	Replacement Kind = "replacement"
	// In a vault only, of an import: what identifies its parts.
	ImportKeys Kind = "import_keys"
)

// Content is data that an event only contains as a hash.
type Content struct {
	Seq   int64 // of the event
	Kind  Kind
	Bytes []byte
	// Left is the SHA-256 in hex of bytes that are stored elsewhere and were not read, and Size is their number.
	Left string
	Size int64
}

// contentHead precedes a content's bytes.
type contentHead struct {
	Seq    int64  `json:"event_seq"`
	Kind   Kind   `json:"content"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Apart  bool   `json:"apart,omitempty"` // in a segment: the bytes are stored elsewhere
}

// contentWriter writes contents.zst.
type contentWriter struct{ z *zstd.Encoder }

func newContentWriter(w io.Writer) (contentWriter, error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(contentsWindow), zstd.WithEncoderLevel(zstd.SpeedDefault))
	return contentWriter{z}, err
}

func (w contentWriter) write(c Content) error {
	sum := sha256.Sum256(c.Bytes)
	head, err := chat.MarshalJSON(contentHead{Seq: c.Seq, Kind: c.Kind, Size: int64(len(c.Bytes)), SHA256: hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	for _, part := range [][]byte{head, {'\n'}, c.Bytes, {'\n'}} {
		if _, err := w.z.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// contentReader reads contents.zst, with one content of look-ahead.
type contentReader struct {
	r    *bufio.Reader
	z    *zstd.Decoder
	head *contentHead // of the next content; nil: not read yet, or the end
	read int64
	end  bool
}

func newContentReader(r io.Reader) (*contentReader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(contentsWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return &contentReader{r: bufio.NewReaderSize(z, 64<<10), z: z}, nil
}

func (r *contentReader) close() { r.z.Close() }

// forEvent returns the contents of an event. Unread contents of earlier events are an error.
func (r *contentReader) forEvent(seq int64) ([]Content, error) {
	var out []Content
	for {
		head, err := r.next()
		if err != nil || head == nil || head.Seq > seq {
			return out, err
		}
		if head.Seq < seq {
			return nil, refused("contents.zst contains something for event %d that does not belong there", head.Seq)
		}
		c, err := r.take(*head)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
}

// next peeks at the next content; nil: the end.
func (r *contentReader) next() (*contentHead, error) {
	if r.head != nil || r.end {
		return r.head, nil
	}
	raw, err := r.r.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(raw) == 0 {
		r.end = true
		return nil, nil
	}
	var head contentHead
	if err == nil && len(raw) <= maxHeadBytes {
		err = json.Unmarshal(raw, &head)
	} else if err == nil {
		err = bufio.ErrTooLong
	}
	switch {
	case err != nil:
		return nil, refused("contents.zst cannot be read: %v", err)
	case head.Size < 0 || head.Size > MaxContentBytes:
		return nil, hostile("a content of event %d is %d bytes; the limit is %d", head.Seq, head.Size, int64(MaxContentBytes))
	case r.read+head.Size > MaxContentsBytes:
		return nil, hostile("its contents are more than %d bytes", int64(MaxContentsBytes))
	}
	r.head = &head
	return r.head, nil
}

func (r *contentReader) take(head contentHead) (Content, error) {
	var b bytes.Buffer // grows with the real data, not the declared size
	n, err := io.CopyN(&b, r.r, head.Size)
	r.read += n
	if err == nil {
		var last byte
		if last, err = r.r.ReadByte(); err == nil && last != '\n' {
			err = errors.New("it is longer than its header says")
		}
	}
	if err != nil {
		return Content{}, refused("a content of event %d is cut off: %v", head.Seq, err)
	}
	sum := sha256.Sum256(b.Bytes())
	if head.SHA256 != hex.EncodeToString(sum[:]) {
		return Content{}, refused("the %s of event %d does not match its hash", head.Kind, head.Seq)
	}
	r.head = nil
	return Content{Seq: head.Seq, Kind: head.Kind, Bytes: b.Bytes()}, nil
}
