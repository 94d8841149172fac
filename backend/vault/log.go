package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/transfer/bundle"
)

// Names of objects. DEVICE and NAME are keyed hashes, NUMBER has eight digits and counts from 1.
const (
	lockName   = "vault.json"
	keysDir    = "keys/"
	devicesDir = "devices/" // devices/DEVICE: what the device is called
	logDir     = "log/"     // log/DEVICE/NUMBER: what the device wrote
	// log/DEVICE/values-NUMBER: what the device knows outside of sessions
	contentsDir = "content/" // content/NAME: a content of more than apartFrom bytes, once for each session
)

// apartFrom is the size of a content, in bytes, from which on it is an object of its own.
const apartFrom = 64 << 10

// formatVersion is the version of all objects.
const formatVersion = 1

// deletionVersion is that of a file of a log with something of a deletion of a turn, which version 1 would take for something else:
// a program that does not know it reads no further, and says so.
const deletionVersion = 2

// version returns that of a file with its segments.
func (f file) version() int {
	for _, s := range f.segments {
		if s.Of != "" {
			return deletionVersion
		}
		for _, p := range s.Parcels {
			if p.Event.Payload != nil && !p.Event.Intact() || deletes(p) && len(p.Contents) > 0 {
				return deletionVersion
			}
		}
	}
	return formatVersion
}

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
	inline   map[chat.SessionID]bool // contents of these are in the file
	size     int                     // bytes of its content
	older    bool                    // it is not sealed with the newest key
	late     bool                    // and was not known when that was made
}

func logName(device string, number int64) string {
	return fmt.Sprintf("%s%s/%08d", logDir, device, number)
}

// rewritten is the name of a file that was written again.
func rewritten(device string, number int64, again int) string {
	return fmt.Sprintf("%s-%d", logName(device, number), again)
}

// sum is a SHA-256 of a file's place and of the hashes of its events. It depends on no payload, because a permanent deletion
// replaces payloads.
func (f file) sum() []byte {
	h := sha256.New()
	fmt.Fprintf(h, "contextinfinity.vault.log.1\n%s\n%d\n%x\n", f.Device, f.Number, f.Before)
	for _, s := range f.segments {
		if s.Deleted {
			fmt.Fprintf(h, "%s deleted\n", s.Session)
		}
		if s.Of != "" {
			fmt.Fprintf(h, "%s %s deleted\n", s.Session, s.Of)
		}
		for _, p := range s.Parcels {
			fmt.Fprintf(h, "%s %x\n", s.Session, p.Event.Hash)
		}
	}
	return h.Sum(nil)
}

// box seals the objects of a vault.
type box struct {
	place   Place
	keys    []seal.Key // oldest first: the first makes names, the last seals
	renewal renewal    // what the last one is for
	late    string     // the name of a device whose files are read whatever key seals them
}

func (b box) newest() seal.Key { return b.keys[len(b.keys)-1] }

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
	sealed := b.newest().SealObject(name, z.EncodeAll(content, nil))
	return len(sealed), b.place.PutNew(ctx, name, sealed)
}

// errDamaged means that an object was changed, cut, or stands under the name of another one.
var errDamaged = fmt.Errorf("it was changed, cut, or exchanged with another")

// get returns the content of an object. Errors are ErrMissing, errDamaged, and those of the place.
func (b box) get(ctx context.Context, name string) ([]byte, error) {
	content, _, err := b.open(ctx, name)
	return content, err
}

// open is get; older: it is not sealed with the newest key.
func (b box) open(ctx context.Context, name string) (content []byte, older bool, err error) {
	sealed, err := b.place.Get(ctx, name)
	if err != nil {
		return nil, false, err
	}
	for i, key := range slices.Backward(b.keys) {
		packed, ok := key.OpenObject(name, sealed)
		if !ok {
			continue
		}
		z, err := decompressor()
		if err != nil {
			return nil, false, err
		}
		if content, err = z.DecodeAll(packed, nil); err != nil {
			break
		}
		return content, i < len(b.keys)-1, nil
	}
	return nil, false, errDamaged
}

// contentName names a content of a session. No other session's name is the same, so a deletion removes it from the vault
// whatever others do at that time.
func (b box) contentName(session chat.SessionID, sha256 string) string {
	return contentsDir + b.keys[0].Name("content "+string(session)+" "+sha256)
}

// deviceName is what a device is called in names of objects.
func (b box) deviceName(id string) string { return b.keys[0].Name("device " + id) }

// write stores a file of a log, and before it the contents that it names.
func (b box) write(ctx context.Context, name string, f file) (size int, err error) {
	var text bytes.Buffer
	f.Version = f.version()
	head, err := chat.MarshalJSON(f.fileHead)
	if err != nil {
		return 0, err
	}
	text.Write(append(head, '\n'))
	_, _, again, _ := numberOf(name)
	apart := func(session chat.SessionID, c bundle.Content, sha256 string) (bool, error) {
		if len(c.Bytes) <= apartFrom || again > 0 || f.inline[session] { // of one that is written again, the others are left out
			return false, nil
		}
		n, err := b.put(ctx, b.contentName(session, sha256), c.Bytes)
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
	n, err := b.put(ctx, name, text.Bytes())
	return size + n, err
}

// errNewer means that a newer version of this program wrote an object.
var errNewer = fmt.Errorf("a newer version of this program wrote it")

// read returns a file of a log with the contents that it names; leave, if not nil, is called for each that is an object of its
// own, and true leaves it out. errOlder: an older key must not seal it.
func (b box) read(ctx context.Context, name string, leave func(chat.SessionID, string) bool) (f file, err error) {
	device, number, again, _ := numberOf(name)
	text, older, err := b.open(ctx, name)
	if err != nil {
		return f, err
	}
	line, rest, ok := bytes.Cut(text, []byte{'\n'})
	if !ok || json.Unmarshal(line, &f.fileHead) != nil {
		return f, errDamaged
	}
	if f.Version > deletionVersion {
		return f, errNewer
	}
	if b.deviceName(f.Device) != device || f.Number != number {
		return f, errDamaged
	}
	f.size, f.older, f.late = len(text), older, older && number > b.renewal.Logs[device].Number
	if f.late && device != b.late {
		return f, errOlder
	}
	f.segments, err = bundle.DecodeSegments(rest, func(session chat.SessionID, sha256 string) ([]byte, error) {
		if leave != nil && leave(session, b.contentName(session, sha256)) {
			return nil, nil
		}
		content, err := b.get(ctx, b.contentName(session, sha256))
		f.size += len(content)
		if err != nil {
			err = fmt.Errorf("a document or an answer that it names: %w", err)
		}
		return content, err
	})
	deletions := map[chat.SessionID]ledger.Deletions{}
	for _, s := range f.segments {
		if deletions[s.Session] == nil {
			deletions[s.Session] = ledger.Deletions{}
		}
		for _, p := range s.Parcels {
			deletions[s.Session].Add(p.Event)
		}
	}
	for _, s := range f.segments { // otherwise it was damaged where it was written
		for i := range s.Parcels {
			p := &s.Parcels[i]
			p.Replaced = p.Event.Payload != nil && !p.Event.Intact() && (again > 0 || deletions[s.Session].Certifies(p.Event))
		}
	}
	if known := b.renewal.Logs[device]; err == nil && older && number == known.Number && !bytes.Equal(f.sum(), known.Sum) {
		err = errExchanged
	}
	return f, err
}

// deletes reports whether a file has something of a permanent deletion.
func (f file) deletes() bool {
	return slices.ContainsFunc(f.segments, func(s bundle.Segment) bool {
		return s.Deleted || s.Of != "" || slices.ContainsFunc(s.Parcels, deletes)
	})
}
