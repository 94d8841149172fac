package sqlite

import (
	"bufio"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// A log is read again before it is reported as damaged: a program may be writing the mark, or restarting the log, at
// that moment.
const (
	logTries = 5
	logPause = 20 * time.Millisecond
)

// LogDamage says how the write-ahead log in a data directory is damaged, and in which file; empty: it is not. It
// changes nothing.
func LogDamage(dir string) (file, damage string, err error) {
	if err := Prepare(filepath.Join(dir, DatabaseFile)); err != nil { // its log would look damaged
		return "", "", err
	}
	for try := range logTries {
		if try > 0 {
			time.Sleep(logPause)
		}
		confirmed, err := ReadConfirmed(dir)
		if err != nil {
			file, damage = ConfirmedFile, "The marker of the confirmed end of the write-ahead log cannot be read: "+err.Error()+
				". The conversations are not in it; the next change rewrites it."
			continue
		}
		if confirmed.Frame == 0 {
			return "", "", nil
		}
		f, err := openLog(filepath.Join(dir, DatabaseFile+"-wal"))
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", nil
		}
		if err != nil {
			return "", "", err
		}
		found, err := DamageTo(bufio.NewReaderSize(f.sequential(), 1<<16), confirmed)
		_ = f.Close()
		if err != nil || found == "" {
			return "", "", err
		}
		file, damage = DatabaseFile+"-wal", found
	}
	return file, damage, nil
}

// DamagedLog says how the log is damaged. An unreadable mark counts as no damage.
func DamagedLog(dir string) (string, error) {
	file, damage, err := LogDamage(dir)
	if file == ConfirmedFile {
		return "", err
	}
	return damage, err
}
