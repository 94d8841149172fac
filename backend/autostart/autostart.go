// Package autostart has the system start the program when its user signs in: by an entry of the desktop's autostart folder
// (freedesktop), a LaunchAgent (macOS) or a value of the Run key (Windows).
//
// Guarantee: the state is read from the system each time, never from memory of our own: who turns the entry off in the
// system's settings, or deletes it, sees that here. What is written is removed whole. No other entry is touched.
package autostart

import (
	"os"
	"path/filepath"
	"runtime"

	"contextinfinity/backend/chat"
)

// Name is what the entry is called where a system shows it.
const Name = "ContextInfinity"

// State is what the system holds.
type State struct {
	// On: the system starts a program of this name at the next sign-in.
	On bool
	// Other is the path of the program that is started, where it is not this one; empty: it is.
	Other string
	// Place is where the entry is kept, for people.
	Place string
}

// Entry is the program that is started.
type Entry struct {
	Program string   // its path, absolute
	Args    []string // what it is started with
	place   place
}

// place is where a system keeps what it starts.
type place interface {
	// command is what is started; nil: nothing, or it was turned off by the system's own means.
	command() ([]string, error)
	write(command []string) error
	remove() error
	String() string
}

// New is an entry that starts this program with args.
//
// Errors: CodeUnavailable where the program has no path that will be there at the next sign-in, or the system no place for it.
func New(args ...string) (*Entry, error) {
	const op = "autostart.new"
	if _, err := os.Stat("/.flatpak-info"); runtime.GOOS == "linux" && err == nil {
		return nil, chat.Errorf(chat.CodeUnavailable, op, "The program runs in a sandbox, which cannot see what the desktop starts.").WithHint("use the desktop's own settings for startup applications")
	}
	program, err := ownPath()
	if err != nil {
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "The program does not know its own path.").WithHint("use the desktop's own settings for startup applications")
	}
	p, err := systemPlace()
	if err != nil {
		return nil, chat.WrapError(chat.CodeUnavailable, op, err, "This system offers no place for programs that start at sign-in.")
	}
	return &Entry{Program: program, Args: args, place: p}, nil
}

// ownPath is where the program will be found again. An AppImage runs from a place that goes with it.
func ownPath() (string, error) {
	if image := os.Getenv("APPIMAGE"); filepath.IsAbs(image) {
		return image, nil
	}
	return os.Executable()
}

// State asks the system.
func (e *Entry) State() (State, error) {
	s := State{Place: e.place.String()}
	command, err := e.place.command()
	if err != nil {
		return s, chat.WrapError(chat.CodeUnavailable, "autostart.state", err, "What the system starts at sign-in could not be read: "+err.Error()+".")
	}
	if len(command) > 0 {
		s.On = true
		if command[0] != e.Program {
			s.Other = command[0]
		}
	}
	return s, nil
}

// Set writes or removes the entry. One that starts another copy of the program is replaced by this one's.
func (e *Entry) Set(on bool) error {
	var err error
	if on {
		err = e.place.write(append([]string{e.Program}, e.Args...))
	} else {
		err = e.place.remove()
	}
	if err != nil {
		return chat.WrapError(chat.CodeUnavailable, "autostart.set", err, "What the system starts at sign-in could not be changed: "+err.Error()+".").WithHint("it is kept in %s", e.place.String())
	}
	return nil
}
