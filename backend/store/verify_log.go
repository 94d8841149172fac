package store

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"contextinfinity/backend/chat"
)

// logTries is how often the log is read when a program writes it meanwhile.
const logTries = 5

// logDamage says what of the write-ahead log in a data directory is damaged, and of which
// file that is said; empty: nothing is. It changes nothing.
func logDamage(dir string) (file, damage string, err error) {
	for range logTries {
		to, err := readConfirmed(dir)
		if err != nil {
			return confirmedFile, "The mark of the confirmed end of the write-ahead log cannot be read: " + err.Error() +
				". The conversations are not in it; the next change writes it anew.", nil
		}
		if to.Frame == 0 {
			return "", "", nil
		}
		f, err := os.Open(filepath.Join(dir, DatabaseFile+"-wal"))
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", nil
		}
		if err != nil {
			return "", "", err
		}
		damage, err = damageTo(bufio.NewReaderSize(f, 1<<16), to)
		_ = f.Close()
		if err != nil || damage == "" {
			return "", "", err
		}
		if again, err := readConfirmed(dir); err == nil && again == to {
			break
		}
	}
	return DatabaseFile + "-wal", damage, nil
}

// logs checks the write-ahead log up to the last change that was confirmed.
func (a *audit) logs(dir string) {
	file, damage, err := logDamage(dir)
	switch {
	case err != nil:
		a.add(findLog, "", DatabaseFile+"-wal", "The write-ahead log cannot be read: %s.", reason(err))
	case damage != "":
		a.add(findLog, "", file, "%s", damage)
	}
}

// refuseDamagedLog refuses to write where confirmed changes in the write-ahead log cannot be
// read: SQLite would drop them in silence, and write over them.
func refuseDamagedLog(dir string) error {
	file, damage, err := logDamage(dir)
	if err != nil || damage == "" || file == confirmedFile {
		return mapError("store.open", err)
	}
	return chat.Errorf(chat.CodeCorrupt, "store.open", "The write-ahead log %s is damaged. %s. Nothing was written.", filepath.Join(dir, file), damage).
		WithHint("restore a backup (contextinfinity backups, contextinfinity restore), or go on without the changes that cannot be read with contextinfinity restore --drop-log, which keeps the damaged files in a folder")
}
