package maintenance

import (
	"context"
	"os"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/store/sqlite"
)

// LogBytes returns the size of the write-ahead log on disk.
func (s *Maintenance) LogBytes() int64 {
	info, err := os.Stat(s.Path() + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// CheckpointSome writes the part of the write-ahead log that no reader needs into the database file, without waiting,
// so that it delays a running turn only briefly. The log is then reused from its beginning; its file keeps its size.
func (s *Maintenance) CheckpointSome(ctx context.Context) error {
	const op = "store.checkpoint"
	if s.DB.Writer == nil {
		return chat.Errorf(chat.CodeLocked, op, "The data is open read-only.")
	}
	err := faults.Point("store.checkpoint_some")
	if err == nil {
		err = s.DB.Writer.WithContext(ctx).Exec(`PRAGMA wal_checkpoint(PASSIVE)`).Error
	}
	return sqlite.MapError(op, err)
}

// idleTimeout limits how long emptying the log waits for readers, in milliseconds.
const idleTimeout = 50

// CheckpointIdle writes the write-ahead log into the database file and empties it if there are no readers; otherwise
// it does what CheckpointSome does. A turn that begins meanwhile is delayed only that long.
func (s *Maintenance) CheckpointIdle(ctx context.Context) error {
	if err := s.CheckpointSome(ctx); err != nil {
		return err
	}
	err := s.DB.Writer.WithContext(ctx).Connection(func(db *gorm.DB) error {
		var timeout int
		if err := db.Raw(`PRAGMA busy_timeout`).Scan(&timeout).Error; err != nil {
			return err
		}
		defer db.WithContext(context.WithoutCancel(ctx)).Exec(`PRAGMA busy_timeout = ` + sqlite.Itoa(int64(timeout)))
		if err := db.Exec(`PRAGMA busy_timeout = ` + sqlite.Itoa(idleTimeout)).Error; err != nil {
			return err
		}
		return db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`).Error
	})
	return sqlite.MapError("store.checkpoint", err)
}

// Changes counts the rows that this program has written since opening: while it is unchanged, there is nothing new to
// maintain.
func (s *Maintenance) Changes(ctx context.Context) (int64, error) {
	const op = "store.changes"
	if s.DB.Writer == nil {
		return 0, chat.Errorf(chat.CodeLocked, op, "The data is open read-only.")
	}
	var n int64
	err := sqlite.MapError(op, s.DB.Writer.WithContext(ctx).Raw(`SELECT total_changes()`).Scan(&n).Error)
	return n, err
}
