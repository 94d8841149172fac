package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// schemaObject is a table, an index, a trigger or a view as SQLite stores it.
type schemaObject struct{ Type, Name, TblName, SQL string }

// schemaOf returns the objects of a database by name, without the statistics that SQLite may add.
func schemaOf(db *gorm.DB) (map[string]schemaObject, error) {
	rows, err := sqlite.All[schemaObject](db, `SELECT type, name, tbl_name, coalesce(sql, '') AS sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'`)
	out := make(map[string]schemaObject, len(rows))
	for _, r := range rows {
		out[r.Name] = r
	}
	return out, err
}

// fresh is the schema of a new database, created once; a failure, such as a full disk, is not cached.
var fresh struct {
	sync.Mutex
	schema map[string]schemaObject
}

func freshSchema() (_ map[string]schemaObject, err error) {
	fresh.Lock()
	defer fresh.Unlock()
	if fresh.schema == nil {
		fresh.schema, err = makeSchema()
	}
	return fresh.schema, err
}

func makeSchema() (map[string]schemaObject, error) {
	folder, err := atrest.MakeCopy(os.TempDir(), atrest.ReadingPrefix, os.DevNull)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Remove() }()
	s, err := core.OpenScratch(context.Background(), filepath.Join(folder.Path, "fresh"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.DB.Close() }()
	return schemaOf(s.DB.Reader)
}

// schema compares the tables, indexes and triggers with those of a new database: a flipped bit in one may hide rows,
// or accept wrong ones. If no new database can be created, such as on a full disk, the comparison is skipped.
func (a *Audit) schema() {
	want, err := freshSchema()
	if err != nil {
		return
	}
	have, err := schemaOf(a.DB)
	if err != nil {
		a.add(FindIntegrity, "sqlite_schema", "", "It cannot be read: %v.", err)
		return
	}
	for name, w := range want {
		if h, ok := have[name]; !ok || h != w {
			a.add(FindIntegrity, "sqlite_schema", name, "%s", differs(w, ok))
		}
	}
	for name, h := range have {
		if _, ok := want[name]; !ok && h.TblName != schema.InfoTable && h.TblName != schema.FilesTable {
			a.add(FindIntegrity, "sqlite_schema", name, "This %s does not belong to the schema.", h.Type)
		}
	}
}

func differs(w schemaObject, exists bool) string {
	if !exists {
		return fmt.Sprintf("The %s is missing.", w.Type)
	}
	return fmt.Sprintf("The %s is not the one that this program creates.", w.Type)
}
