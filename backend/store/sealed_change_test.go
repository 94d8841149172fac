package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/test/testtier"
)

// change is what Reseal is asked for.
type change struct {
	name     string
	from, to seal.Key
	lock     seal.Lock
	plain    bool // to
	wasPlain bool
}

func (c change) use() {
	if c.plain {
		seal.UseNone()
		return
	}
	seal.Use(c.lock, c.to)
}

func noKeyring(string) (seal.Key, bool) { return seal.Key{}, false }

var errKilled = errors.New("killed")

// reseal runs a change that ends at a step; -1: it is not killed. It returns the number of steps.
func (f *fixture) reseal(c change, kill int) (steps int, err error) {
	f.Helper()
	a := NewArchive(ArchiveOptions{DataDir: f.dir})
	a.At = func(string) {
		if steps == kill {
			panic(errKilled)
		}
		steps++
	}
	defer func() {
		if p := recover(); p != nil {
			err = errKilled
		}
	}()
	c.use()
	_, err = a.Reseal(f.ctx)
	return steps, err
}

// TestSealedChangesAreKilled: sealing, renewing the key and unsealing are killed at every step (in the
// everyday form at every third). Afterwards the data opens,
// complete, with the key that its lock names; and once the change was completed, nothing has the old form.
func TestSealedChangesAreKilled(t *testing.T) {
	if !isSealedRun() {
		t.Skip("in a process of its own only")
	}
	defer useTestKey()
	const canary = "canarywordoftest"
	k1, k2 := seal.NewKey(), seal.NewKey()
	lock := func(k seal.Key) seal.Lock { return seal.Lock{Version: 1, Key: k.ID()} }
	for _, c := range []change{
		{name: "encrypt", to: k1, lock: lock(k1), wasPlain: true},
		{name: "rotate", from: k1, to: k2, lock: lock(k2)},
		{name: "decrypt", from: k1, plain: true},
	} {
		for kill := 0; ; kill += testtier.Size(3, 1) {
			f := f0(t)
			if !c.wasPlain {
				begin := change{to: k1, lock: lock(k1), wasPlain: true}
				if _, err := f.reseal(begin, -1); err != nil {
					t.Fatal(err)
				}
			}
			_, err := f.reseal(c, kill)
			if err == nil {
				if kill < 5 {
					t.Errorf("%s: only %d steps", c.name, kill)
				}
				f.checkResealed(c, canary)
				break
			}
			if !errors.Is(err, errKilled) {
				t.Fatalf("%s killed at %d: %v", c.name, kill, err)
			}
			name := fmt.Sprintf("%s killed at %d", c.name, kill)
			// The next start: it completes a swap that was decided.
			seal.UseNone()
			f.ok(Unlock(f.dir, noKeyring))
			f.open()
			if found, err := f.Verify(f.ctx); err != nil || len(found) > 0 {
				t.Fatalf("%s: %v %v", name, found, err)
			}
			if st, err := f.Stats(f.ctx); err != nil || st.Turns != 1 {
				t.Fatalf("%s: %+v %v", name, st, err)
			}
			f.ok(f.Store.Close())
			if a := NewArchive(ArchiveOptions{DataDir: f.dir}); c.wantsMore(t, a) {
				if _, err := f.reseal(c, -1); err != nil {
					t.Fatalf("%s, again: %v", name, err)
				}
			}
			f.checkResealed(c, canary)
		}
	}
}

// wantsMore reports whether the change had not been decided when it was killed.
func (c change) wantsMore(t *testing.T, a *Archive) bool {
	t.Helper()
	l, _, err := a.Lock()
	if chat.CodeOf(err) == chat.CodeNotFound {
		return !c.plain
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.plain || l.Key != c.lock.Key
}

// f0 returns a closed plain store with a conversation, a backup and the journal of a running answer.
func f0(t *testing.T) *fixture {
	t.Helper()
	useTestKey() // the fixture's template is sealed in this process
	f := newFixture(t)
	f.checkpoint()
	f.ok(f.Store.Close())
	seal.UseNone()
	plain := filepath.Join(t.TempDir(), "plain.db")
	f.ok(sqlite.Recode(f.core.Path(), plain))
	f.ok(os.Rename(plain, f.core.Path()))
	f.open()
	_, b := f.session("canarywordoftest")
	f.full(b.ID, "What is canarywordoftest?", "It is canarywordoftest.")
	dir := filepath.Join(f.dir, sqlite.BackupDir)
	f.ok(sqlite.MakeDir(dir))
	f.backup(filepath.Join(dir, "one.db"))
	f.backup(filepath.Join(dir, "two.db"))
	f.journal("01ARZ3NDEKTSV4RRFFQ69G5FAV", `{"ts":"canarywordoftest"}`)
	f.ok(f.Store.Close())
	return f
}

// checkResealed checks that every file has the new form, and that the journal is still there.
func (f *fixture) checkResealed(c change, canary string) {
	f.Helper()
	found := holding(f.TB.(*testing.T), f.dir, canary)
	if want := map[bool]int{false: 0, true: 4}[c.plain]; len(found) != want {
		f.Errorf("%s: found in %q", c.name, found)
	}
	c.use()
	for _, name := range []string{sqlite.DatabaseFile, "backups/one.db", "backups/two.db"} {
		if !sqlite.AsNew(filepath.Join(f.dir, name)) {
			f.Errorf("%s: %s has the old form", c.name, name)
		}
	}
	text, err := os.ReadFile(filepath.Join(f.dir, sqlite.StreamDir, "01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl"))
	f.ok(err)
	text, err = journal.Plain("01ARZ3NDEKTSV4RRFFQ69G5FAV.jsonl", text)
	if err != nil || !strings.Contains(string(text), canary) {
		f.Errorf("%s: the journal is %q, %v", c.name, text, err)
	}
	entries, err := os.ReadDir(f.dir)
	f.ok(err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".restoring") || e.Name() == "replaced" || e.Name() == "restore.json" {
			f.Errorf("%s: %s is left", c.name, e.Name())
		}
	}
}
