package sqlite

import (
	"errors"

	gosqlite "github.com/glebarez/go-sqlite"
	"gorm.io/gorm"
)

// ReadBackPragmas are those of connections that only look.
var ReadBackPragmas = append([]string{"query_only(1)"}, CommonPragmas...)

// Constrained reports that a rule of the schema forbade a record.
func Constrained(err error) bool {
	var e *gosqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqliteConstraint
}

// sqliteConstraint is SQLite's primary result code for that.
const sqliteConstraint = 19

// Stream runs do on each row of a query.
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
