package store

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// A log is read again before it is called damaged: a program may write the mark, or begin
// the log again, at that moment.
const (
	logTries = 5
	logPause = 20 * time.Millisecond
)

// logDamage says what of the write-ahead log in a data directory is damaged, and of which
// file that is said; empty: nothing is. It changes nothing.
func logDamage(dir string) (file, damage string, err error) {
	for try := range logTries {
		if try > 0 {
			time.Sleep(logPause)
		}
		to, err := sqlite.ReadConfirmed(dir)
		if err != nil {
			file, damage = sqlite.ConfirmedFile, "The mark of the confirmed end of the write-ahead log cannot be read: "+err.Error()+
				". The conversations are not in it; the next change writes it anew."
			continue
		}
		if to.Frame == 0 {
			return "", "", nil
		}
		f, err := os.Open(filepath.Join(dir, sqlite.DatabaseFile+"-wal"))
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", nil
		}
		if err != nil {
			return "", "", err
		}
		found, err := sqlite.DamageTo(bufio.NewReaderSize(f, 1<<16), to)
		_ = f.Close()
		if err != nil || found == "" {
			return "", "", err
		}
		file, damage = sqlite.DatabaseFile+"-wal", found
	}
	return file, damage, nil
}

// damagedLog is what of the log is damaged. A mark that cannot be read says nothing of it.
func damagedLog(dir string) (string, error) {
	file, damage, err := logDamage(dir)
	if file == sqlite.ConfirmedFile {
		return "", err
	}
	return damage, err
}

// logs checks the write-ahead log up to the last change that was confirmed.
func (a *audit) logs(dir string) {
	file, damage, err := logDamage(dir)
	switch {
	case err != nil:
		a.add(findLog, "", sqlite.DatabaseFile+"-wal", "The write-ahead log cannot be read: %s.", reason(err))
	case damage != "":
		a.add(findLog, "", file, "%s", damage)
	}
}

// refuseDamagedLog refuses to write where confirmed changes in the write-ahead log cannot be
// read: SQLite would drop them in silence, and write over them.
func refuseDamagedLog(dir string) error {
	damage, err := damagedLog(dir)
	if err != nil || damage == "" {
		return sqlite.MapError("store.open", err)
	}
	return chat.Errorf(chat.CodeCorrupt, "store.open", "The newest changes cannot be read, because the database's write-ahead log %s is damaged. %s Nothing was written.",
		filepath.Join(dir, sqlite.DatabaseFile+"-wal"), damage).
		WithHint("restore a backup (contextinfinity backups, contextinfinity restore), or go on without these changes (contextinfinity restore --drop-log), which keeps the damaged files in a folder. If the folder was copied while the program ran, copy it again while it does not")
}

// LogNote says that the newest changes are missing from what is read, because the
// write-ahead log is damaged; empty: it is not.
func (a *Archive) LogNote() string {
	damage, err := damagedLog(a.dir)
	if err != nil || damage == "" {
		return ""
	}
	return fmt.Sprintf("The newest changes are missing here, because the database's write-ahead log %s is damaged. %s Everything before them is read as it was, and nothing was changed. "+
		"Restore a backup (contextinfinity backups, contextinfinity restore), or continue without these changes (contextinfinity restore --drop-log).",
		filepath.Join(a.dir, sqlite.DatabaseFile+"-wal"), damage)
}
