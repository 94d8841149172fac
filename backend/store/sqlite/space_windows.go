package sqlite

import "golang.org/x/sys/windows"

// FreeSpace returns how many bytes this user may still write in a directory.
func FreeSpace(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return int64(free), err
}
