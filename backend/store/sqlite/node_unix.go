//go:build unix

package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Node identifies a folder on this machine, whatever its name is; empty: it cannot be read.
func Node(dir string) string {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
}
