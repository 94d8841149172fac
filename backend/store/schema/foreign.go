package schema

import (
	"io/fs"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/store/sqlite"
)

// ForeignCode returns the triggers and views of a database that no migration creates, by their type and name: code that
// SQLite would run. SQLite keeps the text of each as it was written, so a changed one is foreign too.
func ForeignCode(db *gorm.DB, steps fs.FS) ([]string, error) {
	objects, err := sqlite.All[struct{ Type, Name, SQL string }](db,
		`SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name`)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	names, err := fs.Glob(steps, "*.sql")
	if err != nil {
		return nil, err
	}
	var scripts strings.Builder
	for _, name := range names {
		script, err := fs.ReadFile(steps, name)
		if err != nil {
			return nil, err
		}
		scripts.Write(script)
	}
	var out []string
	for _, o := range objects {
		if o.SQL == "" || !strings.Contains(scripts.String(), o.SQL) {
			out = append(out, o.Type+" "+o.Name)
		}
	}
	return out, nil
}
