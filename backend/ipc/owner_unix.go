//go:build unix

package ipc

import (
	"os"
	"syscall"
)

// ownedByUser reports whether a file belongs to this user.
func ownedByUser(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
