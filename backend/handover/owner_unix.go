//go:build unix

package handover

import (
	"os"
	"syscall"
)

// ours reports whether a file belongs to this user.
func ours(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
