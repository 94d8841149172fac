//go:build linux || darwin

package ipc

import (
	"errors"
	"net"
)

// withSocket calls f with the file descriptor of a connection.
func withSocket(c net.Conn, f func(fd int) error) error {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("the connection is not a Unix domain socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	if err := raw.Control(func(fd uintptr) { result = f(int(fd)) }); err != nil {
		return err
	}
	return result
}
