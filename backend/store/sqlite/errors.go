package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	gosqlite "github.com/glebarez/go-sqlite"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
)

// The primary result codes of SQLite with their own message.
const (
	sqliteError     = 1
	sqliteBusy      = 5
	sqliteReadOnly  = 8
	sqliteInterrupt = 9
	ResultIOErr     = 10
	ResultCorrupt   = 11
	sqliteFull      = 13
	sqliteCantOpen  = 14
	ResultNotADB    = 26
)

// MapError gives err a code, a message and the operation. A chat.Error keeps its own, and gets the operation if it
// has none.
func MapError(op string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*chat.Error](err); ok {
		if known.Op == "" {
			known.Op = op
		}
		return known
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return chat.WrapError(chat.CodeTimeout, op, err, "The operation took too long and was undone.")
	case errors.Is(err, context.Canceled):
		return chat.WrapError(chat.CodeCancelled, op, err, "The operation was cancelled and undone.")
	case faultfs.Full(err):
		return noSpace(op, err)
	case errors.Is(err, syscall.EROFS):
		return chat.WrapError(chat.CodeConfig, op, err, "The disk is read-only; nothing was changed.").
			WithHint("make it writable, or choose another folder with --data-dir; existing data can be read, exported and backed up elsewhere")
	case errors.Is(err, syscall.EIO):
		return broken(op, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return chat.WrapError(chat.CodeConfig, op, err, "The data directory cannot be used: %s.", pathReason(err)).
			WithHint("check that it exists and belongs to you, or choose another with --data-dir")
	}
	return mapSQLite(op, err)
}

// endedBy returns the error of a read whose context may have ended: SQLite reports an interrupt within a virtual
// table's constructor as a generic error, and database/sql rolls back as soon as the context ends, so that the next
// statement finds no transaction.
func endedBy(ctx context.Context, err error) error {
	var e *gosqlite.Error
	if ctx.Err() != nil && (errors.Is(err, sql.ErrTxDone) || errors.As(err, &e) && e.Code()&0xff == sqliteError) {
		return ctx.Err()
	}
	return err
}

func mapSQLite(op string, err error) error {
	var e *gosqlite.Error
	if !errors.As(err, &e) {
		return chat.WrapError(chat.CodeInternal, op, err, "The database refused the operation; nothing was changed.")
	}
	switch e.Code() & 0xff {
	case sqliteFull:
		return noSpace(op, err)
	case ResultCorrupt, ResultNotADB:
		return chat.WrapError(chat.CodeCorrupt, op, err, "A part of the database cannot be read.").
			WithHint("nothing was overwritten; run verify to see which records; a backup may contain them")
	case sqliteBusy:
		return chat.WrapError(chat.CodeLocked, op, err, "Another program has the database open; nothing was changed.").
			WithHint("close it and try again")
	case sqliteInterrupt:
		return chat.WrapError(chat.CodeCancelled, op, err, "The operation was cancelled and undone.")
	case sqliteReadOnly, sqliteCantOpen:
		return chat.WrapError(chat.CodeConfig, op, err, "The database's files cannot be opened or written; nothing was changed.").
			WithHint("check the permissions of the data directory, and its disk")
	case ResultIOErr:
		return broken(op, err)
	}
	return chat.WrapError(chat.CodeInternal, op, err, "The database refused the operation; nothing was changed.")
}

func noSpace(op string, err error) error {
	return chat.WrapError(chat.CodeNoSpace, op, err, "The disk is full; the change was undone and everything before it is safe.").
		WithHint("free some space and try again")
}

func broken(op string, err error) error {
	return chat.WrapError(chat.CodeInternal, op, err, "The disk reported an error; the change was undone.").
		WithHint("check the disk and its free space")
}

// pathReason returns the cause of a file error without its system prefix.
func pathReason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Path + ": " + p.Err.Error()
	}
	return err.Error()
}

// Conflict refuses an operation because of other stored data.
func Conflict(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeConflict, "", format, args...)
}

// Invalid refuses an invalid request.
func Invalid(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeInvalid, "", format, args...)
}

// CorruptRecord returns the error for an unreadable record.
func CorruptRecord(table, id string, err error) *chat.Error {
	e := chat.Errorf(chat.CodeCorrupt, "", "The record %s %s cannot be read.", table, id).
		WithHint("everything else is intact; a backup may contain it")
	e.Err = err
	return e
}
