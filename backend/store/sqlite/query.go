package sqlite

import (
	"strconv"

	"contextinfinity/backend/chat"

	"gorm.io/gorm"
)

// One reads exactly one row, or returns an error that names what is missing.
func One[R any](db *gorm.DB, kind string, id any, query string, args ...any) (R, error) {
	var rows []R
	if err := db.Raw(query, args...).Scan(&rows).Error; err != nil {
		var zero R
		return zero, err
	}
	if len(rows) == 0 {
		var zero R
		return zero, chat.Errorf(chat.CodeNotFound, "", "There is no %s %v.", kind, id)
	}
	return rows[0], nil
}

// All reads every row of a query.
func All[R any](db *gorm.DB, query string, args ...any) ([]R, error) {
	var rows []R
	err := db.Raw(query, args...).Scan(&rows).Error
	return rows, err
}

// Itoa formats a number for a statement without parameters.
func Itoa(n int64) string { return strconv.FormatInt(n, 10) }
