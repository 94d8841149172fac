package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// cachedFixture returns a store with a vector cache in blocks of four rows.
func cachedFixture(t *testing.T, turns int) (*fixture, chat.Branch, chat.Namespace) {
	t.Helper()
	plainOnly(t) // a sealed one is not written
	was := search.CachedRows
	search.CachedRows = 4
	t.Cleanup(func() { search.CachedRows = was })
	f := newFixture(t)
	_, b := f.session("cached")
	f.sayMore(b, turns)
	ns := f.fill(embedder, 100)
	f.ok(f.SaveVectors(f.ctx))
	return f, b, ns
}

// sayMore adds turns of two units each.
func (f *fixture) sayMore(b chat.Branch, turns int) {
	f.Helper()
	for i := range turns {
		f.full(b.ID, fmt.Sprintf("question %d of %s", i, b.ID), fmt.Sprintf("answer %d of %s at %v", i, b.ID, f.clock.Now()))
	}
}

// cached returns the rows that CachedVectors yields.
func (f *fixture) cached(ns int64) (out []chat.VectorRow, err error) {
	f.Helper()
	dimension := embedder.Dimension
	err = f.CachedVectors(f.ctx, ns, f.generation(), func(b chat.VectorBlock) error {
		for i, n := range b.N {
			p := b.Places[b.Place[i]]
			r := chat.VectorRow{N: n, Session: p.Session, Branch: p.Branch, Seq: b.Seq[i]}
			for _, c := range b.Codes[i*dimension : (i+1)*dimension] {
				r.Codes = append(r.Codes, int8(c))
			}
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

// expectCached expects the cache to yield the first count rows.
func (f *fixture) expectCached(ns int64, count int) {
	f.Helper()
	got, err := f.cached(ns)
	f.ok(err)
	if want := f.rows(ns, "", 0)[:count]; len(got) != count || count > 0 && !reflect.DeepEqual(got, want) {
		f.Fatalf("the cache yields\n%v\nwant\n%v", got, want)
	}
}

func (f *fixture) cacheFile() string { return filepath.Join(f.dir, search.VectorCacheFile) }

func TestTheVectorCacheContainsCompleteBlocks(t *testing.T) {
	f, b, ns := cachedFixture(t, 7) // 14 rows
	f.expectCached(ns.ID, 12)
	info, err := os.Stat(f.cacheFile())
	f.ok(err)
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
	f.ok(f.SaveVectors(f.ctx))
	if now, _ := os.Stat(f.cacheFile()); now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		t.Error("nothing was missing, but it was written")
	}
	f.reopen() // it continues where an earlier process stopped
	f.sayMore(b, 3)
	f.fill(embedder, 100)
	f.ok(f.SaveVectors(f.ctx))
	f.expectCached(ns.ID, 20)
	f.verifyClean()
}

func TestAFewVectorsAreNotCached(t *testing.T) {
	f, _, ns := cachedFixture(t, 1)
	f.expectCached(ns.ID, 0)
	if sqlite.Exists(f.dir, search.VectorCacheFile) {
		t.Error("a cache without a block")
	}
}

// TestADeletedVectorInvalidatesTheCache: a cache that may contain it is no longer read.
func TestADeletedVectorInvalidatesTheCache(t *testing.T) {
	f, _, ns := cachedFixture(t, 8)
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM unit_embeddings WHERE unit_n = 2`).Error)
	f.expectCached(ns.ID, 0)
	f.ok(f.SaveVectors(f.ctx))
	f.expectCached(ns.ID, 12) // of 15 rows
}

func TestDeletionRemovesTheVectorCache(t *testing.T) {
	for _, kind := range []string{chat.DeletionTurn, chat.DeletionSession} {
		t.Run(kind, func(t *testing.T) {
			f, b, ns := cachedFixture(t, 8)
			open, err := os.Open(f.cacheFile()) // a search that is reading the cache
			f.ok(err)
			defer open.Close()
			id := string(b.SessionID)
			if kind == chat.DeletionTurn {
				turns, err := sqlite.All[string](f.core.DB.Reader, `SELECT id FROM turns ORDER BY n LIMIT 1`)
				f.ok(err)
				id = turns[0]
			}
			_, err = f.Delete(f.ctx, kind, id)
			f.ok(err)
			if info, err := open.Stat(); err != nil || info.Size() > 0 || sqlite.Exists(f.dir, search.VectorCacheFile) {
				t.Errorf("the cache is still there, %v, %v", info.Size(), err)
			}
			f.ok(f.SaveVectors(f.ctx))
			f.expectCached(ns.ID, len(f.rows(ns.ID, "", 0))/4*4)
		})
	}
}

// TestAKilledDeletionRemovesTheVectorCache: the receipt records what is still to be done.
func TestAKilledDeletionRemovesTheVectorCache(t *testing.T) {
	f, b, _ := cachedFixture(t, 8)
	kept, err := os.ReadFile(f.cacheFile())
	f.ok(err)
	_, err = f.Delete(f.ctx, chat.DeletionSession, string(b.SessionID))
	f.ok(err)
	f.ok(f.core.DB.Writer.Exec(`UPDATE receipts SET counts_json = json_set(counts_json, '$.pending', json('{}'))`).Error)
	f.ok(f.Store.Close())
	f.ok(os.WriteFile(f.cacheFile(), kept, 0o600))
	f.open()
	if sqlite.Exists(f.dir, search.VectorCacheFile) {
		t.Error("the next start left it")
	}
}

// TestACacheOfAnotherDatabaseIsNotRead: the database was replaced by an earlier one, to which other turns were then
// added.
func TestACacheOfAnotherDatabaseIsNotRead(t *testing.T) {
	f, b, ns := cachedFixture(t, 2)
	f.ok(f.Store.Close())
	earlier, err := os.ReadFile(filepath.Join(f.dir, sqlite.DatabaseFile))
	f.ok(err)
	f.open()
	f.sayMore(b, 6)
	f.fill(embedder, 100)
	f.ok(f.SaveVectors(f.ctx))
	f.expectCached(ns.ID, 16)
	f.ok(f.Store.Close())
	cache, err := os.ReadFile(f.cacheFile())
	f.ok(err)
	f.ok(os.WriteFile(filepath.Join(f.dir, sqlite.DatabaseFile), earlier, 0o600))
	for _, turns := range []int{0, 6} { // fewer rows than the cache has, and as many
		f.open()
		if sqlite.Exists(f.dir, search.VectorCacheFile) {
			t.Error("the writer left it there")
		}
		f.sayMore(b, turns)
		f.fill(embedder, 100)
		f.ok(f.Store.Close())
		f.ok(os.WriteFile(f.cacheFile(), cache, 0o600))
		if err := f.readOnly(func() error { _, err := f.cached(ns.ID); return err }); !errors.Is(err, search.ErrStaleCache) {
			t.Errorf("%d turns more: error %v", turns, err)
		}
	}
	f.open()
	f.verifyClean()
}

// readOnly runs do with the store opened read-only.
func (f *fixture) readOnly(do func() error) error {
	f.Helper()
	s, err := Open(f.ctx, Options{DataDir: f.dir, Clock: f.clock.Now, ReadOnly: true})
	f.ok(err)
	was := f.Store
	f.Store = s
	err = do()
	f.ok(s.Close())
	f.Store = was
	return err
}

// TestADamagedCacheYieldsNoWrongVectors: reading ends at a flipped byte, wherever it is.
func TestADamagedCacheYieldsNoWrongVectors(t *testing.T) {
	f, _, ns := cachedFixture(t, 6)
	rows := f.rows(ns.ID, "", 0)
	original, err := os.ReadFile(f.cacheFile())
	f.ok(err)
	step := 1
	if testing.Short() {
		step = 17
	}
	for at := 0; at < len(original); at += step {
		damaged := append([]byte{}, original...)
		damaged[at] ^= 0x10
		f.ok(os.WriteFile(f.cacheFile(), damaged, 0o600))
		got, err := f.cached(ns.ID)
		f.ok(err)
		if len(got) >= len(rows) || len(got) > 0 && !reflect.DeepEqual(got, rows[:len(got)]) {
			t.Fatalf("byte %d: %d rows", at, len(got))
		}
	}
	for cut := range original {
		f.ok(os.WriteFile(f.cacheFile(), original[:cut], 0o600))
		if got, err := f.cached(ns.ID); err != nil || len(got)%4 != 0 || len(got) == len(rows) {
			t.Fatalf("cut at %d: %d rows, %v", cut, len(got), err)
		}
	}
	f.verifyClean()
	f.reopen()
	f.ok(f.SaveVectors(f.ctx)) // what was cut off is written again
	f.expectCached(ns.ID, 12)
}

// TestVerifyComparesTheVectorCache: verify reports a valid cache with different vectors.
func TestVerifyComparesTheVectorCache(t *testing.T) {
	f, _, ns := cachedFixture(t, 8)
	rows := f.rows(ns.ID, "", 0)[:4]
	rows[1].Codes[0]++
	block, err := codec.AppendVectorBlock(nil, codec.NewVectorBlock(rows))
	f.ok(err)
	original, err := os.ReadFile(f.cacheFile())
	f.ok(err)
	f.ok(os.WriteFile(f.cacheFile(), append(append(append([]byte{}, original[:search.CacheHead]...), search.Sealed(block)...), original[search.CacheHead+search.CacheBlockHead+len(block):]...), 0o600))
	found, err := f.Verify(f.ctx)
	f.ok(err)
	if len(found) != 1 || found[0].Table != search.VectorCacheFile || found[0].ID != "2" {
		t.Errorf("findings %v", found)
	}
}

func TestTheVectorCacheIsNotWrittenThroughALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights on Windows")
	}
	f, _, _ := cachedFixture(t, 1)
	elsewhere := filepath.Join(t.TempDir(), "precious")
	f.ok(os.WriteFile(elsewhere, []byte("precious"), 0o600))
	f.ok(os.Symlink(elsewhere, f.cacheFile()))
	_, b := f.session("more")
	f.sayMore(b, 6)
	f.fill(embedder, 100)
	f.ok(f.SaveVectors(f.ctx))
	f.ok(search.DeleteVectorCache(f.searchPart))
	if text, err := os.ReadFile(elsewhere); err != nil || string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(f.cacheFile()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
