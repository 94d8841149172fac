package sqlite

import (
	"os"
	"sync"

	"contextinfinity/backend/chat"
)

// MinSize is the size, in bytes, below which a database that was opened is none any more:
// its header.
const MinSize = 512

// identity is the file that was opened. Who removes or replaces it while the program runs
// leaves SQLite writing into a file that nobody finds again; so each commit looks whether
// it is still in its place.
type identity struct {
	path string

	mu   sync.Mutex
	file os.FileInfo // nil: not known, and not checked
	lost error       // once it was another: no write is taken after that
}

// Take remembers the file that is there now.
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

// check reports that the database is not the file that was opened.
func (i *identity) check() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.look()
}

// loss reports only that the database is another file: after a commit, not being able to
// look does not make it undone.
func (i *identity) loss() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = i.look()
	return i.lost
}

func (i *identity) look() error {
	if i.file == nil || i.lost != nil {
		return i.lost
	}
	now, err := os.Stat(i.path)
	what := ""
	switch {
	case os.IsNotExist(err):
		what = "removed"
	case err != nil:
		return err
	case !os.SameFile(i.file, now):
		what = "replaced"
	case now.Size() < MinSize:
		what = "truncated"
	default:
		return nil
	}
	i.lost = chat.Errorf(chat.CodeCorrupt, "store.commit", "The database file %s was %s while the program was running. This change was not saved, and no further ones will be. Earlier changes are in the original file.",
		i.path, what).WithHint("export what you need now, close the program, and bring the file back or restore a backup")
	return i.lost
}
