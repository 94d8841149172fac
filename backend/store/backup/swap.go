package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// The swap file of a restore. Once it is on disk the restore is decided, and the next holder of the writer's lock
// completes it; before that, nothing has happened.
//
// The order matters. The old database is moved away before its log, so that no database ever lies beside a log of
// another one, which would ruin it. The new database gets its name last, when no old log is left. Each step is
// durable before the next and can be repeated.

const (
	SwapFile      = "restore.json"
	StagingPrefix = atrest.RestoringPrefix
)

// Swap is the content of the swap file; paths are relative to the data directory.
type Swap struct {
	Staging string `json:"staging"`
	Aside   string `json:"aside"`
	Keep    bool   `json:"keep"` // the old files, because they have no backup
	// Discard: the old files are removed, with their journals. Lock is what happens to LockFile: LockSet installs the
	// staged one, LockRemove removes it.
	Discard bool   `json:"discard,omitempty"`
	Lock    string `json:"lock,omitempty"`
}

// Values of Swap.Lock.
const (
	LockSet    = "set"
	LockRemove = "remove"
)

func WriteSwap(dir string, w Swap) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, SwapFile), text, 0o600)
}

// RefuseHalfRestored refuses data with a restore that was decided but not completed. It is for callers that cannot
// complete it.
func RefuseHalfRestored(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, SwapFile)); err != nil {
		return nil
	}
	return chat.Errorf(chat.CodeConflict, "store.open", "A restore of this data was interrupted. Nothing is lost: it is completed when the data is next opened for writing.").
		WithHint("open the window once, or run contextinfinity reconcile")
}

// FinishRestore completes a decided restore, and removes what undecided ones and other dead processes left. The caller
// holds the writer's lock.
func (a *Archive) FinishRestore() (config string, err error) {
	text, err := os.ReadFile(filepath.Join(a.dir, SwapFile))
	if errors.Is(err, fs.ErrNotExist) {
		a.sweep()
		return "", nil
	}
	var w Swap
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	if err == nil && (!filepath.IsLocal(w.Staging) || !filepath.IsLocal(w.Aside) || !strings.HasPrefix(w.Staging, StagingPrefix)) {
		err = errors.New("it names other folders")
	}
	if err != nil {
		return "", chat.WrapError(chat.CodeCorrupt, opRestore, err, "A restore was interrupted, and the file with its progress cannot be read. Nothing was changed.").
			WithHint("the prepared data is in the folder %s... beside it; %s must be removed by hand", StagingPrefix, SwapFile)
	}
	if config, err = a.carryOut(w); err != nil {
		return "", chat.WrapError(chat.CodeInternal, opRestore, err, "A restore could not be completed: %s. Nothing is lost: it is continued at the next start.", sqlite.Reason(err)).
			WithHint("close other programs that read the data, and check whether the disk is writable")
	}
	return config, nil
}

func (a *Archive) carryOut(w Swap) (config string, err error) {
	staging, aside := filepath.Join(a.dir, w.Staging), filepath.Join(a.dir, w.Aside)
	if _, err := os.Lstat(filepath.Join(staging, sqlite.DatabaseFile)); err == nil {
		if err := a.exchange(staging, aside); err != nil {
			return "", err
		}
	}
	a.At("installed")
	if w.Lock == LockRemove {
		if err := faultfs.Remove(faultfs.Backup, filepath.Join(a.dir, LockFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if config, err = a.putConfig(staging, aside); err != nil {
		return "", err
	}
	if !w.Keep {
		for _, name := range DatabaseFiles {
			if err := faultfs.Remove(faultfs.Backup, filepath.Join(aside, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	if w.Discard {
		if err := removeFolder(aside); err != nil {
			return "", err
		}
	}
	_ = faultfs.Remove(faultfs.Backup, aside) // works only if it is empty
	_ = faultfs.Remove(faultfs.Backup, filepath.Dir(aside))
	if err := os.RemoveAll(staging); err != nil {
		return "", err
	}
	a.At("cleared")
	if err := faultfs.Remove(faultfs.Backup, filepath.Join(a.dir, SwapFile)); err != nil {
		return "", err
	}
	return config, syncDir(a.dir)
}

// putConfig installs the backup's configuration if there is none, and returns its path. An existing configuration is
// the user's current choice and stays; the backup's is then quarantined, as it is if the configuration folder is
// not writable: that must not block access to the data.
func (a *Archive) putConfig(staging, aside string) (string, error) {
	text, err := os.ReadFile(filepath.Join(staging, schema.ConfigName))
	if errors.Is(err, fs.ErrNotExist) || a.ConfigFile == "" {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	have, err := os.ReadFile(a.ConfigFile)
	if err == nil && bytes.Equal(have, text) {
		return "", nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err := WriteConfig(a.ConfigFile, text); err == nil {
			return a.ConfigFile, nil
		}
	}
	to := filepath.Join(aside, schema.ConfigName)
	return to, WriteConfig(to, text)
}

func WriteConfig(path string, text []byte) error {
	if err := faultfs.MkdirAll(faultfs.Backup, filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}

// DatabaseFiles are the old database and its companion files, in the order in which they are moved away.
var DatabaseFiles = []string{sqlite.DatabaseFile, sqlite.DatabaseFile + "-wal", sqlite.DatabaseFile + "-shm", sqlite.DatabaseFile + "-journal"}

func (a *Archive) exchange(staging, aside string) error {
	if err := faultfs.MkdirAll(faultfs.Backup, aside, 0o700); err != nil {
		return err
	}
	if err := errors.Join(syncDir(filepath.Dir(aside)), syncDir(a.dir)); err != nil {
		return err
	}
	for _, name := range DatabaseFiles {
		if err := move(filepath.Join(a.dir, name), filepath.Join(aside, name)); err != nil {
			return err
		}
		a.At("away " + name)
	}
	// Journals are moved only once: afterwards the new ones are no longer staged.
	streams := filepath.Join(staging, sqlite.StreamDir)
	if _, err := os.Lstat(streams); err == nil {
		if err := a.setJournalsAside(filepath.Join(aside, sqlite.StreamDir)); err != nil {
			return err
		}
		a.At("journals away")
		if err := move(streams, filepath.Join(a.dir, sqlite.StreamDir)); err != nil {
			return err
		}
		a.At("journals there")
	}
	if err := move(filepath.Join(staging, LockFile), filepath.Join(a.dir, LockFile)); err != nil {
		return err
	}
	return move(filepath.Join(staging, sqlite.DatabaseFile), filepath.Join(a.dir, sqlite.DatabaseFile))
}

// setJournalsAside moves the old journals away, unless the folder is empty.
func (a *Archive) setJournalsAside(to string) error {
	from := filepath.Join(a.dir, sqlite.StreamDir)
	if err := faultfs.Remove(faultfs.Backup, from); err == nil || errors.Is(err, fs.ErrNotExist) {
		return syncDir(a.dir)
	}
	return move(from, to)
}

// move renames durably. A missing source was moved before.
func move(from, to string) error {
	if err := faultfs.Rename(faultfs.Backup, from, to); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return errors.Join(syncDir(filepath.Dir(to)), syncDir(filepath.Dir(from)))
}

// sweep removes what dead processes left in the data directory, with its copies, and in folders that a move was filling.
func (a *Archive) sweep() {
	atrest.Sweep(a.dir)
	for _, r := range atrest.Recall(a.dir) {
		if to := filepath.Dir(r.Copy); r.Copy != "" && filepath.Base(r.Copy) == sqlite.DatabaseFile && LeftByMove(to) {
			if err := clearMove(to, false); err != nil {
				a.log.Warn("a folder that an interrupted move was filling cannot be emptied", "dir", to, "err", err)
			}
		}
	}
}
