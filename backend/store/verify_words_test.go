package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
	"contextinfinity/test/testtier"
)

// TestEveryFlipInTheTextIndexIsFound flips the bits of the text index's blocks, one at a time. Each flip that changes
// which words SQLite reads, in which unit and at which place, is found, also those that SQLite's own check misses.
func TestEveryFlipInTheTextIndexIsFound(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("flips")
	random := rand.New(rand.NewPCG(3, 5))
	letters := strings.Split("bcdefghjklmnopqrstuvwxyz", "")
	for range 10 {
		random.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
		f.full(b.ID, strings.Join(letters, " "), "noted")
	}
	f.verifyClean()
	f.ok(f.core.DB.Writer.Exec(`PRAGMA synchronous = OFF`).Error)
	blocks, err := sqlite.All[struct {
		ID    int64
		Block []byte
	}](f.core.DB.Writer, `SELECT id, block FROM units_fts_data ORDER BY id`)
	f.ok(err)
	original := f.indexed()
	every, changed, missed := testtier.Sizes(41, 11, 1), 0, 0 // in `make crash`, every bit
	for _, row := range blocks {
		put := func(block []byte) {
			f.ok(f.core.DB.Writer.Exec(`UPDATE units_fts_data SET block = ? WHERE id = ?`, block, row.ID).Error)
		}
		for at := every / 2; at < len(row.Block)*8; at += every {
			flipped := slices.Clone(row.Block)
			flipped[at/8] ^= 1 << (at % 8)
			if put(flipped); f.indexed() == original {
				continue
			}
			changed++
			// The writer's connection caches blocks 1 and 10, so that its check accepts any change of them.
			if row.ID > 10 && f.core.DB.Writer.Exec(`INSERT INTO units_fts (units_fts, rank) VALUES ('integrity-check', 1)`).Error == nil {
				missed++
			}
			a := verify.NewAudit()
			if agrees, err := verify.CompareIndex(f.ctx, f.core, a); err == nil && (agrees || len(a.Found) == 0) {
				t.Errorf("bit %d of block %d is not found", at, row.ID)
			}
		}
		put(row.Block)
	}
	t.Logf("%d flips change what is read; SQLite's own check accepts %d of them", changed, missed)
	if missed == 0 && testtier.Crash() {
		t.Error("SQLite's own check accepts no flip, so this test proves nothing")
	}
	f.verifyClean()
}

// indexed returns every word of the text index with its units and places, or why they cannot be read, on a new
// connection: one that read before caches the structure of the index.
func (f *fixture) indexed() string {
	f.Helper()
	db, err := sqlite.Connect(f.core.Path(), sqlite.CommonPragmas, 1)
	f.ok(err)
	defer func() { f.ok(sqlite.Disconnect(db)) }()
	f.ok(db.Exec(`CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, units_fts, 'instance')`).Error)
	read, err := sqlite.All[string](db, `SELECT group_concat(hex(term) || doc || coalesce(col, 'none') || "offset") FROM temp.places`)
	return strings.Join(read, "") + fmt.Sprint(err)
}

// TestWordsAreComparedInParts: a text index of more units than are compared at a time agrees with them.
func TestWordsAreComparedInParts(t *testing.T) {
	f := newFixture(t)
	_, branch := f.session("parts")
	f.bulk(branch, 2100)
	f.bulkUnits(branch, 2100)
	a := verify.NewAudit()
	if agrees, err := verify.CompareIndex(f.ctx, f.core, a); err != nil || !agrees || len(a.Found) > 0 {
		t.Fatalf("agrees %v, %v, %v", agrees, err, a.Found)
	}
	f.ok(f.core.DB.Writer.Exec(`INSERT INTO units_fts (units_fts, rowid, indexed_text) SELECT 'delete', n, indexed_text FROM unit_index WHERE n = 4100`).Error)
	f.ok(f.core.DB.Writer.Exec(`INSERT INTO units_fts (rowid, indexed_text) SELECT n, replace(indexed_text, 'every', 'other') FROM unit_index WHERE n = 4100`).Error)
	if agrees, err := verify.CompareIndex(f.ctx, f.core, a); err != nil || agrees || len(a.Found) != 1 {
		t.Errorf("agrees %v, %v, %v", agrees, err, a.Found)
	}
}

// TestReadersCompareTheWordsWithoutACopy: a read-only verify that cannot make a temporary copy for SQLite's own check
// still compares the words.
func TestReadersCompareTheWordsWithoutACopy(t *testing.T) {
	f := newFixture(t)
	seed(f)
	f.ok(f.Store.Close())
	missing := filepath.Join(t.TempDir(), "missing")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, missing)
	}
	compare := func() (findings int) {
		s, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
		f.ok(err)
		defer func() { f.ok(s.Close()) }()
		a := verify.NewAudit()
		agrees, err := verify.CompareIndex(f.ctx, s.core, a)
		if f.ok(err); agrees {
			t.Error("the index agrees, although SQLite's own check could not run")
		}
		return len(a.Found)
	}
	if n := compare(); n != 0 {
		t.Errorf("%d findings in an intact index", n)
	}
	db, err := sqlite.Connect(f.core.Path(), sqlite.CommonPragmas, 1)
	f.ok(err)
	f.ok(db.Exec(`INSERT INTO units_fts (rowid, indexed_text) VALUES ((SELECT min(n) FROM units), 'another')`).Error)
	f.ok(sqlite.Disconnect(db))
	if n := compare(); n != 1 {
		t.Errorf("%d findings in an index with an extra word", n)
	}
}

// TestACancelledCheckDoesNotAffectTheNext: a check that was cancelled in the middle leaves its temporary table on the
// connection that the next one uses.
func TestACancelledCheckDoesNotAffectTheNext(t *testing.T) {
	f := newFixture(t)
	seed(f)
	f.ok(f.core.DB.Writer.Exec(`CREATE VIRTUAL TABLE temp.index_words USING fts5vocab(main, units_fts, 'row')`).Error)
	f.verifyClean()
}
