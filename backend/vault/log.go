package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/transfer/bundle"
)

// Names of objects. DEVICE and NAME are keyed hashes, NUMBER has eight digits and counts from 1.
const (
	lockName    = "vault.json"
	devicesDir  = "devices/" // devices/DEVICE: what the device is called
	logDir      = "log/"     // log/DEVICE/NUMBER: what the device wrote
	contentsDir = "content/" // content/NAME: a content of more than apartFrom bytes, once
)

// apartFrom is the size of a content, in bytes, from which on it is an object of its own.
const apartFrom = 64 << 10

// formatVersion is the version of all objects.
const formatVersion = 1

// fileHead is the first line of a file of a log.
type fileHead struct {
	Version int    `json:"version"`
	Device  string `json:"device"`
	Number  int64  `json:"number"`
	Before  []byte `json:"before"` // the sum of the file before; 32 zeros: there is none
	Written string `json:"written"`
}

// file is a file of a log.
type file struct {
	fileHead
	segments []bundle.Segment
	size     int // bytes of its content
}

func logName(device string, number int64) string {
	return fmt.Sprintf("%s%s/%08d", logDir, device, number)
}

// sum is a SHA-256 of a file's place and of the hashes of its events. It depends on no payload, because a permanent deletion
// replaces payloads.
func (f file) sum() []byte {
	h := sha256.New()
	fmt.Fprintf(h, "contextinfinity.vault.log.1\n%s\n%d\n%x\n", f.Device, f.Number, f.Before)
	for _, s := range f.segments {
		for _, p := range s.Parcels {
			fmt.Fprintf(h, "%s %x\n", s.Session, p.Event.Hash)
		}
	}
	return h.Sum(nil)
}

// box seals the objects of a vault.
type box struct {
	place Place
	key   seal.Key
}

var compressor = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
})

var decompressor = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
})

// put stores an object; size is what it takes.
func (b box) put(ctx context.Context, name string, content []byte) (size int, err error) {
	z, err := compressor()
	if err != nil {
		return 0, err
	}
	sealed := b.key.SealObject(name, z.EncodeAll(content, nil))
	return len(sealed), b.place.PutNew(ctx, name, sealed)
}

// errDamaged means that an object was changed, cut, or stands under the name of another one.
var errDamaged = fmt.Errorf("it was changed, cut, or exchanged with another")

// get returns the content of an object. Errors are ErrMissing, errDamaged, and those of the place.
func (b box) get(ctx context.Context, name string) ([]byte, error) {
	sealed, err := b.place.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	packed, ok := b.key.OpenObject(name, sealed)
	if !ok {
		return nil, errDamaged
	}
	z, err := decompressor()
	if err != nil {
		return nil, err
	}
	content, err := z.DecodeAll(packed, nil)
	if err != nil {
		return nil, errDamaged
	}
	return content, nil
}

func (b box) contentName(sha256 string) string { return contentsDir + b.key.Name("content "+sha256) }

// deviceName is what a device is called in names of objects.
func (b box) deviceName(id string) string { return b.key.Name("device " + id) }

// write stores a file of this device's log, and before it the contents that it names.
func (b box) write(ctx context.Context, f file) (size int, err error) {
	var text bytes.Buffer
	head, err := chat.MarshalJSON(f.fileHead)
	if err != nil {
		return 0, err
	}
	text.Write(append(head, '\n'))
	apart := func(c bundle.Content, sha256 string) (bool, error) {
		if len(c.Bytes) <= apartFrom {
			return false, nil
		}
		n, err := b.put(ctx, b.contentName(sha256), c.Bytes)
		if err == ErrExists {
			return true, nil
		}
		size += n
		return true, err
	}
	for _, s := range f.segments {
		if err := s.Encode(&text, apart); err != nil {
			return size, err
		}
	}
	n, err := b.put(ctx, logName(b.deviceName(f.Device), f.Number), text.Bytes())
	return size + n, err
}

// errNewer means that a newer version of this program wrote an object.
var errNewer = fmt.Errorf("a newer version of this program wrote it")

// read returns a file of the log of a device with the contents that it names.
func (b box) read(ctx context.Context, device string, number int64) (f file, err error) {
	text, err := b.get(ctx, logName(device, number))
	if err != nil {
		return f, err
	}
	line, rest, ok := bytes.Cut(text, []byte{'\n'})
	if !ok || json.Unmarshal(line, &f.fileHead) != nil {
		return f, errDamaged
	}
	if f.Version > formatVersion {
		return f, errNewer
	}
	if b.deviceName(f.Device) != device || f.Number != number {
		return f, errDamaged
	}
	f.size = len(text)
	f.segments, err = bundle.DecodeSegments(rest, func(sha256 string) ([]byte, error) {
		content, err := b.get(ctx, b.contentName(sha256))
		f.size += len(content)
		if err != nil {
			err = fmt.Errorf("a document or an answer that it names: %w", err)
		}
		return content, err
	})
	return f, err
}
