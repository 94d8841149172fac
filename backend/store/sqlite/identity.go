package sqlite

import (
	"os"
	"sync"

	"contextinfinity/backend/chat"
)

// MinSize is the smallest possible size of a database in bytes: its header.
const MinSize = 512

// identity is the file that was opened. If somebody deletes or replaces it while the program runs, SQLite keeps
// writing to a file that can no longer be found; each commit therefore checks that it is still in place.
type identity struct {
	path string

	mu   sync.Mutex
	file os.FileInfo // nil: unknown, not checked
	lost error       // once the file was replaced: no later write is accepted
}

// Take records the file that exists now.
func (i *identity) Take(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.path, i.file = path, info
	return nil
}

// check returns an error if the database is no longer the file that was opened.
func (i *identity) check() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.checkFile()
}

// loss returns an error only if the file was replaced: after a commit, a check that fails does not undo it.
func (i *identity) loss() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = i.checkFile()
	return i.lost
}

func (i *identity) checkFile() error {
	if i.file == nil || i.lost != nil {
		return i.lost
	}
	current, err := os.Stat(i.path)
	change := ""
	switch {
	case os.IsNotExist(err):
		change = "removed"
	case err != nil:
		return err
	case !os.SameFile(i.file, current):
		change = "replaced"
	case current.Size() < MinSize:
		change = "truncated"
	default:
		return nil
	}
	i.lost = chat.Errorf(chat.CodeCorrupt, "store.commit", "The database file %s was %s while the program was running. This change was not saved, and no further ones will be. Earlier changes are in the original file.",
		i.path, change).WithHint("export what you need now, close the program, and bring the file back or restore a backup")
	return i.lost
}
