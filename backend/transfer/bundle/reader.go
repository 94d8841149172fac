package bundle

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/safezip"
	"contextinfinity/backend/ledger"
)

// Reader is an open bundle with a valid list of entries. It can be read several times.
type Reader struct {
	Meta       Meta
	entries    map[string]*zip.File
	Unexpected int // unexpected entries, which are ignored
}

// Open reads the description of a bundle. It returns a specific error for a file that is not a bundle, is malicious,
// or has another version.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	z, err := safezip.Open(r, size, MaxEntries)
	switch {
	case errors.Is(err, safezip.ErrTooMany):
		return nil, hostile("it lists more than %d files", MaxEntries)
	case err != nil:
		return nil, refused("it is damaged or not a bundle")
	}
	b := &Reader{entries: map[string]*zip.File{}}
	if err := b.list(z); err != nil {
		return nil, err
	}
	raw, err := b.readSmall(metaName, MaxMetaBytes)
	if err != nil {
		return nil, err
	}
	if b.Meta, err = decodeMeta(raw); err != nil {
		return nil, err
	}
	if b.entries[eventsName] == nil {
		return nil, refused("it has no %s", eventsName)
	}
	return b, nil
}

// list lists the entries. It refuses a malicious archive before unpacking anything.
func (b *Reader) list(z *zip.Reader) error {
	seen := map[string]bool{}
	var total uint64
	for _, f := range z.File {
		name := strings.ToLower(strings.ReplaceAll(f.Name, `\`, "/"))
		switch {
		case outside(name):
			return hostile("it contains a file named %q, which would be unpacked outside of its folder", f.Name)
		case !f.Mode().IsRegular() && !f.Mode().IsDir():
			return hostile("%q in it is a link or a device", f.Name)
		case seen[name]:
			return hostile("it contains %q twice", f.Name)
		case f.Flags&1 != 0:
			return hostile("%q in it is encrypted", f.Name)
		case f.UncompressedSize64 > MaxUnpackedBytes || total+f.UncompressedSize64 > MaxUnpackedBytes:
			return hostile("it unpacks to more than %d bytes", int64(MaxUnpackedBytes))
		case f.UncompressedSize64 > maxUnpacked(f):
			return hostile("%q in it becomes more than %d times as large", f.Name, MaxRatio)
		}
		seen[name] = true
		total += f.UncompressedSize64
		switch f.Name {
		case metaName, eventsName, contentsName, snapshotName, indexName:
			b.entries[f.Name] = f
		default:
			b.Unexpected++
		}
	}
	return nil
}

// maxUnpacked is the maximum unpacked size of an entry.
func maxUnpacked(f *zip.File) uint64 {
	return max(RatioFloor, min(f.CompressedSize64, MaxUnpackedBytes)*MaxRatio)
}

// outside reports whether a name leads outside of the directory into which it is unpacked, on any system.
func outside(name string) bool {
	if strings.HasPrefix(name, "/") || len(name) > 1 && name[1] == ':' || strings.ContainsRune(name, 0) {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// open opens an entry; reading fails once it exceeds its declared size.
func (b *Reader) open(name string) (io.ReadCloser, error) {
	f := b.entries[name]
	if f == nil {
		return nil, refused("it has no %s", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, refused("%s cannot be unpacked: %v", name, err)
	}
	return r, nil
}

// readSmall reads an entry of at most limit bytes.
func (b *Reader) readSmall(name string, limit int64) ([]byte, error) {
	r, err := b.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, refused("%s cannot be unpacked: %v", name, err)
	case int64(len(raw)) > limit:
		return nil, hostile("%s has more than %d bytes", name, limit)
	}
	return raw, nil
}

// Read reads the ledger in order and calls do with each event and its contents. A gap, an event of another session, and
// an event that is damaged or does not follow from the previous one are errors that name the event. A changed payload
// is reported after the last event, because a later event may show that a permanent deletion replaced it. torn: the
// last line was cut off and is ignored; everything before it is valid.
func (b *Reader) Read(do func(ledger.Event, []Content) error) (torn bool, err error) {
	r, err := b.open(eventsName)
	if err != nil {
		return false, err
	}
	defer func() { _ = r.Close() }()
	contents, err := b.contents()
	if err != nil {
		return false, err
	}
	defer contents.close()
	p := pass{meta: b.Meta, tails: ledger.Tails{}, payloads: newPayloadCheck(), contents: contents, do: do}
	if torn, err = p.lines(bufio.NewReaderSize(r, 256<<10)); err != nil {
		return torn, err
	}
	return torn, p.checkEnd(torn)
}

func (b *Reader) contents() (*contentReader, error) {
	if b.entries[contentsName] == nil {
		return newContentReader(bytes.NewReader(nil))
	}
	r, err := b.open(contentsName)
	if err != nil {
		return nil, err
	}
	c, err := newContentReader(r)
	if err != nil {
		return nil, refused("%s cannot be unpacked: %v", contentsName, err)
	}
	return c, nil
}

// pass is one pass over the events.
type pass struct {
	meta     Meta
	last     ledger.Event // read so far
	tails    ledger.Tails
	payloads payloadCheck
	contents *contentReader
	do       func(ledger.Event, []Content) error
}

// lines reads all lines. One without a newline, or an unreadable one, is torn if nothing follows.
func (p *pass) lines(r *bufio.Reader) (torn bool, err error) {
	for n := int64(1); ; n++ {
		raw, err := readLine(r)
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return false, lineError(n, err)
		}
		if ended && len(raw) == 0 {
			return false, nil
		}
		e, err := decodeEvent(raw)
		if err != nil {
			if _, more := r.Peek(1); ended || errors.Is(more, io.EOF) {
				return true, nil
			}
			return false, refused("event %d: %v", n, err)
		}
		if err := p.event(n, e); err != nil || ended {
			return false, err
		}
	}
}

func lineError(n int64, err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return hostile("event %d has more than %d bytes", n, int64(MaxLineBytes))
	}
	return refused("%s cannot be unpacked at event %d: %v", eventsName, n, err)
}

// readLine reads up to a newline, which it removes; io.EOF: there was none.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLineBytes {
			return nil, bufio.ErrTooLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(line, []byte{'\n'}), err
		}
	}
}

// event checks an event's sequence and chain, and passes it on.
func (p *pass) event(n int64, e ledger.Event) error {
	if err := p.check(n, e); err != nil {
		return err
	}
	if e.Seq > p.meta.Head.EventSeq {
		return refused("there are more events than the %d that meta.json names", p.meta.Head.EventSeq)
	}
	contents, err := p.contents.forEvent(e.Seq)
	if err != nil {
		return err
	}
	return p.do(e, contents)
}

// check checks the nth event against those before it.
func (p *pass) check(n int64, e ledger.Event) error {
	if e.SessionID != string(p.meta.SessionID) {
		return refused("event %d belongs to another session, %.40q", n, e.SessionID)
	}
	if e.Seq != p.last.Seq+1 {
		return refused("after event %d comes event %d: events are missing or repeated", p.last.Seq, e.Seq)
	}
	if err := p.lane(e); err != nil {
		return err
	}
	if !e.Type.Known() {
		return otherVersion(fmt.Sprintf("event %d is of an unknown type, %.40q", e.Seq, e.Type)).
			WithHint("a newer version of the program may read it")
	}
	if faults := p.tails.Follow(e); len(faults) > 0 {
		return refused("event %d was changed: %s", e.Seq, strings.TrimSuffix(strings.Join(faults, " "), "."))
	}
	if _, err := chat.ParseTime(e.CreatedAt); err != nil {
		return refused("event %d has no valid time", e.Seq)
	}
	p.last = ledger.Event{Seq: e.Seq, Hash: e.Hash, Lane: e.Lane, LaneSeq: e.LaneSeq}
	p.payloads.add(e)
	return nil
}

// lane checks an event's lane and number: the order of the events is that of (number, lane).
func (p *pass) lane(e ledger.Event) error {
	switch {
	case p.meta.Lanes == 0 && (e.Lane != "" || e.LaneSeq != 0):
		return refused("event %d has a lane, in a bundle of version %d", e.Seq, p.meta.SchemaVersion)
	case p.meta.Lanes == 0:
		return nil
	case e.LaneSeq < 1 || e.Lane != "" && !chat.ValidID(e.Lane):
		return refused("event %d has no valid place in a lane", e.Seq)
	case p.last.Seq > 0 && cmp.Or(cmp.Compare(p.last.LaneSeq, e.LaneSeq), cmp.Compare(p.last.Lane, e.Lane)) >= 0:
		return refused("event %d is not in order", e.Seq)
	}
	return nil
}

// checkEnd checks that the ledger ends where it should, or one event earlier if the last one was torn.
func (p *pass) checkEnd(torn bool) error {
	last := p.meta.Head.EventSeq
	if err := p.checkPayloads(); err != nil {
		return err
	}
	switch {
	case p.last.Seq == 0:
		return refused("it has no complete event")
	case torn && p.last.Seq == last-1:
		return nil // contents of the torn event belong to no event
	case p.last.Seq != last:
		return refused("it ends with event %d, and events up to %d are missing", p.last.Seq, last)
	case hex.EncodeToString(p.last.Hash) != p.meta.Head.Hash:
		return refused("its last event is not the one that meta.json names")
	case p.meta.Lanes > 0 && p.meta.Lanes != len(p.tails):
		return refused("meta.json names %d lanes, and there are %d", p.meta.Lanes, len(p.tails))
	}
	unread, err := p.contents.next()
	if err == nil && unread != nil {
		err = refused("contents.zst contains something for event %d that does not belong there", unread.Seq)
	}
	return err
}

// checkPayloads checks that every changed payload was put there by a permanent deletion.
func (p *pass) checkPayloads() error {
	if seq := p.payloads.fault(); seq > 0 {
		return refused("event %d was changed: its payload does not match its hash, and no permanent deletion put it there", seq)
	}
	return nil
}

// SnapshotSum is the SHA-256 of snapshot.json. The snapshot is not decoded: it is useful only if a replay of the
// events produces the same bytes. An error says why there is none.
func (b *Reader) SnapshotSum() ([]byte, error) {
	r, err := b.open(snapshotName)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return nil, refused("%s cannot be unpacked: %v", snapshotName, err)
	}
	return h.Sum(nil), nil
}
