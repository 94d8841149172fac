package app

import (
	"os"
	"os/exec"
	"syscall"

	"contextinfinity/backend/secrets"
)

// detachedProcess prevents the new program from ending with this one's console.
const detachedProcess = 0x00000008

// restart starts a new instance of the program; this one has closed everything and is about to end.
func restart() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(path, os.Args[1:]...) // #nosec G204 -- the program itself
	cmd.Env = secrets.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
	return cmd.Start()
}
