// Package autostart makes the system start the program when the user signs in: through an entry in the desktop's
// autostart folder (freedesktop), a LaunchAgent (macOS) or a value of the Run key (Windows).
//
// Guarantee: the state is read from the system each time and never cached, so an entry that the user disables or
// deletes in the system's settings is reported correctly. Removing the entry leaves nothing behind. No other entry is
// touched.
package autostart

import (
	"os"
	"path/filepath"
	"runtime"

	"contextinfinity/backend/chat"
)

// Name is the entry's name in the system's settings.
const Name = "ContextInfinity"

// State is the state of the entry in the system.
type State struct {
	// On: the system starts a program under this entry at the next sign-in.
	On bool
	// Other is the path of the program that the entry starts, if it is not this one; otherwise empty.
	Other string
	// Place is where the entry is stored, for display.
	Place string
}

// Entry is an autostart entry for this program.
type Entry struct {
	Program string   // absolute path
	Args    []string // command line arguments
	place   place
}

// place is where a system stores its autostart entries.
type place interface {
	// command returns the command that is started; nil if there is no entry or the user disabled it in the system's
	// settings.
	command() ([]string, error)
	write(command []string) error
	remove() error
	String() string
}

// New returns an entry that starts this program with args.
//
// Errors: CodeUnavailable if the program has no path that will still exist at the next sign-in, or if the system has
// no autostart.
func New(args ...string) (*Entry, error) {
	const op = "autostart.new"
	if _, err := os.Stat("/.flatpak-info"); runtime.GOOS == "linux" && err == nil {
		return nil, chat.Errorf(chat.CodeUnavailable, op, "The program runs in a sandbox, which cannot see what the desktop starts.").WithHint("use the desktop's own settings for startup applications")
	}
	program, err := ownPath()
	if err != nil {
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "The path of this program cannot be determined.").WithHint("use the desktop's own settings for startup applications")
	}
	p, err := systemPlace()
	if err != nil {
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "This system does not support programs that start at sign-in.")
	}
	return &Entry{Program: program, Args: args, place: p}, nil
}

// ownPath returns the path of the program. An AppImage runs from a temporary mount, so the path of the image itself
// is used.
func ownPath() (string, error) {
	if image := os.Getenv("APPIMAGE"); filepath.IsAbs(image) {
		return image, nil
	}
	return os.Executable()
}

// State reads the entry from the system.
func (e *Entry) State() (State, error) {
	s := State{Place: e.place.String()}
	command, err := e.place.command()
	if err != nil {
		return s, chat.WrapError(chat.CodeUnavailable, "autostart.state", err, "The programs that start at sign-in could not be read: %s.", err)
	}
	if len(command) > 0 {
		s.On = true
		if command[0] != e.Program {
			s.Other = command[0]
		}
	}
	return s, nil
}

// Set writes or removes the entry. An entry that starts another copy of the program is replaced.
func (e *Entry) Set(on bool) error {
	var err error
	if on {
		err = e.place.write(append([]string{e.Program}, e.Args...))
	} else {
		err = e.place.remove()
	}
	if err != nil {
		return chat.WrapError(chat.CodeUnavailable, "autostart.set", err, "The programs that start at sign-in could not be changed: %s.", err).WithHint("the entry is stored in %s", e.place.String())
	}
	return nil
}
