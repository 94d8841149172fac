package mcpclient

import "syscall"

// ownGroup puts a program into its own process group, and ends it if this program is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
