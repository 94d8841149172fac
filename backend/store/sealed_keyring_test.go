package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/sqlite"
)

// testKeyring is the keyring of a data directory. It reports calls of whoever does not hold the writer's lock.
type testKeyring struct {
	f       *fixture
	keys    []string
	calls   int
	refuses string // to forget this key
}

func (r *testKeyring) called() {
	r.calls++
	lock, err := sqlite.LockWriter(r.f.dir, "")
	if chat.CodeOf(err) != chat.CodeLocked {
		r.f.Errorf("the keyring is changed without the writer's lock: %v", errors.Join(err, lock.Release()))
	}
}

func (r *testKeyring) KeepDataKey(k seal.Key) error {
	r.called()
	r.keys = append(r.keys, k.ID())
	return nil
}

func (r *testKeyring) ForgetDataKey(id string) error {
	if r.called(); id == r.refuses {
		return errors.New("it refuses")
	}
	r.keys = slices.DeleteFunc(r.keys, func(k string) bool { return k == id })
	return nil
}

func (r *testKeyring) archive(dir string) *Archive {
	return NewArchive(ArchiveOptions{DataDir: dir, Keyring: r})
}

func (r *testKeyring) expect(when string, keys ...seal.Key) {
	r.f.Helper()
	var want []string
	for _, k := range keys {
		want = append(want, k.ID())
	}
	if !slices.Equal(r.keys, want) {
		r.f.Errorf("%s: the keyring has %q, want %q", when, r.keys, want)
	}
}

func useSignIn(k seal.Key) { seal.Use(seal.Lock{Version: 1, Key: k.ID()}, k) }

// TestSealedKeyring: keys are noted, kept and forgotten only under the writer's lock, and who does not get it changes nothing; a
// copy of the data directory takes no key away; only the key of the data is missed after a new passphrase.
func TestSealedKeyring(t *testing.T) {
	if !isSealedRun() {
		t.Skip("in a process of its own only")
	}
	defer useTestKey()
	f := f0(t)
	ring := &testKeyring{f: f}
	a := ring.archive(f.dir)
	k1, k2 := seal.NewKey(), seal.NewKey()
	useSignIn(k1)
	_, err := a.Reseal(f.ctx)
	f.ok(err)
	ring.expect("sealed", k1)

	f.open()
	before := ring.calls
	useSignIn(k2)
	_, err = a.Reseal(f.ctx)
	f.refused(err, chat.CodeLocked)
	f.refused(a.SetPassphrase("word"), chat.CodeLocked)
	_, err = a.SealLeft(f.ctx)
	f.refused(err, chat.CodeLocked)
	if ring.calls != before || f.notes(k2.ID()) {
		t.Errorf("who did not get the lock called the keyring %d times", ring.calls-before)
	}
	f.ok(f.Store.Close())

	a.At = func(step string) {
		if strings.HasPrefix(step, "away "+sqlite.DatabaseFile) {
			panic(errKilled)
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = a.Reseal(f.ctx)
	}()
	if _, err := os.Lstat(f.core.Path()); err == nil {
		t.Fatal("the exchange was not interrupted")
	}
	k3 := seal.NewKey()
	useSignIn(k3)
	a = ring.archive(f.dir)
	_, err = a.Reseal(f.ctx)
	f.ok(err)
	ring.expect("renewed, after an interrupted one", k3)

	ring.refuses = k3.ID()
	f.refused(a.SetPassphrase("word"), chat.CodeUnavailable)
	if !f.notes(k3.ID()) {
		t.Fatal("the key is not noted")
	}
	elsewhere := filepath.Join(t.TempDir(), "copy")
	f.ok(os.CopyFS(elsewhere, os.DirFS(f.dir)))
	ring.refuses = ""
	c, err := Open(f.ctx, Options{DataDir: elsewhere, Keyring: ring})
	f.ok(err)
	before = ring.calls
	f.ok(c.TidyKeyring())
	if _, err := os.Lstat(filepath.Join(elsewhere, "keyring.json")); err == nil || ring.calls != before {
		t.Error("a copy removes the key of the original")
	}
	f.ok(c.Close())

	f.ok(a.SetPassphrase("")) // the key is noted again
	ring.refuses = k1.ID()
	f.note(k1.ID())
	f.ok(a.SetPassphrase("word"))
	ring.refuses = ""
	f.open()
	f.ok(f.Store.Close())
	f.ok(a.SetPassphrase("word"))
	ring.expect("with a passphrase")
}

func (f *fixture) notes(id string) bool {
	text, _ := os.ReadFile(filepath.Join(f.dir, "keyring.json"))
	return strings.Contains(string(text), id)
}

func (f *fixture) note(id string) {
	f.Helper()
	text := fmt.Appendf(nil, `{"dir":%q,"keys":[%q]}`, sqlite.Resolved(f.dir), id)
	f.ok(os.WriteFile(filepath.Join(f.dir, "keyring.json"), text, 0o600))
}

// TestSealedLeft: what is plain or has an earlier key is named, wherever it is in the data directory, and converted while the data is
// open. A code that is replaced meanwhile stays in force; a copy that is removed meanwhile does not come back.
func TestSealedLeft(t *testing.T) {
	if !isSealedRun() {
		t.Skip("in a process of its own only")
	}
	defer useTestKey()
	f := f0(t)
	backups := filepath.Join(f.dir, sqlite.BackupDir)
	quarantined := filepath.Join(f.dir, "replaced", "20200102-030405", sqlite.DatabaseFile)
	f.ok(sqlite.MakeDir(filepath.Dir(quarantined)))
	f.ok(os.Rename(filepath.Join(backups, "one.db"), quarantined+".kept"))
	k1, k2 := seal.NewKey(), seal.NewKey()
	useSignIn(k1)
	a := NewArchive(ArchiveOptions{DataDir: f.dir})
	_, err := a.Reseal(f.ctx)
	f.ok(err)
	old := filepath.Join(backups, "two.db")
	f.ok(os.Rename(old, old+".kept"))
	useSignIn(k2)
	_, err = a.Reseal(f.ctx)
	f.ok(err)
	f.ok(os.Rename(old+".kept", old))
	f.ok(os.Rename(quarantined+".kept", quarantined))
	removed := filepath.Join(backups, "removed.db")
	text, err := os.ReadFile(old)
	f.ok(err)
	f.ok(os.WriteFile(removed, text, 0o600))
	f.ok(os.WriteFile(filepath.Join(backups, "reserved.db"), nil, 0o600))
	left, err := a.LeftCopies()
	if want := []string{removed, old, quarantined}; err != nil || !slices.Equal(left, want) {
		t.Fatalf("%q are named, want %q: %v", left, want, err)
	}

	f.open()
	code := seal.NewCode()
	f.Store.backupPart.Archive.At = func(step string) {
		if step != "copy ready" || code == "" {
			return
		}
		f.ok(f.SetCode(code))
		f.ok(os.Remove(removed)) // it is the first
		code = ""
	}
	given := code
	done, err := f.SealLeft(f.ctx)
	if err != nil || done.Backups != 2 || len(done.Left) > 0 || code != "" {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := os.Lstat(removed); err == nil {
		t.Error("a removed backup is there again")
	}
	if l, _, err := a.SealedWith(); err != nil || !l.OpensCode(given) {
		t.Errorf("the new code does not open the data: %v", err)
	}
	if left, err := a.LeftCopies(); err != nil || len(left) > 0 {
		t.Errorf("%q are left: %v", left, err)
	}
}
