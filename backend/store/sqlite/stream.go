package sqlite

import (
	"errors"

	gosqlite "github.com/glebarez/go-sqlite"
	"gorm.io/gorm"
)

// ReadBackPragmas are for connections that only check a database.
var ReadBackPragmas = append([]string{"query_only(1)"}, CommonPragmas...)

// Constrained reports whether a schema constraint refused a record.
func Constrained(err error) bool {
	var e *gosqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqliteConstraint
}

// sqliteConstraint is SQLite's primary result code for a violated constraint.
const sqliteConstraint = 19

// Stream calls do with each row of a query.
func Stream[R any](db *gorm.DB, do func(R), query string, args ...any) error {
	rows, err := db.Raw(query, args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r R
		if err := db.ScanRows(rows, &r); err != nil {
			return err
		}
		do(r)
	}
	return rows.Err()
}
