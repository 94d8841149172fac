//go:build unix

package projects

import (
	"errors"
	"os"
	"syscall"
)

// numberOf returns a folder's inode.
func numberOf(root *os.Root) (uint64, error) {
	info, err := root.Stat(".")
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.New("the system does not say which folder it is")
	}
	return stat.Ino, nil
}
