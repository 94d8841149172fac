package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/internal/faultfs"
)

// createBeside makes an empty file of the owner's alone in a path's directory.
func createBeside(path string) (string, error) {
	f, err := faultfs.CreateTemp(faultfs.Backup, filepath.Dir(path), "."+filepath.Base(path)+TempMark+"*")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// TempMark is in the name of a file that is not whole yet.
const TempMark = ".tmp-"

func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".contextinfinity-") && strings.Contains(name, TempMark)
}

// nameNew gives a file a name that none has: it is taken first, so that a file
// that came there this moment is not replaced.
func nameNew(from, to string) error {
	f, err := faultfs.OpenFile(faultfs.Backup, to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		if err = f.Close(); err == nil {
			err = faultfs.Rename(faultfs.Backup, from, to)
		}
		if err != nil {
			_ = faultfs.Remove(faultfs.Backup, to)
		}
	}
	return err
}

// syncFile makes a file's content durable.
func syncFile(path string) error {
	f, err := faultfs.OpenFile(faultfs.Backup, path, os.O_RDWR, 0) // Windows flushes what may be written alone
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// writeFile writes a new file, durably.
func writeFile(path string, data []byte) error {
	out, err := faultfs.OpenFile(faultfs.Backup, path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Sync(), out.Close())
}

func syncDir(dir string) error { return faultfs.SyncDir(faultfs.Backup, dir) }
