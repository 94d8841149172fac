package store

import (
	"archive/zip"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/test/testtier"
)

// packed builds an archive from entries, ordered by name.
func packed(tb testing.TB, entries map[string]string, more ...func(*zip.Writer) error) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(entries[name]))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	for _, add := range more {
		if err := add(z); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// rawEntries returns the entries of an archive, byte for byte.
func rawEntries(tb testing.TB, b []byte) map[string]string {
	tb.Helper()
	out := entries(tb, b)
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := fs.ReadFile(z, "meta.json")
	if err != nil {
		tb.Fatal(err)
	}
	out["meta.json"] = string(raw)
	return out
}

// lineOf is an event as a line of events.ndjson.
type lineOf struct {
	Seq         int64           `json:"event_seq"`
	SessionID   string          `json:"session_id"`
	Type        ledger.Type     `json:"type"`
	Entity      string          `json:"entity_id"`
	CreatedAt   string          `json:"created_at"`
	PayloadHash string          `json:"payload_hash"`
	PrevHash    string          `json:"prev_hash"`
	Hash        string          `json:"hash"`
	Payload     json.RawMessage `json:"payload"`
}

// rewrite returns a bundle with changed events and a rebuilt hash chain, so that only the content can be wrong.
// Events for which change returns false are left out.
func rewrite(tb testing.TB, e map[string]string, change func(*lineOf) bool) map[string]string {
	tb.Helper()
	out := maps.Clone(e)
	var b bytes.Buffer
	tail := ledger.Genesis()
	for text := range strings.Lines(e["events.ndjson"]) {
		var l lineOf
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			tb.Fatal(err)
		}
		if !change(&l) {
			continue
		}
		ev := ledger.Event{SessionID: l.SessionID, Seq: l.Seq, Type: l.Type, Entity: l.Entity, CreatedAt: l.CreatedAt,
			PayloadHash: codec.Hash(l.Payload), PrevHash: tail.Hash}
		l.PayloadHash, l.PrevHash, l.Hash = hex.EncodeToString(ev.PayloadHash), hex.EncodeToString(ev.PrevHash), hex.EncodeToString(ev.Sum())
		tail = ledger.Tail{Seq: l.Seq, Hash: ev.Sum()}
		raw, err := chat.MarshalJSON(l)
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	out["events.ndjson"] = b.String()
	out["meta.json"] = withHead(tb, e["meta.json"], tail)
	return out
}

func withHead(tb testing.TB, meta string, tail ledger.Tail) string {
	tb.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(meta), &m); err != nil {
		tb.Fatal(err)
	}
	m["head"] = map[string]any{"event_seq": tail.Seq, "hash": hex.EncodeToString(tail.Hash)}
	raw, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

// with returns entries with one of them changed.
func with(e map[string]string, name string, change func(string) string) map[string]string {
	out := maps.Clone(e)
	out[name] = change(out[name])
	return out
}

func without(e map[string]string, name string) map[string]string {
	out := maps.Clone(e)
	delete(out, name)
	return out
}

func replaced(from, to string) func(string) string {
	return func(s string) string { return strings.Replace(s, from, to, 1) }
}

// lines adapts a change of lines to a change of the whole text.
func lines(change func([]string) []string) func(string) string {
	return func(s string) string { return strings.Join(change(strings.SplitAfter(s, "\n")), "") }
}

// small returns a bundle of a session with two turns, two branches, a pin and a document, and a bundle of another
// session.
func small(tb testing.TB) (b, other []byte) {
	f := newFixture(tb)
	s, main := f.session("small")
	doc := f.file(s.ID, "notes.txt", "words of a document")
	first := f.attach(main.ID, doc)
	f.commitAll(main.ID)
	f.index(first.ID)
	f.pin(main.ID, "a fact")
	f.full(main.ID, "second", "answer")
	f.fork(main.ID, first.ID)
	s2, main2 := f.session("other")
	f.full(main2.ID, "of another", "session")
	return f.bundled(s.ID), f.bundled(s2.ID)
}

// refusedImport expects an import to fail with a code and words, and to leave nothing behind.
func (f *fixture) refusedImport(b []byte, code chat.Code, words string) {
	f.Helper()
	before := f.rowsOfAll()
	_, _, err := f.ImportBundle(f.ctx, bytes.NewReader(b), int64(len(b)), "x.cinf")
	if chat.CodeOf(err) != code || err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "nothing was changed") {
		f.Errorf("code %q, %v\nwant %q and %q", chat.CodeOf(err), err, code, words)
	}
	if after := f.rowsOfAll(); after != before {
		f.Errorf("it left %s, before there was %s", after, before)
	}
}

// rowsOfAll counts the rows of every table.
func (f *fixture) rowsOfAll() string {
	f.Helper()
	tables, err := sqlite.All[string](f.core.DB.Reader, `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name`)
	f.ok(err)
	out := ""
	for _, name := range tables {
		n, err := sqlite.One[int](f.core.DB.Reader, name, name, `SELECT count(*) FROM "`+name+`"`)
		f.ok(err)
		out += fmt.Sprintf("%s %d, ", name, n)
	}
	return out
}

// TestHostileBundles: each is refused with its own reason and leaves nothing behind.
func TestHostileBundles(t *testing.T) {
	b, other := small(t)
	e, o := rawEntries(t, b), rawEntries(t, other)
	last := strings.Count(e["events.ndjson"], "\n")
	payload := func(kind ledger.Type, from, to string) map[string]string {
		return rewrite(t, e, func(l *lineOf) bool {
			if l.Type == kind {
				l.Payload = json.RawMessage(strings.Replace(string(l.Payload), from, to, 1))
			}
			return true
		})
	}
	entity := func(kind ledger.Type, id string) map[string]string {
		return rewrite(t, e, func(l *lineOf) bool {
			if l.Type == kind {
				l.Entity = id
			}
			return true
		})
	}
	raw := func(name, text string) func(*zip.Writer) error {
		return func(z *zip.Writer) error {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			return err
		}
	}
	link := func(z *zip.Writer) error {
		h := &zip.FileHeader{Name: "link"}
		h.SetMode(fs.ModeSymlink | 0o777)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte("/etc/passwd"))
		}
		return err
	}
	const newer, corrupt, bad = chat.CodeNewer, chat.CodeCorrupt, chat.CodeInvalid
	cases := []struct {
		name  string
		b     []byte
		code  chat.Code
		words string
	}{
		{"no archive", []byte("PK\x03\x04 and then nothing"), corrupt, "damaged or not a bundle"},
		{"cut in half", b[:len(b)/2], corrupt, "damaged or not a bundle"},
		{"version 1", packed(t, with(e, "meta.json", replaced(`"schema_version": 2`, `"schema_version": 1`))), newer, "version 1"},
		{"a future version", packed(t, with(e, "meta.json", replaced(`"schema_version": 2`, `"schema_version": 5`))), newer, "version 5"},
		{"no version", packed(t, with(e, "meta.json", replaced(`"schema_version": 2,`, ``))), newer, "no schema_version"},
		{"version in words", packed(t, with(e, "meta.json", replaced(`"schema_version": 2`, `"schema_version": "two"`))), corrupt, "meta.json"},
		{"another integrity mode", packed(t, with(e, "meta.json", replaced("sha256-chain", "none"))), newer, "integrity mode"},
		{"no meta", packed(t, without(e, "meta.json")), corrupt, "meta.json"},
		{"no events", packed(t, without(e, "events.ndjson")), corrupt, "events.ndjson"},
		{"empty events", packed(t, with(e, "events.ndjson", func(string) string { return "" })), corrupt, "no complete event"},
		{"no contents", packed(t, without(e, "contents.zst")), corrupt, "document that it describes is missing"},
		{"damaged contents", packed(t, with(e, "contents.zst", func(s string) string { return s[:len(s)/2] })), corrupt, "contents.zst"},
		{"contents of another", packed(t, with(e, "contents.zst", func(string) string { return o["contents.zst"] })), corrupt, ""},
		{"a gap", packed(t, with(e, "events.ndjson", lines(func(l []string) []string { return slices.Delete(l, 3, 4) }))), corrupt, "after event 3 comes event 5"},
		{"an event twice", packed(t, with(e, "events.ndjson", lines(func(l []string) []string { return slices.Insert(l, 3, l[2]) }))), corrupt, "after event 3 comes event 3"},
		{"the end is missing", packed(t, with(e, "events.ndjson", lines(func(l []string) []string { return l[:last-4] }))), corrupt, fmt.Sprintf("events up to %d are missing", last)},
		{"a foreign event", packed(t, with(e, "events.ndjson", lines(func(l []string) []string {
			l[4] = strings.SplitAfter(o["events.ndjson"], "\n")[4]
			return l
		}))), corrupt, "event 5 belongs to another session"},
		{"a changed payload", packed(t, with(e, "events.ndjson", replaced(`"a fact"`, `"a lie"`))), corrupt, "payload does not match its hash"},
		{"a changed moment", packed(t, with(e, "events.ndjson", replaced(`"created_at":"2026`, `"created_at":"2025`))), corrupt, "event 1 was changed"},
		{"a broken chain", packed(t, with(e, "events.ndjson", replaced(`"prev_hash":"00`, `"prev_hash":"01`))), corrupt, "event 1 was changed"},
		{"another head", packed(t, with(e, "meta.json", func(s string) string { return withHead(t, s, ledger.Tail{Seq: int64(last), Hash: codec.Hash(nil)}) })), corrupt, "last event is not the one"},
		{"a bad line inside", packed(t, with(e, "events.ndjson", lines(func(l []string) []string { l[2] = "{\n"; return l }))), corrupt, "event 3"},
		{"no UTF-8 inside", packed(t, with(e, "events.ndjson", replaced("a fact", "a f\xffct"))), corrupt, "UTF-8"},
		{"an unknown type", packed(t, entityType(t, e, ledger.EventPinAdded, "pin_polished")), newer, `"pin_polished"`},
		{"a newer payload", packed(t, payload(ledger.EventPinAdded, `"v":1`, `"v":2`)), corrupt, "payload version 2"},
		{"path traversal", packed(t, e, raw("../../evil.json", "x")), bad, "outside"},
		{"a windows path", packed(t, e, raw(`C:\evil.json`, "x")), bad, "outside"},
		{"an absolute path", packed(t, e, raw("/etc/passwd", "x")), bad, "outside"},
		{"an entry twice", packed(t, e, raw("events.ndjson", "x")), bad, "twice"},
		{"twice but for case", packed(t, e, raw("META.json", "x")), bad, "twice"},
		{"a symbolic link", packed(t, e, link), bad, "link"},
		{"too many entries", packed(t, e, func(z *zip.Writer) error {
			for i := range 70 {
				if err := raw(fmt.Sprint(i), "")(z); err != nil {
					return err
				}
			}
			return nil
		}), bad, "lists more than 64 files"},
		{"a zip bomb", packed(t, with(e, "snapshot.json", func(string) string { return strings.Repeat("0", 40<<20) })), bad, "times as large"},
		{"a bomb in the contents", packed(t, with(e, "contents.zst", func(string) string {
			return zstdOf(`{"event_seq":1,"content":"request","size":99999999999,"sha256":""}` + "\n")
		})), bad, "the limit is"},
		{"a turn without a branch", packed(t, payload(ledger.EventTurnAccepted, `"branch_id":"01`, `"branch_id":"07`)), corrupt, "does not belong to the session"},
		{"a branch of another session", packed(t, payload(ledger.EventBranchCreated, `"parent_branch":""`, `"parent_branch":"01KDYAK3BAD0000000000000AA"`)), corrupt, "does not belong to the session"},
		{"a step that is a path", packed(t, entity(ledger.EventStepStarted, "../../../evil")), corrupt, "cannot be replayed"},
		{"a journal elsewhere", packed(t, payload(ledger.EventStepStarted, `"stream_path":"streams/`, `"stream_path":"../`)), corrupt, "journal"},
		{"an invalid id", packed(t, entity(ledger.EventPinAdded, "..")), corrupt, "no valid id"},
		{"a document of another session", packed(t, payload(ledger.EventTurnAccepted, `"file_id":"01`, `"file_id":"07`)), corrupt, "document that does not belong to the session"},
		{"two turns in one place", packed(t, payload(ledger.EventTurnAccepted, `"turn_seq":2`, `"turn_seq":1`)), corrupt, "invalid record"},
		{"turns with a gap", packed(t, payload(ledger.EventTurnAccepted, `"turn_seq":2`, `"turn_seq":7`)), corrupt, "do not agree"},
		{"a phase that contradicts the turn", packed(t, payload(ledger.EventTurnFinalized, `"outcome":"completed"`, `"outcome":"failed"`)), corrupt, "do not agree"},
		{"a chunk that is not in the message", packed(t, payload(ledger.EventTurnIndexed, `"start":0`, `"start":1`)), corrupt, "do not agree"},
		{"a user's message of another role", packed(t, payload(ledger.EventTurnAccepted, `"role":"user"`, `"role":"system"`)), corrupt, "message of event"},
		{"another moment", packed(t, rewrite(t, e, func(l *lineOf) bool { l.CreatedAt = "yesterday"; return true })), corrupt, "has no valid time"},
	}
	f := newFixture(t)
	_, main := f.session("ours")
	f.full(main.ID, "what was here", "stays")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := *f
			g.TB = t
			g.refusedImport(c.b, c.code, c.words)
		})
	}
	f.verifyClean()
}

// entityType returns a bundle in which events of one type have another type.
func entityType(tb testing.TB, e map[string]string, kind, to ledger.Type) map[string]string {
	return rewrite(tb, e, func(l *lineOf) bool {
		if l.Type == kind {
			l.Type = to
		}
		return true
	})
}

// TestRecoveredBundles: a bundle whose last line or snapshot is damaged is imported without it, and the result
// contains a notice.
func TestRecoveredBundles(t *testing.T) {
	b, _ := small(t)
	e := rawEntries(t, b)
	events := strings.Count(e["events.ndjson"], "\n")
	cases := []struct {
		name   string
		b      []byte
		events int
		notice string
	}{
		{"a torn last line", packed(t, with(e, "events.ndjson", func(s string) string { return s[:len(s)-40] })), events - 1, "was cut off"},
		{"an incomplete extra line", packed(t, with(e, "events.ndjson", func(s string) string { return s + `{"event_seq":` })), events, "was cut off"},
		{"a last line without its newline", packed(t, with(e, "events.ndjson", func(s string) string { return strings.TrimSuffix(s, "\n") })), events, ""},
		{"an invalid snapshot", packed(t, with(e, "snapshot.json", func(s string) string { return s[:len(s)/2] })), events, "snapshot"},
		{"a snapshot with other content", packed(t, with(e, "snapshot.json", replaced(`"turn_seq":2`, `"turn_seq":3`))), events, "snapshot"},
		{"no snapshot", packed(t, without(e, "snapshot.json")), events, "snapshot"},
		{"no index", packed(t, without(e, "index.json")), events, ""},
		{"an unrelated file", packed(t, with(e, "__MACOSX/._meta.json", func(string) string { return "x" })), events, "1 file in the bundle does not belong in one; it was ignored."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			got, notices := f.imported(c.b)
			if got.Outcome != chat.ImportCreated {
				t.Errorf("%+v", got)
			}
			if all := strings.Join(notices, " "); !strings.Contains(all, c.notice) || (c.notice == "") != (all == "") {
				t.Errorf("notices %q, want %q", notices, c.notice)
			}
			n, err := sqlite.One[int](f.core.DB.Reader, "events", "", `SELECT count(*) FROM events`)
			f.ok(err)
			if n != c.events {
				t.Errorf("%d events, want %d", n, c.events)
			}
			f.verifyClean()
			f.expectSameAfterReplay(got.Session)
			again, _ := f.imported(b)
			if c.events < events && again.Outcome != chat.ImportGrown || c.events == events && again.Outcome != chat.ImportAlready {
				t.Errorf("the complete bundle, imported afterwards: %+v", again)
			}
			f.verifyClean()
		})
	}
}

// TestAnyMemberChanged changes one member of a payload at a time and rebuilds the hash chain. Each bundle is refused,
// or the imported session passes verify. The exhaustive form tries all members, otherwise a sample.
func TestAnyMemberChanged(t *testing.T) {
	b, _ := small(t)
	e := rawEntries(t, b)
	f := newFixture(t)
	n, accepted := 0, 0
	changes := []func(any) any{
		func(v any) any {
			switch v := v.(type) {
			case float64:
				return v + 1
			case string:
				return v + "x"
			case bool:
				return !v
			}
			return nil
		},
		func(v any) any {
			switch v.(type) {
			case float64:
				return -1
			case string:
				return ""
			}
			return nil
		},
	}
	for _, change := range changes {
		for at := 0; ; at++ {
			seen := 0
			changed := rewrite(t, e, func(l *lineOf) bool {
				var v any
				f.ok(json.Unmarshal(l.Payload, &v))
				v = scalars(v, func(v any) any {
					if seen++; seen == at+1 {
						return change(v)
					}
					return v
				})
				raw, err := chat.MarshalJSON(v)
				f.ok(err)
				l.Payload = raw
				return true
			})
			if at >= seen {
				break
			}
			if at%testtier.Size(17, 1) != 0 {
				continue
			}
			n++
			raw := packed(t, changed)
			got, _, err := f.ImportBundle(f.ctx, bytes.NewReader(raw), int64(len(raw)), "")
			if err != nil {
				if code := chat.CodeOf(err); code != chat.CodeCorrupt && code != chat.CodeInvalid && code != chat.CodeNewer {
					t.Fatalf("member %d: code %q: %v: %v", at, code, err, chat.AsError(err).Err)
				}
				continue
			}
			accepted++
			f.verifyClean()
			_, err = f.Delete(f.ctx, chat.DeletionSession, string(got.Session))
			f.ok(err)
		}
	}
	if n < 20 || accepted == 0 || accepted == n {
		t.Errorf("%d of %d changes were accepted", accepted, n)
	}
	f.verifyClean()
}

// scalars applies do to the leaves of a JSON value, in a fixed order.
func scalars(v any, do func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			v[k] = scalars(v[k], do)
		}
		return v
	case []any:
		for i := range v {
			v[i] = scalars(v[i], do)
		}
		return v
	}
	return do(v)
}
