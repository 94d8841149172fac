package faultfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes f's bytes durable. fdatasync includes the file's size, but not its modification time, which is not
// needed here; that saves a metadata write per call.
func syncData(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var syncErr error
	err = conn.Control(func(fd uintptr) {
		for {
			if syncErr = unix.Fdatasync(int(fd)); syncErr != unix.EINTR {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	if syncErr != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: syncErr}
	}
	return nil
}
