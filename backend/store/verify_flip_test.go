package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
	"contextinfinity/test/testtier"
)

// TestAFlippedBitOfTheFileIsFound flips random bits of the database file. Each is found by verify as the command line
// runCall it, or changes nothing that can be read.
func TestAFlippedBitOfTheFileIsFound(t *testing.T) {
	f := newFixture(t)
	d := seed(f)
	f.everyTable(d)
	f.ok(f.Store.Close())
	original, err := os.ReadFile(f.core.Path())
	f.ok(err)
	want := f.contents(f.core.Path())
	random := rand.New(rand.NewPCG(13, 4711))
	found, unused := 0, 0
	for i := range testtier.Sizes(8, 40, 2000) {
		at, bit := random.IntN(len(original)), byte(1)<<random.IntN(8)
		for i%2 == 0 && original[at] == 0 { // most of the file is not used yet
			at = random.IntN(len(original))
		}
		switch missed := f.flip(original, want, at, bit); {
		case missed == nil:
			found++
		case len(missed) == 0 || slices.Equal(missed, []string{"sqlite_sequence"}):
			unused++
		default:
			t.Errorf("bit %#x of byte %d changes %s, and is not found", bit, at, missed)
		}
	}
	t.Logf("%d found, %d in unused bytes", found, unused)
	if found == 0 {
		t.Error("nothing was found at all")
	}
}

// findsDamage reports whether the data cannot be opened or verify finds problems.
func (f *fixture) findsDamage(dir string) bool {
	f.Helper()
	s, err := Open(f.ctx, Options{DataDir: dir, ReadOnly: true})
	if err != nil {
		return true
	}
	defer func() { f.ok(s.Close()) }()
	problems, err := s.Verify(f.ctx)
	return err != nil || len(problems) > 0
}

// contents returns everything that can be read from a database, by table.
func (f *fixture) contents(path string) map[string]string {
	f.Helper()
	db, err := sqlite.ConnectAt(sqlite.Place{Path: path, Frozen: true}, sqlite.CommonPragmas, 1)
	f.ok(err)
	defer func() { f.ok(sqlite.Disconnect(db)) }()
	out := map[string]string{"sqlite_schema": f.rowsOf(db, "sqlite_schema")}
	out["ledgers and records"] = f.decodedIn(filepath.Dir(path))
	f.ok(db.Exec(`CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, units_fts, 'instance')`).Error)
	words, err := sqlite.All[string](db, `SELECT term || '/' || doc || '/' || col || '/' || "offset" FROM temp.words`)
	out["content of the text index"] = strings.Join(words, "\n") + fmt.Sprint(err)
	found, err := sqlite.All[string](db, `SELECT term || '/' || (SELECT count(*) FROM units_fts WHERE units_fts MATCH '"' || replace(term, '"', '""') || '"')
		FROM (SELECT DISTINCT term FROM temp.words)`)
	out["units that each word finds"] = strings.Join(found, "\n") + fmt.Sprint(err)
	tables, err := sqlite.All[string](db, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') ORDER BY name`)
	f.ok(err)
	for _, table := range tables {
		if !slices.Contains(comparedDecoded, table) {
			out[table] = f.rowsOf(db, table)
		}
	}
	return out
}

// comparedDecoded are tables in which a few bits have no meaning: those with packed values, and the text index, where
// any term between two leaves leads to the right one. For these, the decoded content is compared.
var comparedDecoded = []string{"events", "snapshots", "turns", "steps", "states", "units_fts_data", "units_fts_idx"}

// decodedIn returns the content of the ledgers and records of a data directory.
func (f *fixture) decodedIn(dir string) string {
	f.Helper()
	s, err := Open(f.ctx, Options{DataDir: dir, ReadOnly: true})
	f.ok(err)
	defer func() { f.ok(s.Close()) }()
	sessions, err := sqlite.All[string](s.core.DB.Reader, `SELECT id FROM sessions ORDER BY id`)
	f.ok(err)
	_, state := f.replayedStates(s.core.DB.Reader, sessions)
	return string(state)
}

// rowsOf returns every value of a table, and the error if it cannot be read.
func (f *fixture) rowsOf(db *gorm.DB, table string) string {
	// The indexed form of chunks of an older version is not compared: what words find is.
	columns, err := sqlite.All[string](db, `SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0 AND NOT (?1 = 'units' AND name = 'pairs')`, table)
	if err != nil || len(columns) == 0 {
		return fmt.Sprint(err)
	}
	for i, c := range columns {
		columns[i] = `quote("` + c + `")`
	}
	rows, err := sqlite.All[string](db, `SELECT `+strings.Join(columns, ` || ',' || `)+` FROM "`+table+`"`)
	return strings.Join(rows, "\n") + fmt.Sprint(err)
}

func differing(want, got map[string]string) []string {
	var out []string
	for table, rows := range want {
		if got[table] != rows {
			out = append(out, table)
		}
	}
	slices.Sort(out)
	return out
}

// TestVerifyDoesNotChangeTheLog: a read-only verify changes no byte, including the write-ahead log of a killed
// program, and still compares the text index.
func TestVerifyDoesNotChangeTheLog(t *testing.T) {
	f := newFixture(t)
	seed(f)
	dir := f.killed()
	if sqlite.SizeOf(filepath.Join(dir, sqlite.DatabaseFile+"-wal")) == 0 {
		t.Fatal("there is no log")
	}
	before := contents(t, dir)
	if f.findsDamage(dir) {
		t.Error("valid data has problems")
	}
	if !maps.Equal(contents(t, dir), before) {
		t.Error("the files changed")
	}
}

// TestReadersCompareTheTextIndex: a read-only verify finds a word that is missing from the index.
func TestReadersCompareTheTextIndex(t *testing.T) {
	f := newFixture(t)
	seed(f)
	f.ok(f.core.DB.Writer.Exec(`UPDATE units_fts_data SET block = zeroblob(length(block)) WHERE id = (SELECT max(id) FROM units_fts_data)`).Error)
	f.ok(f.Store.Close())
	s, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
	f.ok(err)
	defer func() { f.ok(s.Close()) }()
	a := verify.NewAudit()
	if agrees, err := verify.CompareIndex(f.ctx, s.core, a); err != nil || agrees || len(a.Found) == 0 {
		t.Errorf("the index agrees: %v, %v, %v", agrees, a.Found, err)
	}
}

// TestAMissingTextIndexIsReported: an error of SQLite becomes a finding, for readers and writers, and hides no other
// finding.
func TestAMissingTextIndexIsReported(t *testing.T) {
	for _, sql := range []string{`DROP TABLE units_fts`, `DROP VIEW unit_texts`} {
		for _, readOnly := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, read-only %v", sql, readOnly), func(t *testing.T) {
				f := newFixture(t)
				names := f.names(seed(f))
				f.unguard()
				f.ok(f.core.DB.Writer.Exec(names.Replace(`UPDATE turns SET phase = 'Finished' WHERE id = '$T1'`)).Error)
				f.ok(f.core.DB.Writer.Exec(sql).Error)
				f.ok(f.Store.Close())
				s, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: readOnly})
				f.ok(err)
				defer func() { f.ok(s.Close()) }()
				found, err := s.Verify(f.ctx)
				f.ok(err)
				if !names.in(found, "turns", "$T1") || !slices.ContainsFunc(found, func(x chat.Finding) bool {
					return x.Table == "units_fts" || x.Table == "sqlite_schema" || x.Table == "units"
				}) {
					t.Errorf("not everything is named among %v", found)
				}
			})
		}
	}
}
