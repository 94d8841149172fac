package store

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/test/testtier"
)

// sealedTests is the environment variable with which the tests of this package run on sealed files.
const sealedTests = "CONTEXTINFINITY_TEST_SEALED"

// testKey seals the files of this process, if the variable is set.
var testKey = func() (k seal.Key) {
	copy(k[:], "0123456789abcdef0123456789abcdef")
	return k
}()

func useTestKey() { seal.Use(seal.Lock{Version: 1, Key: testKey.ID()}, testKey) }

func isSealedRun() bool { return os.Getenv(sealedTests) != "" }

// plainOnly skips a test that looks for text in a file, or cuts one where a plain one has a boundary.
func plainOnly(t testing.TB) {
	t.Helper()
	if isSealedRun() {
		t.Skip("it looks for text in files, or changes bytes that are at other places in a sealed file")
	}
}

// sealedSample are the tests that the everyday suite runs a second time, on sealed files: of each feature that opens or
// copies files, one. TEST_ALL runs all of them.
const sealedSample = `^(TestSealed.*|TestWholeTurn|TestADamagedLogIsFound|TestRestore|TestRestoreOverALog|TestRestoreOfARawCopy|TestDailyBackup|` +
	`TestMoveCopiesEverything|TestAFlippedBitOfTheFileIsFound|TestFirstVersionStillOpens|TestVerifyIsCleanOnEverything|TestReadOnlyNeedsData)$`

// TestOnSealedFiles runs the tests of this package a second time, with every file of SQLite sealed.
func TestOnSealedFiles(t *testing.T) {
	if isSealedRun() {
		t.Skip("this is the second time")
	}
	t.Parallel() // beside those that compute for minutes: it is a process of its own
	cmd := exec.Command(os.Args[0], "-test.run="+testtier.Size(sealedSample, "."), "-test.timeout=1h")
	cmd.Env = append(os.Environ(), sealedTests+"=1", "TEST_ALL=") // each test in its everyday form
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("PASS")) || bytes.Contains(out, []byte("no tests to run")) {
		t.Errorf("it ran nothing:\n%s", out)
	}
}

// holding returns the files of a folder that contain a word.
func holding(t *testing.T, dir, word string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(word)) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSealedStoreShowsNothing: no file of a sealed data directory contains what was stored, drafts too: neither the database, nor its
// log, nor a backup. The same search in a plain one finds it in each.
func TestSealedStoreShowsNothing(t *testing.T) {
	const canary = "canarywordoftest" // short texts are stored uncompressed
	const draft = "draftwordoftest"
	f := newFixture(t)
	_, b := f.session(canary)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("And the " + draft + "?")}))
	f.full(b.ID, "What is "+canary+"?", "It is "+canary+".")
	dir := filepath.Join(f.dir, sqlite.BackupDir)
	f.ok(sqlite.MakeDir(dir))
	_, err := NewArchive(ArchiveOptions{DataDir: f.dir}).Backup(f.ctx, filepath.Join(dir, "b.db"))
	f.ok(err)
	for _, word := range []string{canary, draft} {
		want := "b.db contextinfinity.db-wal"
		if isSealedRun() {
			want = ""
		}
		if found := holding(t, f.dir, word); strings.Join(found, " ") != want {
			t.Errorf("%s is found in %q, want %q", word, found, want)
		}
	}
}

// TestSealedUnitsStayInPlace: a page of another place or file, a changed byte, and a header that is not its own are
// errors, and nothing is opened without the key.
func TestSealedUnitsStayInPlace(t *testing.T) {
	if !isSealedRun() {
		t.Skip("on sealed files only")
	}
	f, other := newFixture(t), newFixture(t)
	for _, x := range []*fixture{f, other} {
		_, b := x.session("s")
		x.full(b.ID, "question", "answer")
		x.checkpoint()
		x.ok(x.Store.Close())
	}
	original, err := os.ReadFile(f.core.Path())
	f.ok(err)
	recoded := filepath.Join(t.TempDir(), "other.db") // a fixture's file begins as a copy of the same template
	f.ok(sqlite.Recode(other.core.Path(), recoded))
	foreign, err := os.ReadFile(recoded)
	f.ok(err)
	const unit = 8192 + seal.Overhead
	page := func(b []byte, n int) []byte { return b[seal.HeaderSize+n*unit:][:unit] }
	for name, change := range map[string]func([]byte){
		"pages exchanged":     func(b []byte) { copy(page(b, 1), page(original, 2)); copy(page(b, 2), page(original, 1)) },
		"page of another":     func(b []byte) { copy(page(b, 0), page(foreign, 0)) },
		"header of another":   func(b []byte) { copy(b, foreign[:seal.HeaderSize]) },
		"byte of a page":      func(b []byte) { page(b, 0)[100] ^= 1 },
		"byte of a nonce":     func(b []byte) { page(b, 1)[3] ^= 1 },
		"byte of the header":  func(b []byte) { b[60] ^= 1 },
		"byte of the padding": func(b []byte) { b[3000] ^= 1 },
	} {
		changed := bytes.Clone(original)
		change(changed)
		f.ok(os.WriteFile(f.core.Path(), changed, 0o600))
		s, err := Open(f.ctx, Options{DataDir: f.dir})
		if err == nil {
			found, verr := s.Verify(f.ctx)
			if verr == nil && len(found) == 0 {
				t.Errorf("%s: nothing is found", name)
			}
			f.ok(s.Close())
		} else if code := chat.CodeOf(err); code != chat.CodeCorrupt && code != chat.CodeSealed {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(f.core.Path()); err != nil || !bytes.Equal(now, changed) {
			t.Errorf("%s: the file was changed, %v", name, err)
		}
	}
}

// TestSealedWithoutItsKey: data that is sealed with a key that this program does not know is not damaged, and is left as
// it is, its log too. A backup says the same.
func TestSealedWithoutItsKey(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "question", "answer")
	dir := f.killed()
	stranger := seal.NewKey()
	h := seal.NewHeader(seal.Lock{Version: 1, Key: stranger.ID()}, 8192)
	path := filepath.Join(dir, sqlite.DatabaseFile)
	data, err := os.ReadFile(path)
	f.ok(err)
	f.ok(os.WriteFile(path, append(h.Bytes(stranger), data...), 0o600))
	log, err := os.ReadFile(path + "-wal")
	f.ok(err)
	for _, readOnly := range []bool{true, false} {
		_, err := Open(f.ctx, Options{DataDir: dir, ReadOnly: readOnly})
		f.refused(err, chat.CodeSealed)
	}
	f.ok(f.Store.Close())
	_, err = NewArchive(ArchiveOptions{DataDir: f.dir}).Restore(f.ctx, path, func(chat.Restoration) error { return nil })
	f.refused(err, chat.CodeSealed)
	if now, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(now, log) {
		t.Errorf("the log was changed: %v", err)
	}
}

// TestSealedBackupsTravel: a backup is restored as the data is: a plain one is sealed, and a sealed one is sealed with the
// current key.
func TestSealedBackupsTravel(t *testing.T) {
	if !isSealedRun() {
		t.Skip("on sealed files only")
	}
	const canary = "canarywordoftest"
	f := newFixture(t)
	_, b := f.session(canary)
	f.full(b.ID, "What is "+canary+"?", "It is "+canary+".")
	f.checkpoint()
	f.ok(f.Store.Close())
	elsewhere := filepath.Join(t.TempDir(), "copy.db")
	defer useTestKey()
	for _, sealed := range []bool{false, true} {
		if seal.UseNone(); sealed {
			k := seal.NewKey()
			seal.Use(seal.Lock{Version: 1, Key: k.ID()}, k)
		}
		_ = os.Remove(elsewhere)
		f.ok(sqlite.Recode(f.core.Path(), elsewhere))
		if found := holding(t, filepath.Dir(elsewhere), canary); (len(found) == 0) != sealed {
			t.Errorf("sealed %v: the copy shows %q", sealed, found)
		}
		useTestKey()
		a := NewArchive(ArchiveOptions{DataDir: f.dir})
		got, err := a.Restore(f.ctx, elsewhere, func(chat.Restoration) error { return nil })
		f.ok(err)
		if found := holding(t, f.dir, canary); len(found) > 0 || !got.Done || got.Problems != 0 || !sqlite.AsNew(f.core.Path()) {
			t.Errorf("sealed %v: found in %q, %+v", sealed, found, got)
		}
	}
	f.open()
	if found, err := f.Verify(f.ctx); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}
