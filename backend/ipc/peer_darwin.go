package ipc

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer returns an error if another user is at the other end.
func checkPeer(c net.Conn) error {
	return withSocket(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		if int(cred.Uid) != os.Getuid() {
			return fmt.Errorf("user %d is at the other end of the socket", cred.Uid)
		}
		return nil
	})
}
