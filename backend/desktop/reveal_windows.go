package desktop

import (
	"os"
	"os/exec"
	"syscall"

	"contextinfinity/backend/internal/childenv"
)

// showInFileManager passes Explorer an unquoted command line: with standard quoting it opens the wrong folder. A file
// name on Windows contains no quote.
func showInFileManager(path string) error {
	cmd := exec.Command("explorer.exe")
	cmd.Env = childenv.Desktop(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `explorer.exe /select,"` + path + `"`}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
