//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// FreeSpace returns how many bytes this user may still write in a directory.
func FreeSpace(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(uint64(st.Bavail) * uint64(st.Bsize)), nil //nolint:unconvert // the types differ between systems
}
