package bundle

import (
	"archive/zip"
	"bytes"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// FuzzOpen: any bytes give a bundle with a valid chain of events, or a known kind of error.
func FuzzOpen(f *testing.F) {
	valid := writeBundle(f, eventsOf(`{"v":1,"data":{}}`, `{"v":1,"data":{"text":"a"}}`), Content{Seq: 1, Kind: Request, Bytes: []byte("request")}, Content{Seq: 2, Kind: Document, Bytes: []byte("words")})
	f.Add(valid)
	f.Add(valid[:len(valid)/2])
	f.Add(bytes.Replace(valid, []byte("snapshot.json"), []byte("../napsh.json"), 2))
	f.Add([]byte("PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		meta, events, contents, torn, err := read(b)
		checkResult(t, meta, events, contents, torn, err)
	})
}

// FuzzParts is FuzzOpen for the content of the entries, because changed bytes of an archive would fail its checksums.
func FuzzParts(f *testing.F) {
	events := eventsOf(`{"v":1,"data":{}}`, "\xff")
	valid := writeBundle(f, events, Content{Seq: 1, Kind: Request, Bytes: []byte("request")})
	z, err := zip.NewReader(bytes.NewReader(valid), int64(len(valid)))
	if err != nil {
		f.Fatal(err)
	}
	parts := map[string][]byte{}
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err != nil {
			f.Fatal(err)
		}
		parts[e.Name] = b.Bytes()
	}
	f.Add(parts[metaName], parts[eventsName], parts[contentsName])
	f.Add(parts[metaName], parts[eventsName][:len(parts[eventsName])-3], parts[contentsName])
	f.Add([]byte(`{"schema_version":1}`), []byte("\n"), []byte{})
	f.Add([]byte(`{"schema_version":2,"head":{"event_seq":-1}}`), bytes.Repeat([]byte("[\n"), 3), parts[contentsName][:9])
	f.Fuzz(func(t *testing.T, meta, events, contents []byte) {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, e := range []struct {
			name string
			raw  []byte
		}{{metaName, meta}, {eventsName, events}, {contentsName, contents}} {
			w, err := z.Create(e.name)
			if err == nil {
				_, err = w.Write(e.raw)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		m, read, c, torn, err := read(b.Bytes())
		checkResult(t, m, read, c, torn, err)
	})
}

func checkResult(t *testing.T, meta Meta, events []ledger.Event, contents []Content, torn bool, err error) {
	if err != nil {
		switch chat.CodeOf(err) {
		case chat.CodeCorrupt, chat.CodeInvalid, chat.CodeNewer:
		default:
			t.Fatalf("an error of code %q: %v", chat.CodeOf(err), err)
		}
		return
	}
	tail, deleted := ledger.Genesis(), ledger.Deletions{}
	for _, e := range events {
		deleted.Add(e)
	}
	for _, e := range events {
		if faults := e.Faults(tail); len(faults) > 0 || e.SessionID != string(meta.SessionID) || e.Payload != nil && !deleted.Certifies(e) {
			t.Fatalf("event %d was accepted: %v", e.Seq, faults)
		}
		tail = e.Tail()
	}
	if tail.Seq != meta.Head.EventSeq && !(torn && tail.Seq == meta.Head.EventSeq-1) {
		t.Fatalf("%d of %d events", tail.Seq, meta.Head.EventSeq)
	}
	for _, c := range contents {
		if c.Seq < 1 || c.Seq > tail.Seq {
			t.Fatalf("a content of event %d of %d", c.Seq, tail.Seq)
		}
	}
}
