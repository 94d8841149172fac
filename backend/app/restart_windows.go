package app

import (
	"os"
	"os/exec"
	"syscall"

	"contextinfinity/backend/secrets"
)

// detachedProcess keeps the new program from ending with the console of this one.
const detachedProcess = 0x00000008

// restart starts the program again beside this one, which is about to end and has
// closed everything.
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
