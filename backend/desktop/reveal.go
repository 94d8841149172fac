package desktop

import (
	"os"
	"os/exec"
	"path/filepath"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/childenv"
)

// Reveal shows a file or folder in the system's file manager, selected if the system supports that.
//
// Errors: CodeNotFound (deleted), CodeUnavailable (no file manager responds).
func Reveal(path string) error {
	const op = "desktop.reveal"
	full, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Lstat(full)
	}
	if err != nil {
		return chat.WrapError(chat.CodeNotFound, op, err, "This no longer exists: %s", path)
	}
	if err := showInFileManager(full); err != nil {
		return chat.WrapError(chat.CodeUnavailable, op, err, "The file manager could not be opened.").WithHint("the file is at %s", full)
	}
	return nil
}

// launch starts a program that outlives this one.
func launch(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = childenv.Desktop(os.Environ())
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // reaps the process
	return nil
}
