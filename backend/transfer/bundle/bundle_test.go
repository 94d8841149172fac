package bundle

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

const sessionID = "01KDYAK348M6KSDC06SG2A2KN5"

// eventsOf returns events of a session with these payloads.
func eventsOf(payloads ...string) []ledger.Event {
	tail := ledger.Genesis()
	var out []ledger.Event
	for i, p := range payloads {
		sum := sha256.Sum256([]byte(p))
		e := ledger.Event{
			SessionID: sessionID, Seq: int64(i + 1), Type: ledger.EventSessionRenamed, Entity: sessionID, CreatedAt: "2026-01-02T03:04:05.000Z",
			PayloadHash: sum[:], PrevHash: tail.Hash, Payload: []byte(p),
		}
		e.Hash = e.Sum()
		tail = e.Tail()
		out = append(out, e)
	}
	return out
}

func seqOf[V any](list []V) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// writeBundle returns a bundle with events and contents.
func writeBundle(tb testing.TB, events []ledger.Event, contents ...Content) []byte {
	tb.Helper()
	last := events[len(events)-1]
	state := ledger.NewState(sessionID)
	state.EventSeq, state.EventHash = last.Seq, hex.EncodeToString(last.Hash)
	var b bytes.Buffer
	err := Write(&b, Session{
		Meta:   Meta{Program: "test", SessionID: sessionID, Title: "<t> & \u2028", Head: Head{last.Seq, hex.EncodeToString(last.Hash)}},
		Events: seqOf(events), Contents: seqOf(contents),
		Snapshot: ledger.Snapshot{Version: ledger.SnapshotVersion, State: state},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// read returns the content of a bundle.
func read(b []byte) (meta Meta, events []ledger.Event, contents []Content, torn bool, err error) {
	r, err := Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return meta, nil, nil, false, err
	}
	torn, err = r.Read(func(e ledger.Event, c []Content) error {
		events, contents = append(events, e), append(contents, c...)
		return nil
	})
	return r.Meta, events, contents, torn, err
}

// TestBundlesRoundTrip: payloads and contents are read back byte for byte, whatever they are.
func TestBundlesRoundTrip(t *testing.T) {
	events := eventsOf(`{"v":1,"data":{}}`, `{"v":1,"data":{"text":"<b> & ‽ \\u0000"}}`, "{\"v\":1,\n\"data\":{}}", "\xff\x00 no JSON", ` {"v":1}`, `null`, `""`)
	deleted := eventsOf(`gone`)[0]
	deleted.Seq, deleted.PrevHash, deleted.Payload = 8, events[6].Hash, nil
	deleted.Hash = deleted.Sum()
	events = append(events, deleted)
	contents := []Content{
		{Seq: 1, Kind: Request, Bytes: []byte("a request\n{}\n")}, {Seq: 1, Kind: Response, Bytes: []byte{}}, {Seq: 3, Kind: RawEvents, Bytes: []byte{0xff, 0, '\n'}},
		{Seq: 7, Kind: Document, Bytes: bytes.Repeat([]byte("words "), 1<<20)}, {Seq: 8, Kind: Words, Bytes: []byte("\n\n")},
	}
	b := writeBundle(t, events, contents...)
	meta, gotEvents, gotContents, torn, err := read(b)
	if err != nil || torn {
		t.Fatal(torn, err)
	}
	if meta.Title != "<t> & \u2028" || meta.SchemaVersion != SchemaVersion || meta.IntegrityMode != integrity {
		t.Errorf("meta %+v", meta)
	}
	for i, e := range events {
		if !reflect.DeepEqual(e, gotEvents[i]) {
			t.Errorf("event %d\n%+v\nwant\n%+v", i+1, gotEvents[i], e)
		}
	}
	if len(gotContents) != len(contents) {
		t.Fatalf("%d contents", len(gotContents))
	}
	for i, c := range contents {
		if g := gotContents[i]; g.Seq != c.Seq || g.Kind != c.Kind || !bytes.Equal(g.Bytes, c.Bytes) {
			t.Errorf("content %d: %d bytes, kind %s, event %d", i, len(g.Bytes), g.Kind, g.Seq)
		}
	}
	if !bytes.Equal(b, writeBundle(t, events, contents...)) {
		t.Error("the same session gives different bytes")
	}
}

// TestDamagedIsNotWritten: inconsistent events are not written as a bundle.
func TestDamagedIsNotWritten(t *testing.T) {
	for name, damage := range map[string]func([]ledger.Event) []ledger.Event{
		"a payload": func(e []ledger.Event) []ledger.Event { e[1].Payload = []byte(`{"v":1}`); return e },
		"a hash":    func(e []ledger.Event) []ledger.Event { e[1].Hash = e[0].Hash; return e },
		"a gap":     func(e []ledger.Event) []ledger.Event { return append(e[:1], e[2]) },
		"an end":    func(e []ledger.Event) []ledger.Event { return e[:2] },
	} {
		events := eventsOf(`{"v":1}`, `{"v":1,"data":{}}`, `{"v":1}`)
		last := events[2]
		err := Write(io.Discard, Session{
			Meta:   Meta{SessionID: sessionID, Head: Head{last.Seq, hex.EncodeToString(last.Hash)}},
			Events: seqOf(damage(events)), Contents: seqOf[Content](nil), Snapshot: ledger.Snapshot{State: ledger.NewState(sessionID)},
		})
		if err == nil {
			t.Errorf("a session with damage to %s was written", name)
		}
	}
}

// TestWrongSizes: an entry that unpacks to more than its declared size is refused.
func TestWrongSizes(t *testing.T) {
	b := writeBundle(t, eventsOf(`{"v":1}`))
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	size := z.File[1].UncompressedSize64
	wrong := bytes.Clone(b)
	at := bytes.LastIndex(wrong, []byte("events.ndjson")) - 46 // its header in the central directory
	if size > 0xffff || wrong[at+24] != byte(size) {
		t.Fatal("the header is not where it was")
	}
	wrong[at+24], wrong[at+25] = byte(size-10), byte((size-10)>>8)
	if _, _, _, _, err := read(wrong); chat.CodeOf(err) != chat.CodeCorrupt {
		t.Errorf("an entry larger than declared: %v", err)
	}
	large := bytes.Clone(b)
	copy(large[at+24:], []byte{0xff, 0xff, 0xff, 0x7f})
	if _, _, _, _, err := read(large); chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "times as large") {
		t.Errorf("an entry with a declared size of 2 GB: %v", err)
	}
}
