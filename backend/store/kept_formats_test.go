package store

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/schema"
)

// Later versions must be able to read what earlier ones stored in data directories and bundles. These files were
// written once and never change: a database of schema 9 with requests that quote chunks and are based on each other,
// bundles of format 2, and the content of both.
const (
	keptDatabase = "testdata/v9.db.gz"
	keptBundles  = "testdata/bundle-2-*.zip"
	keptDumps    = "testdata/v9.json.gz"
)

func TestWriteKeptFormats(t *testing.T) {
	if !*update {
		t.Skip("writes " + keptDatabase + " and its bundles with -update only")
	}
	if v := schema.NewestVersion(migrations.Files); v != 9 {
		t.Fatalf("the schema is at version %d; %s is kept as version 9 wrote it", v, keptDatabase)
	}
	f := newFixture(t)
	seed(f)
	f.richSession()
	f.verifyClean()
	sessions := map[chat.SessionID]string{}
	for _, s := range f.allSessions() {
		sessions[s] = f.dump(s)
		f.ok(os.WriteFile(filepath.Join("testdata", "bundle-2-"+string(s)+".zip"), f.bundled(s), 0o644))
	}
	path := filepath.Join(t.TempDir(), "v9.db")
	f.backup(path)
	data, err := os.ReadFile(path)
	f.ok(err)
	text, err := json.MarshalIndent(sessions, "", " ")
	f.ok(err)
	for name, content := range map[string][]byte{keptDatabase: data, keptDumps: text} {
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		f.ok(err)
		_, err = z.Write(content)
		f.ok(err)
		f.ok(z.Close())
		f.ok(os.WriteFile(name, packed.Bytes(), 0o644))
	}
}

func keptSessions(t *testing.T) map[chat.SessionID]string {
	t.Helper()
	data, err := os.ReadFile(unpacked(t, keptDumps))
	if err != nil {
		t.Fatal(err)
	}
	sessions := map[chat.SessionID]string{}
	if err := json.Unmarshal(data, &sessions); err != nil || len(sessions) < 3 {
		t.Fatalf("%d sessions, %v", len(sessions), err)
	}
	return sessions
}

// TestSchema9CanStillBeRead: each request, answer and record is unchanged.
func TestSchema9CanStillBeRead(t *testing.T) {
	t.Parallel()
	f := copied(t, unpacked(t, keptDatabase))
	f.verifyClean()
	for s, want := range keptSessions(t) {
		if have := f.dump(s); have != want {
			t.Errorf("session %s %s", s, firstDifference(want, have))
		}
	}
}

// TestFormat2BundlesCanStillBeRead: they are imported with the same content, and exported as the same bundle.
func TestFormat2BundlesCanStillBeRead(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(keptBundles)
	sessions := keptSessions(t)
	if err != nil || len(paths) != len(sessions) {
		t.Fatalf("%d bundles of %d sessions, %v", len(paths), len(sessions), err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := newFixture(t)
		got, _ := f.imported(b)
		if want, have := sessions[got.Session], f.dump(got.Session); want != have {
			t.Errorf("%s: %s", path, firstDifference(want, have))
		}
		f.verifyClean()
		again := entries(t, f.bundled(got.Session))
		for name, want := range entries(t, b) {
			if again[name] != want {
				t.Errorf("%s: the export of %s differs: %s", path, name, firstDifference(want, again[name]))
			}
		}
	}
}

// TestEveryTypeOfEventHasOneMeaning: the ledger and the store know the same types of events.
func TestEveryTypeOfEventHasOneMeaning(t *testing.T) {
	t.Parallel()
	types := ledger.Types()
	for _, kind := range types {
		if k, ok := events.EventKinds[kind]; !ok || k.Apply == nil || k.Decode == nil {
			t.Errorf("events of type %s make no rows", kind)
		}
	}
	if len(types) != len(events.EventKinds) {
		t.Errorf("the ledger defines %d types of events, the store %d", len(types), len(events.EventKinds))
	}
}
