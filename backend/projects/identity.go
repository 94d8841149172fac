package projects

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errReplaced means that a folder is not the one that was chosen.
var errReplaced = errors.New("it was replaced by another folder or a link since it was chosen; choose it again if you want that one")

// open opens a folder and returns its identity: the path without links, and the number of the folder in its file system.
// The number of the file system itself is not part of it, because many systems assign another at each start. Nothing in
// the folder is read if it is not the chosen one; an empty identity accepts any.
func open(dir, chosen string) (root *os.Root, identity string, err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, "", err
	}
	if root, err = os.OpenRoot(real); err != nil {
		return nil, "", err
	}
	number, err := numberOf(root)
	identity = fmt.Sprintf("%d %s", number, real)
	if err == nil && chosen != "" && identity != chosen {
		err = errReplaced
	}
	if err != nil {
		return nil, "", errors.Join(err, root.Close())
	}
	return root, identity, nil
}
