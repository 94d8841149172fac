package app

import (
	"os"
	"os/exec"
	"syscall"
)

// detachedProcess is DETACHED_PROCESS of the Windows API: the new process does not inherit this one's console, so it
// keeps running when that console is closed.
const detachedProcess = 0x00000008

// restart starts a new instance of the program, with the same arguments and environment. The caller has closed
// everything and is about to exit.
func restart(h handover) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	in, env, err := h.pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	cmd := exec.Command(path, os.Args[1:]...) // #nosec G204 -- the program itself
	cmd.Stdin, cmd.Env = in, env
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
	return cmd.Start()
}
