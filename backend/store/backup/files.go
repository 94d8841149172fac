package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/internal/faultfs"
)

// createEmpty creates an empty file, readable by its owner only.
func createEmpty(path string) error {
	f, err := faultfs.OpenFile(faultfs.Backup, path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// nameNew renames a file to an unused name. It reserves the name first, so that it never replaces a file created in
// the meantime.
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
	f, err := faultfs.OpenFile(faultfs.Backup, path, os.O_RDWR, 0) // Windows can only flush a file that is open for writing
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

// removeFolder removes a folder, or a file, with all that is in it, so that a loss of power does not bring it back.
func removeFolder(path string) error {
	var all []string
	err := filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) { // it was removed, perhaps not durably
		all, err = nil, nil
	}
	for _, path := range slices.Backward(all) { // what is in a folder before the folder
		if err == nil {
			err = faultfs.Remove(faultfs.Backup, path)
		}
	}
	if lost := syncDir(filepath.Dir(path)); !errors.Is(lost, fs.ErrNotExist) {
		err = errors.Join(err, lost)
	}
	return err
}

func syncDir(dir string) error { return faultfs.SyncDir(faultfs.Backup, dir) }
